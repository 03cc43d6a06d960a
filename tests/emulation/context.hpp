// SPDX-License-Identifier: Apache-2.0
//
// A stack and the point where it resumes. Switches between stacks; knows nothing about threads.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulation::detail {

class stack_context {
 public:
  // The caller's own stack.
  stack_context() = default;
  // A new stack, on which `entry` starts at the first switch; it must never return.
  explicit stack_context(void (*entry)());
  ~stack_context();
  stack_context(const stack_context&) = delete;
  stack_context& operator=(const stack_context&) = delete;

  // Resumes `to`, and returns when something switches back to this context.
  void switch_to(stack_context& to);
  // The first thing to do in an entry function.
  static void arrive();

 private:
  void* mapping_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t registers_{};
#endif
};

}  // namespace emulation::detail
