// SPDX-License-Identifier: Apache-2.0
// The loops of oneTBB that raydex uses, on threads of the standard library. The system's oneTBB is
// not instrumented: ThreadSanitizer does not see how it hands work over, and would report each
// hand-over as a race. In the preset `threads` the headers of this folder replace oneTBB's.
#pragma once

#include <tbb/blocked_range.h>

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace raydex::test {

// Divides a range of oneTBB into a few parts.
template <class Range>
void divide(Range range, unsigned halvings, std::vector<Range>& parts) {
  if (halvings == 0 || !range.is_divisible()) {
    parts.push_back(range);
    return;
  }
  Range right(range, tbb::split());
  divide(range, halvings - 1, parts);
  divide(right, halvings - 1, parts);
}

template <class Range>
std::vector<Range> parts_of(const Range& range) {
  std::vector<Range> parts;
  if (!range.empty()) divide(range, 2, parts);
  return parts;
}

// Calls f(0) .. f(count - 1), each on a thread of its own, and throws what one of them threw.
template <class Function>
void on_threads(std::size_t count, const Function& f) {
  std::vector<std::exception_ptr> thrown(count);
  const auto call = [&](std::size_t i) {
    try {
      f(i);
    } catch (...) {
      thrown[i] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < count; ++i)
    others.emplace_back(call, i);
  if (count != 0) call(0);
  for (std::thread& other : others)
    other.join();
  for (const std::exception_ptr& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

}  // namespace raydex::test
