// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reading what a search needs first from faster memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// Copies the first elements of an array, as many as `bytes` hold; every one of `threads` threads
/// copies its share.
template <class At, class T>
RAYDEX_HD inline void pin_first(const At& element, T* memory, std::size_t bytes, unsigned thread,
                                unsigned threads) {
  for (std::size_t i = thread; i < bytes / sizeof(T); i += threads)
    memory[i] = element(i);
}

/// Element i of an array, from pinned memory if it is there (lightweight paper, section 4.2).
template <class T, class At>
RAYDEX_HD inline T pinned_or(const pinned_memory& pinned, std::uint64_t i, const At& element) {
  return i < pinned.bytes / sizeof(T) ? static_cast<const T*>(pinned.data)[i] : element(i);
}

}  // namespace raydex::core
