// SPDX-License-Identifier: Apache-2.0
// A view inside a user's own kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/launch.cuh"

namespace raydex::test {

struct answer {
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t sum;
};

// A kernel as a user may write it: each thread asks for a key and for a range.
template <class View>
__global__ void ask(View view, const std::int32_t* keys, unsigned size, answer* point,
                    answer* range) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const auto key = encode(keys[i]);
  point[i] = {view.find(key), view.count(key), 0};
  view.for_each(key, [&](std::uint32_t row) { point[i].sum += row; });
  const core::interval<std::uint32_t> wanted{encode(-keys[i]), key};
  range[i] = {0, view.count(wanted), 0};
  view.for_each(wanted, [&](std::uint32_t row) { range[i].sum += row; });
}

// Rows i and i + 100 hold key i - 50.
inline std::vector<std::int32_t> cells_to_ask() {
  std::vector<std::int32_t> cells;
  for (int i = 0; i < 200; ++i)
    cells.push_back(i % 100 - 50);
  return cells;
}

// Asks a view of a column of these cells.
template <class View>
void check_device_view(const session& at, const View& view, const buffer<std::int32_t>& keys) {
  const auto cells = at.download(keys);
  buffer<answer> point(at, 200);
  buffer<answer> range(at, 200);
  const context on = at;
  cuda::launch(on.stream, 7, 32, 0, ask<View>, view, keys.data(), 200u, point.data(), range.data());
  const auto points = at.download(point);
  const auto ranges = at.download(range);
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::uint32_t row = i % 100;
    ASSERT_EQ(points[i].first, row);
    ASSERT_EQ(points[i].count, 2);
    ASSERT_EQ(points[i].sum, 2 * row + 100);
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    for (std::uint32_t other = 0; other < 200; ++other) {
      if (cells[other] < -cells[i] || cells[other] > cells[i]) continue;
      ++count;
      sum += other;
    }
    ASSERT_EQ(ranges[i].count, count);
    ASSERT_EQ(ranges[i].sum, sum);
  }
}

}  // namespace raydex::test
