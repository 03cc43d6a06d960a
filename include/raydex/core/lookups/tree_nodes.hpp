// SPDX-License-Identifier: Apache-2.0
/// @file
/// What search trees are made of: the root as one wide node, the pivots above an ascending array
/// level by level (lightweight paper, sections 3.3 to 3.5), and nodes in a 64-byte line with a base
/// and separators of 15 or 8 bits relative to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Up to 2^16 - 1 pivots in ascending order, with a table over the leading bits of the keys that
/// says among which of them to search. Evenly spread keys leave two or three steps; where keys
/// clump, a binary search over what the table leaves.
template <class Key>
class root_node {
 public:
  /// Cells of the table, 2^table_bits.
  static constexpr unsigned table_bits = 12;
  /// Most pivots: as far as the table's 16 bits count.
  static constexpr std::uint64_t most_pivots = 0xffff;

  /// No pivots: one child.
  root_node() = default;
  /// A root of `pivots` pivots at `memory`, of `bytes(pivots)` bytes.
  RAYDEX_HD root_node(const void* memory, std::uint32_t pivots)
      : memory_(static_cast<const std::byte*>(memory)), pivots_(pivots) {}

  /// Bytes of a root; none without pivots.
  RAYDEX_HD static constexpr std::size_t bytes(std::uint32_t pivots) {
    return pivots == 0 ? 0 : keys_begin + std::size_t{pivots} * sizeof(Key);
  }
  /// Bytes of this root.
  RAYDEX_HD std::size_t bytes() const { return bytes(pivots_); }

  /// The number of pivots below a key: the child to go on with.
  RAYDEX_HD std::uint32_t child(Key wanted) const {
    if (pivots_ == 0) return 0;
    const std::uint32_t cell = table()[cell_of(scale(), wanted)];
    std::uint32_t low = cell & 0xffff;
    std::uint32_t length = cell >> 16;
    if (length == 0) return low;
    // Half of what is left each time, whatever the keys: lanes of a warp go in step.
    while (length > 1) {
      const std::uint32_t half = length / 2;
      low += keys()[low + half - 1] < wanted ? half : 0;
      length -= half;
    }
    return low + (keys()[low] < wanted ? 1 : 0);
  }

  /// Reads the root's words, of 32 bits.
  struct word_at {
    const std::uint32_t* first;  ///< where they begin
    /// Word `i`.
    RAYDEX_HD std::uint32_t operator()(std::uint64_t i) const { return load(first + i); }
  };
  /// The words that a copy of the root is made of.
  RAYDEX_HD word_at words() const { return {reinterpret_cast<const std::uint32_t*>(memory_)}; }
  /// The same root, copied to `memory`.
  RAYDEX_HD root_node at(const void* memory) const { return {memory, pivots_}; }

  /// Writes the scale of the table over ascending entries, before `fill` writes the rest.
  template <class Entries>
  struct fill_scale {
    Entries entries;     ///< ascending
    std::uint64_t size;  ///< number of entries, not 0
    std::byte* memory;   ///< the root's

    /// Writes it; there is one item.
    RAYDEX_HD void operator()(std::uint64_t /*i*/) const {
      using row_id = typename Entries::row_id_type;
      const Key first = entries.key(0);
      const Key last = entries.key(static_cast<row_id>(size - 1));
      const Key span = last - first;
      const Key shift = span >> table_bits == 0 ? 0 : floor_log2(span) - (table_bits - 1);
      auto* to = reinterpret_cast<Key*>(memory);
      to[0] = first;
      to[1] = shift;
    }
  };

  /// Writes pivots and table, in any order.
  template <class Entries>
  struct fill {
    Entries entries;                  ///< ascending
    std::uint64_t size;               ///< number of entries
    std::uint64_t entries_per_child;  ///< entries below a child
    std::uint32_t pivots;             ///< number of pivots
    std::byte* memory;                ///< the root's

    /// Writes pivot `i`, or, beyond them, a cell of the table.
    RAYDEX_HD void operator()(std::uint64_t i) const {
      if (i < pivots) {
        reinterpret_cast<Key*>(memory + keys_begin)[i] = pivot(i);
        return;
      }
      const auto cell = static_cast<std::uint32_t>(i - pivots);
      std::uint32_t first[2];
      first_of(cell, first);
      reinterpret_cast<std::uint32_t*>(memory + table_begin)[cell] =
          first[0] | (first[1] - first[0]) << 16;
    }
    /// Items to write.
    RAYDEX_HD std::uint64_t items() const { return std::uint64_t{pivots} + cells; }
    /// Writes the table in one pass, once the pivots are written: what one thread does the fastest.
    RAYDEX_HD void write_table() const {
      const auto* scale = reinterpret_cast<const Key*>(memory);
      const auto* keys = reinterpret_cast<const Key*>(memory + keys_begin);
      auto* table = reinterpret_cast<std::uint32_t*>(memory + table_begin);
      std::uint32_t cell = 0;
      for (std::uint32_t first = 0; first < pivots;) {
        const std::uint32_t own = cell_of(scale, keys[first]);
        while (cell < own)
          table[cell++] = first;
        std::uint32_t next = first + 1;
        while (next < pivots && cell_of(scale, keys[next]) == own)
          ++next;
        table[cell++] = first | (next - first) << 16;
        first = next;
      }
      while (cell < cells)
        table[cell++] = pivots;
    }

   private:
    RAYDEX_HD Key pivot(std::uint64_t i) const {
      using row_id = typename Entries::row_id_type;
      const std::uint64_t entry = (i + 1) * entries_per_child - 1;
      return entries.key(static_cast<row_id>(entry < size ? entry : size - 1));
    }
    // The pivots below the first key of a cell, and of the one after it; of the cell after the
    // last, all. Both searches go in step, so that their reads overlap.
    RAYDEX_HD void first_of(std::uint32_t cell, std::uint32_t (&first)[2]) const {
      const Key* scale = reinterpret_cast<const Key*>(memory);
      const auto is_below = [&](std::uint32_t at, unsigned j) {
        return pivot(at) - scale[0] < static_cast<Key>(static_cast<Key>(cell + j) << scale[1]);
      };
      first[0] = first[1] = 0;
      std::uint32_t length = pivots;
      for (; length > 1; length -= length / 2) {
        RAYDEX_UNROLL
        for (unsigned j = 0; j < 2; ++j)
          first[j] += is_below(first[j] + length / 2 - 1, j) ? length / 2 : 0U;
      }
      RAYDEX_UNROLL
      for (unsigned j = 0; j < 2; ++j)
        first[j] += length != 0 && is_below(first[j], j) ? 1U : 0U;
      if (cell + 1 == cells) first[1] = pivots;
    }
  };

 private:
  static constexpr std::size_t cells = std::size_t{1} << table_bits;
  static constexpr std::size_t table_begin = 2 * sizeof(Key);
  static constexpr std::size_t keys_begin = table_begin + 4 * cells;

  RAYDEX_HD const Key* scale() const { return reinterpret_cast<const Key*>(memory_); }
  // A cell's first pivot in the low half, and how many there are in the high one.
  RAYDEX_HD const std::uint32_t* table() const {
    return reinterpret_cast<const std::uint32_t*>(memory_ + table_begin);
  }
  RAYDEX_HD const Key* keys() const { return reinterpret_cast<const Key*>(memory_ + keys_begin); }

  // The table's cell for a key; keys outside of the column's range belong to the outermost ones.
  RAYDEX_HD static std::uint32_t cell_of(const Key* scale, Key wanted) {
    if (wanted < scale[0]) return 0;
    const Key cell = (wanted - scale[0]) >> scale[1];
    return static_cast<std::uint32_t>(cell < cells ? cell : cells - 1);
  }

  const std::byte* memory_ = nullptr;
  std::uint32_t pivots_ = 0;
};

/// Which pivots there are and where they lie: a formula of the number of entries, with nothing to
/// store but where each level begins. The entries are cut into leaves of `leaf` entries. A node has
/// `fan_out` children and `fan_out - 1` pivots, the last keys of all its children but the last. The
/// nodes of a level are the children of the one above; level 0 is right above the leaves. Nodes are
/// full: where no child comes after a pivot, it holds the largest key, which no search passes.
class pivot_levels {
 public:
  /// Most levels: 2^40 entries have so many with a fan-out of 2.
  static constexpr unsigned most = 40;

  /// No level: the search begins at the leaves.
  pivot_levels() = default;

  /// Levels from the leaves up, until at most `most_roots` nodes are left, or `most_levels` are
  /// there. Preconditions: fan_out >= 2, leaf >= 1, most_roots >= 1.
  RAYDEX_HD pivot_levels(std::uint64_t entries, std::uint64_t leaf, unsigned fan_out,
                         std::uint64_t most_roots, unsigned most_levels = most)
      : leaf_(leaf), fan_out_(fan_out), roots_((entries + leaf - 1) / leaf) {
    while (roots_ > most_roots && count_ < most_levels) {
      roots_ = (roots_ + fan_out - 1) / fan_out;
      first_node_[count_++] = roots_;
    }
    for (unsigned level = count_; level > 0; --level) {
      const std::uint64_t nodes = first_node_[level - 1];
      first_node_[level - 1] = nodes_;
      nodes_ += nodes;
    }
  }

  /// Number of levels.
  RAYDEX_HD unsigned count() const { return count_; }
  /// Children of a node.
  RAYDEX_HD unsigned fan_out() const { return fan_out_; }
  /// Entries of a leaf.
  RAYDEX_HD std::uint64_t leaf() const { return leaf_; }
  /// Nodes of the topmost level; leaves if there is none.
  RAYDEX_HD std::uint64_t roots() const { return roots_; }
  /// Nodes in all; the topmost level comes first.
  RAYDEX_HD std::uint64_t nodes() const { return nodes_; }
  /// Where the nodes of a level begin.
  RAYDEX_HD std::uint64_t first_node(unsigned level) const { return first_node_[level]; }
  /// Pivots in all; the topmost level comes first.
  RAYDEX_HD std::uint64_t size() const { return nodes_ * (fan_out_ - 1); }
  /// Where the pivots of a level begin.
  RAYDEX_HD std::uint64_t begin(unsigned level) const {
    return first_node_[level] * (fan_out_ - 1);
  }
  /// Entries below a node of the topmost level; of a leaf if there is none.
  RAYDEX_HD std::uint64_t entries_per_root() const {
    std::uint64_t entries = leaf_;
    for (unsigned level = 0; level < count_; ++level)
      entries *= fan_out_;
    return entries;
  }

  /// The entries below a node.
  struct span {
    std::uint64_t first;  ///< the first of them
    std::uint64_t child;  ///< how many below each child, as far as there are entries
  };
  /// The span of node `i`, counting the nodes of all levels, the topmost level first.
  RAYDEX_HD span span_of(std::uint64_t i) const {
    unsigned level = 0;
    std::uint64_t child = leaf_;
    while (i < first_node_[level]) {
      ++level;
      child *= fan_out_;
    }
    return {(i - first_node_[level]) * fan_out_ * child, child};
  }

  /// The entry whose key is the pivot in slot `i` of all: the paper's p(l, i) = K^l (K - 1) (1 + i
  /// + floor(i / (K - 1))) - 1, for leaves of any size. It may lie beyond the last entry.
  RAYDEX_HD std::uint64_t entry_of(std::uint64_t i) const {
    const span below = span_of(i / (fan_out_ - 1));
    return below.first + (1 + i % (fan_out_ - 1)) * below.child - 1;
  }

 private:
  std::uint64_t leaf_ = 1;
  unsigned fan_out_ = 2;
  unsigned count_ = 0;
  std::uint64_t roots_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t first_node_[most] = {};
};

/// Writes the pivots: one read and one write for each, in any order.
template <class Entries>
struct place_pivots {
  using key = typename Entries::key_type;  ///< an encoded key

  pivot_levels levels;  ///< which pivots
  Entries entries;      ///< ascending
  std::uint64_t size;   ///< number of entries
  key* pivots;          ///< where to

  /// Writes pivot `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t entry = levels.entry_of(i);
    pivots[i] = entry + 1 < size ? entries.key(static_cast<typename Entries::row_id_type>(entry))
                                 : static_cast<key>(-1);
  }
};

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

/// A node of the lowest level above very many entries. Its separators have 8 bits, and a line has
/// 56 children (52 of 64-bit keys). It has four parts of 16 bytes. A part begins with its start,
/// relative to the base of the node, and a shift of its own; its separators are relative to the
/// start. The start of a part is a separator, too, but for the first part's, which is the first key
/// below the node. `rank` errs on the low side as that of a `quantised_node`, and more often.
template <class Key>
struct alignas(64) narrow_node {
  /// Parts of a node.
  static constexpr unsigned parts = 4;
  static constexpr unsigned in_first = 14 - sizeof(Key);  ///< separators of the first part
  static constexpr unsigned in_others = 15;  ///< those of each other part, its start among them
  /// Separators in a node; it has a child more.
  static constexpr unsigned separators = in_first + (parts - 1) * in_others;
  /// Children of a node.
  static constexpr unsigned fan_out = separators + 1;
  /// Bits of a shift: in the base, and below a start.
  static constexpr unsigned shift_bits = sizeof(Key) == 4 ? 5 : 6;
  static constexpr unsigned start_bits = 16 - shift_bits;  ///< bits of a start
  static constexpr unsigned separator_bits = 8;            ///< bits of any other separator
  /// Words in which the base lies; the first part's start follows.
  static constexpr unsigned base_words = sizeof(Key) / 4;

  std::uint32_t word[16];  ///< base and shift, then the parts

  /// The steps that stand for no child, of so many bits.
  RAYDEX_HD static constexpr std::uint32_t none(unsigned bits) { return (1U << bits) - 1; }
  /// The smallest shift that leaves a distance less than `none(bits)` steps.
  RAYDEX_HD static unsigned shift_for(Key span, unsigned bits) {
    const unsigned shift = span >> bits == 0 ? 0 : floor_log2(span) - (bits - 1);
    return span >> shift == none(bits) ? shift + 1 : shift;
  }
  /// A distance in steps, at most `none(bits)`.
  RAYDEX_HD static std::uint32_t steps(Key distance, unsigned shift, unsigned bits) {
    const Key all = distance >> shift;
    return all < none(bits) ? static_cast<std::uint32_t>(all) : none(bits);
  }
  /// How far a key is above another one; 0 if it is below.
  RAYDEX_HD static Key above(Key key, Key other) { return key < other ? 0 : key - other; }

  /// The base of a node, and its shift.
  RAYDEX_HD static Key base_of(Key scale) { return scale & ~shift_mask; }
  /// The other half of a scale.
  RAYDEX_HD static unsigned shift_of(Key scale) {
    return static_cast<unsigned>(scale & shift_mask);
  }

  /// The number of separators in a part below a key. `scale` is the node's.
  RAYDEX_HD static unsigned below_in(unsigned part, const std::uint32_t (&words)[4], Key scale,
                                     Key wanted) {
    const bool first = part == 0;
    const Key from_base = above(wanted, base_of(scale));
    const std::uint32_t head = first ? words[base_words] : words[0];
    const std::uint32_t start = head >> shift_bits & none(start_bits);
    const Key from_start = above(from_base, static_cast<Key>(Key{start} << shift_of(scale)));
    const std::uint32_t wide =
        steps(from_start, static_cast<unsigned>(head & shift_mask), separator_bits) * 0x0101'0101U;
    // The top bit of each byte tells whether the separator is not below.
    constexpr std::uint32_t tops = 0x8080'8080;
    std::uint32_t below = 0;
    RAYDEX_UNROLL
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t w = words[k];
      const std::uint32_t lower = (w | tops) - (wide & ~tops);
      const std::uint32_t not_below = (w & ~wide) | (~(w ^ wide) & lower);
      const unsigned heads = first ? base_words : 0;
      const std::uint32_t counted = k < heads ? 0 : k == heads ? tops & 0xffff'0000 : tops;
      below |= (~not_below & counted) >> k;
    }
    // If a separator is below, so is the start, which may be too coarse to tell.
    const bool start_below =
        !first && (below != 0 || steps(from_base, shift_of(scale), start_bits) > start);
    return count_bits(below) + (start_below ? 1U : 0U);
  }

  /// The number of separators below a key.
  RAYDEX_HD unsigned rank(Key wanted) const {
    Key scale = word[0];
    if constexpr (sizeof(Key) == 8) scale |= Key{word[1]} << 32;
    unsigned below = 0;
    for (unsigned part = 0; part < parts; ++part) {
      std::uint32_t words[4];
      for (unsigned k = 0; k < 4; ++k)
        words[k] = word[4 * part + k];
      below += below_in(part, words, scale, wanted);
    }
    return below;
  }

 private:
  static constexpr Key shift_mask = 8 * sizeof(Key) - 1;
};

}  // namespace raydex::core
