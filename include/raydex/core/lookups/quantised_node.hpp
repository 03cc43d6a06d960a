// SPDX-License-Identifier: Apache-2.0
/// @file
/// A node of a search tree in a 64-byte line: a base and 15-bit separators relative to it.
#pragma once

#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"

namespace raydex::core {

/// A node whose separators are the last keys of its children, less a base, shifted right until 15
/// bits hold them all. So a line has twice the children that 32-bit pivots would allow, and the
/// nodes of a large column stay in the L2 cache.
///
/// A separator may round to the same 15 bits as the keys after it. Then `rank` errs on the low
/// side: the child it names holds the wanted key or lies before the one that does, inside this
/// node. The search must go on to the right where all keys of a leaf are below the wanted one.
template <class Key>
struct alignas(64) quantised_node {
  /// Separators in a node; it has a child more.
  static constexpr unsigned separators = (64 - sizeof(Key)) / 2;
  /// Children of a node: 31 for 32-bit keys, 29 for 64-bit keys.
  static constexpr unsigned fan_out = separators + 1;
  /// Steps of the separator of a child that has none after it: above all keys of the node.
  static constexpr std::uint16_t none = 0x7fff;
  /// Set in every separator. Steps taken off it leave it set where the separator is not below them,
  /// and clear it where it is, without touching the separator beside it: one subtraction compares
  /// two.
  static constexpr std::uint16_t mark = 0x8000;

  Key base_and_shift;                   ///< the base, whose low bits hold the shift
  std::uint16_t separator[separators];  ///< ascending; steps and mark

  /// The base and shift of a node with keys from `first` to `last`, as `base_and_shift` holds them.
  RAYDEX_HD static Key scale(Key first, Key last) {
    const Key base = first & ~shift_bits;
    const Key span = last - base;
    Key shift = span >> 15 == 0 ? 0 : floor_log2(span) - 14;
    // Below `none`, so that the last key of a node is not beyond a missing separator.
    if (span >> shift == none) ++shift;
    return base | shift;
  }

  /// A key in steps of a node, at most `none`.
  RAYDEX_HD static std::uint16_t quantise(Key base_and_shift, Key key) {
    const Key base = base_and_shift & ~shift_bits;
    const Key above = (key < base ? base : key) - base;
    const Key steps = above >> (base_and_shift & shift_bits);
    return steps < none ? static_cast<std::uint16_t>(steps) : none;
  }

  /// The number of separators below a key.
  RAYDEX_HD unsigned rank(Key wanted) const {
    const unsigned steps = mark | quantise(base_and_shift, wanted);
    unsigned below = 0;
    for (unsigned i = 0; i < separators; ++i)
      below += separator[i] < steps ? 1U : 0U;
    return below;
  }

 private:
  static constexpr Key shift_bits = 8 * sizeof(Key) - 1;
};

}  // namespace raydex::core
