// SPDX-License-Identifier: Apache-2.0
//
// What the engine tells AddressSanitizer, and nothing without it.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulation::detail {

#ifdef __SANITIZE_ADDRESS__

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

#else

inline void start_switch(void**, const void*, std::size_t) {}
inline void finish_switch(void*, const void**, std::size_t*) {}
inline void forbid(const void*, std::size_t) {}
inline void permit(const void*, std::size_t) {}

#endif

}  // namespace emulation::detail
