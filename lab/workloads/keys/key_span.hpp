// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays of keys whose width is known at run time only.
#pragma once

#include <cstdint>
#include <utility>

#include "raydex/column.hpp"

namespace raydex::bench {

/// `size` unsigned keys of 32 or 64 bits.
struct key_span {
  void* data = nullptr;
  std::uint64_t size = 0;
  int bits = 32;

  /// The same as a column.
  column as_column() const {
    return {bits == 32 ? format_of<std::uint32_t> : format_of<std::uint64_t>, data, size};
  }
  /// The first key, of a width that the caller knows.
  template <class Key>
  Key* as() const {
    return static_cast<Key*>(data);
  }
};

/// Calls `work` with a zero of the unsigned type of that many bits.
template <class Work>
decltype(auto) with_width(int bits, Work&& work) {
  return bits == 32 ? std::forward<Work>(work)(std::uint32_t{0})
                    : std::forward<Work>(work)(std::uint64_t{0});
}

}  // namespace raydex::bench
