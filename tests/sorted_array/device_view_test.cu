// SPDX-License-Identifier: Apache-2.0
// The view inside a user's own kernel.
#include <gtest/gtest.h>

#include <vector>

#include "cuda/launch.cuh"
#include "raydex/raydex.hpp"
#include "support/tested_backend.hpp"

namespace raydex {
namespace {

struct answer {
  std::uint32_t first;
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

class sorted_array_device_view : public test::backend_test {
 protected:
  template <layout Layout>
  void check() const {
    // Rows i and i + 100 hold key i - 50.
    std::vector<std::int32_t> cells;
    for (int i = 0; i < 200; ++i)
      cells.push_back(i % 100 - 50);
    const buffer<std::int32_t> keys = at().upload(cells);
    const auto built =
        build_sorted_array(backend::cuda, at(), column(keys), {}, {.entries = Layout});
    buffer<answer> point(at(), 200);
    buffer<answer> range(at(), 200);
    const context where = at();
    const auto view = built->view<std::uint32_t, std::uint32_t, Layout>();
    cuda::launch(where.stream, 7, 32, 0, ask<decltype(view)>, view, keys.data(), 200u, point.data(),
                 range.data());
    const auto points = at().download(point);
    const auto ranges = at().download(range);
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
};

TEST_F(sorted_array_device_view, column_layout) {
  check<layout::column>();
}
TEST_F(sorted_array_device_view, row_layout) {
  check<layout::row>();
}

}  // namespace
}  // namespace raydex
