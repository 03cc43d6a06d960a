// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the nodes of a tree of lines are written, and how many searches they mislead.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/team.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"

namespace raydex::core {

/// Bytes of a leaf, as far as a search reads it.
template <class Entries>
inline constexpr std::size_t leaf_bytes = line_entries * sizeof(typename Entries::key_type);
/// Of one with the row ids among its keys.
template <class Key, class RowId>
inline constexpr std::size_t leaf_bytes<row_entries<Key, RowId>> =
    line_entries * 4 * row_entries<Key, RowId>::words_per_entry;

/// The separators of a node above ascending entries.
template <class Entries, class Node>
struct separators_of {
  using entries_type = Entries;            ///< what is below the node
  using key = typename Entries::key_type;  ///< an encoded key

  Entries entries;      ///< ascending
  std::uint64_t first;  ///< the first entry below the node
  std::uint64_t child;  ///< entries below each child
  std::uint64_t end;    ///< where the entries below the node end

  /// Those of the node whose entries begin at `begin`; there are `size` in all.
  RAYDEX_HD separators_of(const Entries& all, std::uint64_t size, std::uint64_t begin,
                          std::uint64_t entries_of_child)
      : entries(all), first(begin), child(entries_of_child) {
    const std::uint64_t children = Node::fan_out * child;
    end = size - first < children ? size : first + children;
  }
  /// Where the child after a separator begins.
  RAYDEX_HD std::uint64_t after(unsigned separator) const {
    return first + (separator + 1) * child;
  }
  /// Whether there is one.
  RAYDEX_HD bool has(unsigned separator) const { return after(separator) < end; }
  /// The last key before the child, which the separator stands for.
  RAYDEX_HD key key_of(unsigned separator) const { return key_at(after(separator) - 1); }
  /// A key below the node.
  RAYDEX_HD key key_at(std::uint64_t entry) const {
    return entries.key(static_cast<typename Entries::row_id_type>(entry));
  }
};

/// Those of a quantised node, and how they round.
template <class Entries>
struct quantised_separators : separators_of<Entries, quantised_node<typename Entries::key_type>> {
  using node = quantised_node<typename Entries::key_type>;  ///< what is written
  using base = separators_of<Entries, node>;                ///< what does not round
  using base::base;
  using typename base::key;  ///< an encoded key

  /// Base and shift of the node.
  RAYDEX_HD key scale() const {
    return node::scale(this->key_at(this->first), this->key_at(this->end - 1));
  }
  /// A key in steps, as a separator is compared with it.
  RAYDEX_HD std::uint32_t steps(unsigned /*separator*/, key wanted) const {
    return node::quantise(scale(), wanted);
  }
};

/// Those of a narrow node.
template <class Entries>
struct narrow_separators : separators_of<Entries, narrow_node<typename Entries::key_type>> {
  using node = narrow_node<typename Entries::key_type>;  ///< what is written
  using base = separators_of<Entries, node>;             ///< what does not round
  using base::base;
  using typename base::key;  ///< an encoded key

  /// How a part rounds.
  struct part_scale {
    std::uint32_t start;  ///< in steps of the node
    unsigned shift;       ///< its own
    key origin;           ///< the key from which its separators count
  };

  /// The first separator of a part, and the one after its last.
  RAYDEX_HD static unsigned first_of(unsigned part) {
    return part == 0 ? 0 : node::in_first + (part - 1) * node::in_others;
  }
  /// The part of a separator.
  RAYDEX_HD static unsigned part_of(unsigned separator) {
    return separator < node::in_first ? 0 : 1 + (separator - node::in_first) / node::in_others;
  }
  /// Whether a separator is the start of a part.
  RAYDEX_HD static bool is_start(unsigned separator) {
    const unsigned part = part_of(separator);
    return part != 0 && separator == first_of(part);
  }

  /// Base and shift of the node.
  RAYDEX_HD key scale() const {
    const key from = node::base_of(this->key_at(this->first));
    return from | node::shift_for(this->key_at(this->end - 1) - from, node::start_bits);
  }
  /// The scale of a part.
  RAYDEX_HD part_scale scale_of(unsigned part) const {
    const unsigned begin = first_of(part);
    if (part != 0 && !this->has(begin)) return {node::none(node::start_bits), 0, 0};
    const key all = scale();
    const key from = node::base_of(all);
    const key smallest = part == 0 ? this->key_at(this->first) : this->key_of(begin);
    const std::uint32_t start = node::steps(smallest - from, node::shift_of(all), node::start_bits);
    const auto origin = static_cast<key>(from + (key{start} << node::shift_of(all)));
    unsigned last = first_of(part + 1);  // of its separators: those that there are come first
    while (last > begin && !this->has(last - 1))
      --last;
    const key largest = last > begin ? this->key_of(last - 1) : smallest;
    return {start, node::shift_for(largest - origin, node::separator_bits), origin};
  }
  /// A key in steps, as a separator is compared with it.
  RAYDEX_HD std::uint32_t steps(unsigned separator, key wanted) const {
    if (is_start(separator)) {
      const key all = scale();
      return node::steps(node::above(wanted, node::base_of(all)), node::shift_of(all),
                         node::start_bits);
    }
    const part_scale part = scale_of(part_of(separator));
    return node::steps(node::above(wanted, part.origin), part.shift, node::separator_bits);
  }
};

/// Writes quantised nodes part by part, in any order.
template <class Entries>
struct place_nodes {
  using separators = quantised_separators<Entries>;  ///< what is written
  using node = typename separators::node;            ///< of these

  pivot_levels levels;  ///< which nodes
  Entries entries;      ///< ascending
  std::uint64_t size;   ///< number of entries
  node* nodes;          ///< where to

  /// Writes a separator, or, after them, the scale of a node.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    node& to = nodes[i / node::fan_out];
    const auto part = static_cast<unsigned>(i % node::fan_out);
    const pivot_levels::span below = levels.span_of(i / node::fan_out);
    const separators all(entries, size, below.first, below.child);
    const auto scale = all.scale();
    if (part == node::separators) {
      to.base_and_shift = scale;
      return;
    }
    const unsigned steps =
        all.has(part) ? node::quantise(scale, all.key_of(part)) : unsigned{node::none};
    to.separator[part] = static_cast<std::uint16_t>(node::mark | steps);
  }
  /// Parts to write.
  RAYDEX_HD std::uint64_t items() const { return levels.nodes() * node::fan_out; }
};

/// Writes a level of narrow nodes word by word, in any order.
template <class Entries>
struct place_narrow_nodes {
  using separators = narrow_separators<Entries>;  ///< what is written
  using node = typename separators::node;         ///< of these

  pivot_levels levels;  ///< one
  Entries entries;      ///< ascending
  std::uint64_t size;   ///< number of entries
  node* nodes;          ///< where to

  /// Writes a word of a node.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto at = static_cast<unsigned>(i % words);
    const pivot_levels::span below = levels.span_of(i / words);
    const separators all(entries, size, below.first, below.child);
    nodes[i / words].word[at] = word(all, at / 4, at % 4);
  }
  /// Words to write.
  RAYDEX_HD std::uint64_t items() const { return levels.nodes() * words; }

 private:
  static constexpr unsigned words = 16;

  RAYDEX_HD static std::uint32_t word(const separators& all, unsigned part, unsigned at) {
    const unsigned heads = part == 0 ? node::base_words : 0;
    if (at < heads) return static_cast<std::uint32_t>(std::uint64_t{all.scale()} >> (32 * at));
    const auto scale = all.scale_of(part);
    std::uint32_t made = 0;
    unsigned byte = 0;
    if (at == heads) {
      made = scale.start << node::shift_bits | scale.shift;
      byte = 2;
    }
    // The first byte behind a start is the first separator's, or, if the start is one, the
    // second's.
    const unsigned first = separators::first_of(part) + (part == 0 ? 0 : 1);
    for (; byte < 4; ++byte) {
      const unsigned separator = first + 4 * (at - heads) + byte - 2;
      const std::uint32_t steps =
          all.has(separator)
              ? node::steps(all.key_of(separator) - scale.origin, scale.shift, node::separator_bits)
              : node::none(node::separator_bits);
      made |= steps << (8 * byte);
    }
    return made;
  }
};

/// Counts the entries for which nodes that round would lead a search to a child before theirs:
/// those above the last key before their child that round to the same. Leaves out duplicates of
/// that key; a separator before it may mislead a few of these. Looks at every `every`-th node of a
/// level.
template <class Separators>
struct count_misled {
  using node = typename Separators::node;  ///< what would be written

  std::uint64_t child;                        ///< entries below each child of the nodes
  typename Separators::entries_type entries;  ///< ascending
  std::uint64_t size;                         ///< number of entries
  std::uint64_t every;                        ///< nodes from one that is looked at to the next
  std::uint64_t* misled;                      ///< how many are added to this

  /// Looks at a separator of the nodes `0`, `every`, `2 * every` and so on.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t first = i / node::separators * every * node::fan_out * child;
    const auto separator = static_cast<unsigned>(i % node::separators);
    const Separators all(entries, size, first, child);
    if (!all.has(separator)) return;
    const std::uint64_t next = all.after(separator);
    const std::uint64_t after = all.end - next < child ? all.end : next + child;
    const auto last = all.key_of(separator);
    const auto steps = all.steps(separator, last);
    const auto equal = [&](auto k) { return k == last; };
    const auto rounds_to_same = [&](auto k) { return all.steps(separator, k) == steps; };
    const std::uint64_t wrong =
        end_of(all, next, after, rounds_to_same) - end_of(all, next, after, equal);
    if (wrong != 0) add_atomically(misled, wrong);
  }

 private:
  // Where the entries end that are as `is_so` says, which are the first of [begin, end).
  template <class IsSo>
  RAYDEX_HD static std::uint64_t end_of(const Separators& all, std::uint64_t begin,
                                        std::uint64_t end, const IsSo& is_so) {
    while (begin < end) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      if (is_so(all.key_at(middle))) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};

}  // namespace raydex::core
