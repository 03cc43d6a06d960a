// SPDX-License-Identifier: Apache-2.0
// Memory that runs out where a test wants it to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"

namespace raydex::test {

// Refuses the allocation that would exceed a limit.
class limited_resource final : public memory_resource {
 public:
  limited_resource(memory_resource& upstream, std::size_t limit)
      : upstream_(upstream), limit_(limit) {}
  void* allocate(std::size_t bytes, stream_t stream) override {
    if (held_ + bytes > limit_) throw out_of_memory(bytes, limit_ - held_);
    void* memory = upstream_.allocate(bytes, stream);
    held_ += bytes;
    peak_ = std::max(peak_, held_);
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    upstream_.deallocate(memory, bytes, stream);
    held_ -= bytes;
  }
  memory_space space() const noexcept override { return upstream_.space(); }
  void adopt(std::ptrdiff_t bytes) noexcept override { upstream_.adopt(bytes); }
  std::size_t held() const { return held_; }
  std::size_t peak() const { return peak_; }

 private:
  memory_resource& upstream_;
  std::size_t limit_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
};

// Calls `build(context)` with less and less memory below its peak: a build that runs out leaks
// nothing.
template <class Build>
void check_scarce_builds(const context& plain, std::size_t peak, Build&& build) {
  for (std::size_t limit = 0; limit < peak; limit += std::max<std::size_t>(1, peak / 17)) {
    limited_resource scarce(plain.memory, limit);
    try {
      build(context{scarce, plain.stream});
      ADD_FAILURE() << "built within " << limit << " bytes, but its peak was " << peak;
    } catch (const out_of_memory& e) {
      EXPECT_GT(e.asked(), e.free());
    }
    EXPECT_EQ(scarce.held(), 0);
  }
}

// The same; also, the index reports the bytes that it holds and that its build needed.
template <class Build>
void check_memory_of_build(const context& plain, Build&& build) {
  tracking_resource meter(plain.memory);
  const auto peak = [&] {
    const auto built = build(context{meter, plain.stream});
    EXPECT_EQ(meter.current(), built->info().resident_bytes);
    EXPECT_EQ(meter.peak(), built->info().build_peak_bytes);
    return meter.peak();
  }();
  EXPECT_EQ(meter.current(), 0);
  check_scarce_builds(plain, peak, build);
}

// For indexes whose engine also allocates memory itself and only tells the resource.
template <class Build>
void check_leaks_of_build(const context& plain, Build&& build) {
  tracking_resource meter(plain.memory);
  limited_resource plenty(meter, std::numeric_limits<std::size_t>::max());
  {
    const auto built = build(context{plenty, plain.stream});
    EXPECT_EQ(meter.current(), built->info().resident_bytes);
  }
  EXPECT_EQ(meter.current(), 0);
  check_scarce_builds(plain, plenty.peak(), build);
}

}  // namespace raydex::test
