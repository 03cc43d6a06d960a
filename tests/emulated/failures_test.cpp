// SPDX-License-Identifier: Apache-2.0
// When CUDA itself fails: the error says what happened, nothing leaks, and the index is as it was.
// A real device fails too seldom; the emulated one fails at will.
#include <gtest/gtest.h>

#include <vector>

#include "emulation/control.hpp"
#include "raydex/raydex.hpp"

namespace raydex {
namespace {

class failures : public testing::Test {
 protected:
  void TearDown() override {
    emulation::clear_failures();
    emulation::set_device_memory(std::size_t{1} << 30);
  }
  std::unique_ptr<sorted_array> build() const { return build_on(at_); }
  std::unique_ptr<sorted_array> build_on(const session& at) const {
    return build_sorted_array(backend::cuda, at, column(keys_));
  }

  const std::size_t handles_ = emulation::live_handles();
  const session at_{backend::cuda};
  const buffer<std::uint32_t> keys_ = at_.upload(std::vector<std::uint32_t>(10'000, 5));
};

TEST_F(failures, exhausted_device_memory_is_reported_with_bytes_asked_and_free) {
  const std::size_t before = emulation::live_allocations();
  {
    const session own(backend::cuda);
    emulation::set_device_memory(emulation::device_memory_in_use() + 50'000);
    try {
      build_on(own);
      FAIL() << "built without memory";
    } catch (const out_of_memory& e) {
      EXPECT_GE(e.asked(), 40'000);
      EXPECT_LE(e.free(), 50'000);
    }
  }
  EXPECT_EQ(emulation::live_allocations(), before);
}

TEST_F(failures, every_allocation_of_a_build_may_fail) {
  const std::size_t before = emulation::live_allocations();
  bool failed = true;
  for (std::size_t successes = 0; failed; ++successes) {
    ASSERT_LT(successes, 100);
    {
      const session own(backend::cuda);  // which has kept no memory from the time before
      emulation::fail_allocation_after(successes);
      try {
        build_on(own);
        failed = false;
      } catch (const out_of_memory&) {
      }
      emulation::clear_failures();
    }
    ASSERT_EQ(emulation::live_allocations(), before);
  }
}

TEST_F(failures, a_failed_launch_is_reported_and_leaves_the_index_as_it_was) {
  const auto built = build();
  buffer<std::uint64_t> counts(at_, keys_.size());
  const std::span out(counts.data(), counts.size());
  emulation::fail_next_launch(cudaErrorLaunchFailure);
  try {
    built->count(at_, points(column(keys_)), out);
    FAIL() << "counted without a launch";
  } catch (const cuda_error& e) {
    EXPECT_EQ(e.code(), static_cast<int>(cudaErrorLaunchFailure));
  }
  built->count(at_, points(column(keys_)), out);
  EXPECT_EQ(at_.download(counts), std::vector<std::uint64_t>(10'000, 10'000));
}

TEST_F(failures, a_launch_without_memory_is_a_shortage_of_memory) {
  const auto built = build();
  buffer<std::uint64_t> counts(at_, keys_.size());
  emulation::fail_next_launch(cudaErrorMemoryAllocation);
  EXPECT_THROW(built->count(at_, points(column(keys_)), std::span(counts.data(), counts.size())),
               out_of_memory);
}

TEST_F(failures, a_session_leaves_no_streams_or_pools) {
  const std::size_t before = emulation::live_handles();
  EXPECT_GT(before, handles_);
  { const session other(backend::cuda); }
  EXPECT_EQ(emulation::live_handles(), before);
}

TEST_F(failures, a_session_that_fails_to_open_leaves_none_either) {
  const std::size_t before = emulation::live_handles();
  bool failed = true;
  for (std::size_t successes = 0; failed; ++successes) {
    emulation::fail_calls_after(successes);
    try {
      const session other(backend::cuda);
      failed = false;
    } catch (const error&) {
    }
    emulation::clear_failures();
    ASSERT_EQ(emulation::live_handles(), before) << successes;
    ASSERT_LT(successes, 100);
  }
}

}  // namespace
}  // namespace raydex
