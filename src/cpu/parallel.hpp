// SPDX-License-Identifier: Apache-2.0
// Loops on all cores, and the floating-point environment that they compute in.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cfenv>
#include <cstdint>

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

// Calls f(begin, end) for blocks of 0 .. size - 1, in default floats on every thread.
template <class Function>
void for_blocks(std::uint64_t size, std::uint64_t grain, const Function& f) {
  const default_floats floats;
  // Threads take the environment of this one; without it, of the one that used oneTBB first.
  tbb::task_group_context here(tbb::task_group_context::bound,
                               tbb::task_group_context::fp_settings);
  tbb::parallel_for(
      tbb::blocked_range<std::uint64_t>(0, size, grain),
      [&](const auto& block) { f(block.begin(), block.end()); }, here);
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
