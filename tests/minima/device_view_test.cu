// SPDX-License-Identifier: Apache-2.0
// Views inside a user's own kernel.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/launch.cuh"
#include "tests/minima/oracle.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

// A kernel as a user may write it: thread i asks for all ranges that begin at i.
template <class View, class T>
__global__ void ask(View view, T* minima, std::uint64_t* positions) {
  const std::uint64_t lower = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t upper = lower; upper < view.size(); ++upper) {
    minima[lower * view.size() + upper] = view.minimum(lower, upper);
    positions[lower * view.size() + upper] = view.position(lower, upper);
  }
}

class rmq_device_view : public test::backend_test {
 protected:
  // Asks the view of a structure that `build(array)` builds.
  template <class T, class Build>
  void check(const Build& build) const {
    constexpr std::size_t size = 300;
    auto random = test::generator();
    std::vector<T> host(size + 1);
    for (T& value : host)
      value = static_cast<T>(test::below(random, 50)) - static_cast<T>(25);
    const auto array = at().upload(host);
    host.erase(host.begin());
    const auto built = build(column(format_of<T>, array.data() + 1, size));
    buffer<T> minima(at(), size * size);
    buffer<std::uint64_t> positions(at(), size * size);
    const auto view = built->template view<T>();
    const context on = at();
    cuda::launch(on.stream, 10, 32, 0, ask<std::remove_const_t<decltype(view)>, T>, view,
                 minima.data(), positions.data());
    const auto found_minima = at().download(minima);
    const auto found_positions = at().download(positions);
    const test::rmq_oracle<T> oracle(host, rmq_ties::leftmost);
    for (std::size_t lower = 0; lower < size; ++lower) {
      for (std::size_t upper = lower; upper < size; ++upper) {
        const std::uint64_t expected = *oracle.position(lower, upper);
        ASSERT_EQ(found_positions[lower * size + upper], expected);
        ASSERT_EQ(found_minima[lower * size + upper], host[expected]);
      }
    }
  }
};

TEST_F(rmq_device_view, cover) {
  const auto build = [&](const column& values) {
    return build_rmq_cover(backend::cuda, at(), values);
  };
  check<float>(build);
  check<std::uint32_t>(build);
  check<std::int64_t>(build);
}

TEST_F(rmq_device_view, hierarchy) {
  const auto build = [&](const column& values) {
    return build_rmq_hierarchy(backend::cuda, at(), values, {.chunk = 4});
  };
  check<float>(build);
  check<std::uint32_t>(build);
  check<std::int64_t>(build);
}

}  // namespace
}  // namespace raydex
