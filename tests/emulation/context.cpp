// SPDX-License-Identifier: Apache-2.0
//
// Switching between stacks. swapcontext makes a system call each time, which costs more than most
// threads do between barriers, so x86-64 has a few instructions of its own.
#include "tests/emulation/context.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "tests/emulation/sanitizer.hpp"

#if defined(__x86_64__)

extern "C" void emulation_switch_stack(void** save, void* stack_pointer);

// Saves what a called function must preserve. Floating point modes stay as they are: nothing here
// changes them.
asm(R"(
.text
.p2align 4
.type emulation_switch_stack, @function
emulation_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulation_switch_stack, .-emulation_switch_stack
)");

#endif

namespace emulation::detail {
namespace {

// Instrumented frames are several times as large as plain ones.
#ifdef EMULATION_WITH_ASAN
constexpr std::size_t stack_bytes = std::size_t{512} << 10;
#else
constexpr std::size_t stack_bytes = std::size_t{128} << 10;
#endif

std::size_t guard_bytes() {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

// The two sides of the current switch; the arriving side completes it.
stack_context* leaving = nullptr;
stack_context* arriving = nullptr;

}  // namespace

stack_context::stack_context(void (*entry)()) : bytes_(stack_bytes) {
  // Pages are allocated when touched. The lowest is protected, so that an overflow faults.
  mapping_ = mmap(nullptr, guard_bytes() + stack_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping_, guard_bytes(), PROT_NONE);
  auto* const bottom = static_cast<std::byte*>(mapping_) + guard_bytes();
  bottom_ = bottom;
#if defined(__x86_64__)
  // From the top: a return address that ends backtraces, the entry, and six registers. The entry
  // finds the stack aligned as after a call.
  auto* const top = reinterpret_cast<void**>(bottom + stack_bytes);
  top[-2] = reinterpret_cast<void*>(entry);
  stack_pointer_ = top - 8;
#else
  getcontext(&registers_);
  registers_.uc_stack.ss_sp = bottom;
  registers_.uc_stack.ss_size = stack_bytes;
  registers_.uc_link = nullptr;
  makecontext(&registers_, entry, 0);
#endif
}

stack_context::~stack_context() {
  if (mapping_ == nullptr) return;
  permit(bottom_, bytes_);
  munmap(mapping_, guard_bytes() + stack_bytes);
}

void stack_context::switch_to(stack_context& to) {
  leaving = this;
  arriving = &to;
  start_switch(&fake_stack_, to.bottom_, to.bytes_);
#if defined(__x86_64__)
  emulation_switch_stack(&stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&registers_, &to.registers_);
#endif
  arrive();
}

void stack_context::arrive() {
  // The bounds of the host thread's stack are not known before it is left for the first time.
  finish_switch(arriving->fake_stack_, &leaving->bottom_, &leaving->bytes_);
}

}  // namespace emulation::detail
