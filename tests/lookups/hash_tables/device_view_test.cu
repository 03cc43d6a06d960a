// SPDX-License-Identifier: Apache-2.0
// The view inside a user's own kernel.
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/launch.cuh"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

struct found {
  std::uint32_t first;
  std::uint64_t count;
  std::uint64_t sum;
};

template <class View>
__global__ void look_up(View view, const std::int32_t* keys, unsigned size, found* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const auto key = encode(keys[i]);
  out[i] = {view.find(key), view.count(key), 0};
  view.for_each(key, [&](std::uint32_t row) { out[i].sum += row; });
}

class hash_table_device_view : public test::backend_test {
 protected:
  // Keys from -50 on, each `often` times, and as many that are not there. `build` returns the table
  // of a column, `view` its view.
  template <class Build, class View>
  void check(int often, const Build& build, const View& view_of) const {
    std::vector<std::int32_t> cells;
    for (int i = 0; i < 100 * often; ++i)
      cells.push_back(i % 100 - 50);
    std::vector<std::int32_t> asked;
    for (int i = 0; i < 200; ++i)
      asked.push_back(i - 50);
    const auto keys = at().upload(cells);
    const auto probes = at().upload(asked);
    const auto built = build(column(keys));
    buffer<found> out(at(), 200);
    const auto view = view_of(*built);
    cuda::launch(context(at()).stream, 7, 32, 0, look_up<std::remove_const_t<decltype(view)>>, view,
                 probes.data(), 200U, out.data());
    const auto got = at().download(out);
    for (std::uint32_t i = 0; i < 200; ++i) {
      const bool is_there = i < 100;
      const auto count = static_cast<std::uint64_t>(is_there ? often : 0);
      ASSERT_EQ(got[i].first, is_there ? i : not_found<std::uint32_t>);
      ASSERT_EQ(got[i].count, count);
      ASSERT_EQ(got[i].sum, count * i + 100 * (count * (count - 1) / 2 * (is_there ? 1 : 0)));
    }
  }

  template <unsigned Bytes>
  void check_open(int often) const {
    check(
        often,
        [&](const column& keys) {
          return build_hash_open(backend::cuda, at(), keys, {}, {.bucket = Bytes});
        },
        [](const hash_open& built) { return built.view<std::uint32_t, std::uint32_t, Bytes>(); });
  }
  void check_bucket(int often) const {
    check(
        often, [&](const column& keys) { return build_hash_bucket(backend::cuda, at(), keys); },
        [](const hash_bucket& built) { return built.view<std::uint32_t, std::uint32_t>(); });
  }
};

TEST_F(hash_table_device_view, of_hash_open) {
  check_open<64>(1);
  check_open<128>(1);
  check_open<64>(3);
}
TEST_F(hash_table_device_view, of_hash_bucket) {
  check_bucket(1);
  check_bucket(3);
}

}  // namespace
}  // namespace raydex
