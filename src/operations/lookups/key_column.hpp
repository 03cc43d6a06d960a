// SPDX-License-Identifier: Apache-2.0
// A sorted column of encoded keys, as scenes are laid out over it.
#pragma once

#include <cstdint>

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

// Looks up the ends of a sorted column; synchronises.
template <class Executor, class Key>
key_column<Key> describe_keys(const context& on, const Key* keys, std::uint64_t size) {
  if (size == 0) return {keys, 0, 0, 0};
  const auto key_at = [&](std::uint64_t entry) {
    Key key;
    Executor::copy_out(on, &key, keys + entry, sizeof key);
    return key;
  };
  return {keys, size, key_at(0), key_at(size - 1)};
}

}  // namespace raydex
