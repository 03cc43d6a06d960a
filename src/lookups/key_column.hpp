// SPDX-License-Identifier: Apache-2.0
// A sorted column of encoded keys, as scenes are laid out over it.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/memory.hpp"

namespace raydex {

// The column belongs to somebody else.
template <class Key>
struct key_column {
  const Key* keys;
  std::uint64_t size;
  Key smallest;
  Key largest;
};

// Copies a number of any width.
template <class Key>
struct copy_number {
  const Key* from;
  std::uint64_t* to;
  RAYDEX_HD void operator()(std::uint64_t) const { *to = *from; }
};

// Looks up the ends of a sorted column; synchronises.
template <class Executor, class Key>
key_column<Key> describe_keys(const context& on, const Key* keys, std::uint64_t size) {
  if (size == 0) return {keys, 0, 0, 0};
  const auto key_at = [&](std::uint64_t entry) {
    buffer<std::uint64_t> copy(on, 1);
    Executor::for_each(on, copy_number<Key>{keys + entry, copy.data()}, 1);
    return static_cast<Key>(Executor::read(on, copy.data()));
  };
  return {keys, size, key_at(0), key_at(size - 1)};
}

}  // namespace raydex
