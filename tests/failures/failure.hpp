// SPDX-License-Identifier: Apache-2.0
// Calls that fail at will. The source that a program links chooses which: heap.cpp for the heap,
// device_calls.cpp for the emulated CUDA runtime.
#pragma once

#include <cstdint>

namespace raydex::test {

// Which calls fail.
enum class shortage {
  once,    // the next one
  lasting  // all that follow
};

// Until the end of its scope, a call fails after `successes` others, on any thread.
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
