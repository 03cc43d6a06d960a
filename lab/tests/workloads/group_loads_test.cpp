// SPDX-License-Identifier: Apache-2.0
// Groups of threads load what they are said to.
#include "lab/machine/group_loads.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

TEST(group_loads, places) {
  group_loads loads{.threads = 64,
                    .steps = 8,
                    .array_bits = 10,
                    .group_bits = 3,
                    .reads = group_reads::neighbours};
  std::set<std::uint32_t> first;
  for (std::uint32_t thread = 0; thread < loads.threads; ++thread) {
    for (std::uint32_t step = 0; step < loads.steps; ++step) {
      const std::uint32_t begin = loads.place(thread / 8 * 8, step);
      EXPECT_EQ(loads.place(thread, step), (begin + thread % 8) % 1024);
      loads.reads = group_reads::one;
      EXPECT_EQ(loads.place(thread, step), begin);
      loads.reads = group_reads::neighbours;
      first.insert(begin);
    }
  }
  EXPECT_GT(first.size(), 50);  // of 64 random places
}

TEST(group_loads, of_a_whole_array) {
  const group_loads loads{.threads = 1,
                          .steps = 1,
                          .array_bits = 32,
                          .group_bits = 0,
                          .reads = group_reads::neighbours};
  EXPECT_EQ(loads.place(0, 0), mix(std::uint32_t{0}));
}

TEST(group_loads, sums) {
  const std::string reason = why_unavailable(backend::cuda);
  if (!reason.empty()) GTEST_SKIP() << reason;
  const session gpu(backend::cuda);
  for (const std::uint32_t array_bits : {0U, 1U, 5U, 12U}) {
    std::vector<std::uint32_t> values(std::size_t{1} << array_bits);
    std::iota(values.begin(), values.end(), 0x8000'0001U);
    const auto array = gpu.upload(values);
    for (const std::uint32_t group_bits : {0U, 1U, 4U, 5U, 6U, 9U}) {
      for (const std::uint32_t threads : {1U, 255U, 256U, 257U, 512U}) {
        for (const group_reads reads : {group_reads::neighbours, group_reads::one}) {
          const group_loads loads{.threads = threads,
                                  .steps = 5,
                                  .array_bits = array_bits,
                                  .group_bits = group_bits,
                                  .reads = reads};
          buffer<std::uint32_t> sums(gpu, threads);
          load_in_groups(gpu, loads, array.data(), sums.data());
          std::vector<std::uint32_t> found(threads);
          gpu.copy_out(found.data(), sums.data(), sums.bytes());
          for (std::uint32_t thread = 0; thread < threads; ++thread) {
            std::uint32_t sum = 0;
            for (std::uint32_t step = 0; step < loads.steps; ++step)
              sum += values[loads.place(thread, step)];
            EXPECT_EQ(found[thread], sum) << thread << " of groups of 2^" << group_bits;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace raydex::bench
