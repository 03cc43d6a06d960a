// SPDX-License-Identifier: Apache-2.0
//
// What the engine tells AddressSanitizer; does nothing without it.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#define EMULATION_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATION_WITH_ASAN 1
#endif
#endif

#ifdef EMULATION_WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulation::detail {

#ifdef EMULATION_WITH_ASAN

inline void start_switch(void** fake_stack, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
inline void finish_switch(void* fake_stack, const void** old_bottom, std::size_t* old_bytes) {
  __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_bytes);
}
inline void forbid(const void* begin, std::size_t bytes) {
  __asan_poison_memory_region(begin, bytes);
}
inline void permit(const void* begin, std::size_t bytes) {
  __asan_unpoison_memory_region(begin, bytes);
}
// The size of a variable without its red zone, which some compilers count as part of it.
inline std::size_t permitted_bytes(std::byte* begin, std::size_t bytes) {
  auto* const forbidden = static_cast<std::byte*>(__asan_region_is_poisoned(begin, bytes));
  return forbidden == nullptr ? bytes : static_cast<std::size_t>(forbidden - begin);
}

#else

inline void start_switch(void**, const void*, std::size_t) {}
inline void finish_switch(void*, const void**, std::size_t*) {}
inline void forbid(const void*, std::size_t) {}
inline void permit(const void*, std::size_t) {}
inline std::size_t permitted_bytes(std::byte*, std::size_t bytes) {
  return bytes;
}

#endif

}  // namespace emulation::detail
