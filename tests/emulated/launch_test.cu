// SPDX-License-Identifier: Apache-2.0
// What a kernel may have of shared memory, for all threads of the host.
#include "src/machines/cuda/launch.cuh"

#include <gtest/gtest.h>

#include <cstddef>

#include "raydex/session.hpp"

namespace raydex::test {
namespace {

__global__ void use_nothing() {}

// Another thread, with a smaller launch of the same kernel, may come between the two steps of one.
TEST(allow_shared_memory, never_takes_back_what_it_gave) {
  constexpr std::size_t large = std::size_t{200} << 10;
  constexpr std::size_t small = std::size_t{50} << 10;
  const session at(backend::cuda);
  const auto launch_with = [&](std::size_t bytes) {
    cuda::launch(context(at).stream, 1, 32, bytes, use_nothing);
  };
  EXPECT_THROW(launch_with(large), cuda_error);
  cuda::allow_shared_memory(use_nothing, large);
  cuda::allow_shared_memory(use_nothing, small);
  EXPECT_NO_THROW(launch_with(large));
  at.synchronize();
}

}  // namespace
}  // namespace raydex::test
