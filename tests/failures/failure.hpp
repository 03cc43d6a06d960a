// SPDX-License-Identifier: Apache-2.0
// Calls that fail at will, of a kind that the program chooses by the source that it is linked with:
// heap.cpp for the heap, device_calls.cpp for the emulated CUDA runtime.
#pragma once

#include <cstdint>

namespace raydex::test {

// What fails after so many calls.
enum class shortage {
  once,    // the next one
  lasting  // all that follow
};

// From now until the end of its scope a call fails after `successes` others, whichever thread makes
// it.
class failure {
 public:
  failure(std::uint64_t successes, shortage kind);
  ~failure();
  failure(const failure&) = delete;
  failure& operator=(const failure&) = delete;
};

// Whether a call has failed since the last `failure` began.
bool has_failed();

// How many calls there were.
std::uint64_t calls_so_far();

}  // namespace raydex::test
