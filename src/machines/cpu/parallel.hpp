// SPDX-License-Identifier: Apache-2.0
// Loops on all cores, and the floating-point environment that they compute in.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>

#include "src/interface/watch.hpp"

namespace raydex::cpu {

// The environment that programs begin in, as long as it lives; then the caller's again. Callers may
// have denormals taken for 0, numbers rounded otherwise, or exceptions trapped, and Embree's boxes
// have infinite ends.
class default_floats {
 public:
  default_floats() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_floats() { std::fesetenv(&callers_); }
  default_floats(const default_floats&) = delete;
  default_floats& operator=(const default_floats&) = delete;

 private:
  std::fenv_t callers_{};
};

// Calls f(begin, end) for blocks of 0 .. size - 1, in default floats on every thread; what is no
// more than `grain` on this one alone, since it takes other threads microseconds to begin. Where
// this thread's calls are interruptible, blocks are of `step` at most, and are taken one after the
// other, so that no thread waits long for another's: only this one asks, and waits for all.
template <class Function>
void for_blocks(std::uint64_t size, std::uint64_t grain, const Function& f, std::uint64_t step) {
  const default_floats floats;
  if (size <= grain) {
    if (size != 0) f(std::uint64_t{0}, size);
    return watch::look();
  }
  interruptible* const work = watch::of_this_thread();
  // Threads take the environment of this one; without it, of the one that used oneTBB first.
  tbb::task_group_context group(tbb::task_group_context::bound,
                                tbb::task_group_context::fp_settings);
  const auto threads = static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency());
  step = std::clamp(size / (16 * threads), grain, std::max(grain, step));
  std::atomic<std::uint64_t> next = 0;
  const tbb::blocked_range<std::uint64_t> whole(0, size, grain);
  const tbb::blocked_range<std::uint64_t> each(0, std::min(threads, size), 1);
  tbb::parallel_for(
      work == nullptr ? whole : each,
      [&](const auto& block) {
        if (work == nullptr) return f(block.begin(), block.end());
        for (std::uint64_t begin; (begin = next.fetch_add(step)) < size;) {
          f(begin, std::min(size, begin + step));
          if (work == watch::of_this_thread()) watch::look();  // what it throws cancels all
          if (group.is_group_execution_cancelled()) return;
        }
      },
      group);
}
template <class Function>
void for_blocks(std::uint64_t size, std::uint64_t grain, const Function& f) {
  for_blocks(size, grain, f, 128 * grain);
}

// Calls f(i) for 0 .. size - 1; each call takes some time.
template <class Function>
void for_each_part(std::uint64_t size, const Function& f) {
  for_blocks(
      size, 1,
      [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i)
          f(i);
      },
      1);
}

// Merges f(begin, end) of blocks of 0 .. size - 1, for a task of `for_blocks` that others are to
// help. The order depends on `size` and `grain` alone. While it waits, a thread takes up nothing
// else: another such task on top of this one would keep this one waiting.
template <class Value, class Function>
Value merge_blocks(std::uint64_t size, std::uint64_t grain, const Function& f) {
  return tbb::this_task_arena::isolate([&] {
    return tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::uint64_t>(0, size, grain), Value{},
        [&](const auto& block, Value all) {
          all.merge(f(block.begin(), block.end()));
          return all;
        },
        [](Value all, const Value& other) {
          all.merge(other);
          return all;
        });
  });
}

}  // namespace raydex::cpu
