// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sorted lists of entries, and what of one of them is in another: how batches of insertions and
/// deletions meet the entries of an index.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/search.hpp"

namespace raydex::core {

/// A key and its row id, in the order of ordered structures.
template <class Key, class RowId>
struct entry {
  Key key;    ///< an encoded key
  RowId row;  ///< its row id

  /// By key, then by row id.
  RAYDEX_HD friend bool operator<(const entry& a, const entry& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  }
  /// Equal in both.
  RAYDEX_HD friend bool operator==(const entry& a, const entry& b) {
    return a.key == b.key && a.row == b.row;
  }
};

/// Entries in ascending order, in an array each for keys and row ids. It does not own them.
template <class Key, class RowId, class Keys = const Key*, class RowIds = const RowId*>
struct entry_list {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  Keys keys{};             ///< keys
  RowIds row_ids{};        ///< their row ids
  std::uint64_t size = 0;  ///< how many

  /// Entry `i`.
  RAYDEX_HD entry<Key, RowId> operator[](std::uint64_t i) const {
    return {key(i), load_at(row_ids, i)};
  }
  /// The key of entry `i`.
  RAYDEX_HD Key key(std::uint64_t i) const { return load_at(keys, i); }
  /// How many entries are below one.
  RAYDEX_HD std::uint64_t below(const entry<Key, RowId>& one) const {
    return first_not_below([this](std::uint64_t i) { return (*this)[i]; }, one);
  }
  /// How many entries are not above one.
  RAYDEX_HD std::uint64_t not_above(const entry<Key, RowId>& one) const {
    return below(entry<Key, RowId>{one.key, static_cast<RowId>(one.row + 1)});  // no row id is last
  }
  /// How many entries have a smaller key.
  RAYDEX_HD std::uint64_t below(Key key) const {
    return first_not_below([this](std::uint64_t i) { return this->key(i); }, key);
  }
  /// How many entries have no larger key.
  RAYDEX_HD std::uint64_t not_above(Key key) const {
    return key == static_cast<Key>(-1) ? size : below(static_cast<Key>(key + 1));
  }

 private:
  template <class At, class T>
  RAYDEX_HD std::uint64_t first_not_below(const At& at, const T& wanted) const {
    const T one[1] = {wanted};
    std::uint64_t found[1];
    lower_bounds(at, size, one, found);
    return found[0];
  }
};

/// Such entries in any layout.
template <class Key, class RowId>
using strided_list = entry_list<Key, RowId, strided<Key>, strided<RowId>>;

/// Entries that a sorted list names, by key and row id or by key alone. Copies of a name say no
/// more than one of them.
template <class Key, class RowId>
struct entry_names {
  entry_list<Key, RowId> list;  ///< the names
  bool by_row;                  ///< whether row ids count

  /// Whether two entries are the same to it.
  RAYDEX_HD bool alike(const entry<Key, RowId>& a, const entry<Key, RowId>& b) const {
    return a.key == b.key && (!by_row || a.row == b.row);
  }
  /// How many names are below an entry.
  RAYDEX_HD std::uint64_t below(const entry<Key, RowId>& one) const {
    return by_row ? list.below(one) : list.below(one.key);
  }
  /// How many names are not above an entry.
  RAYDEX_HD std::uint64_t not_above(const entry<Key, RowId>& one) const {
    return by_row ? list.not_above(one) : list.not_above(one.key);
  }
  /// Whether it names an entry.
  RAYDEX_HD bool has(const entry<Key, RowId>& one) const {
    const std::uint64_t at = below(one);
    return at < list.size && alike(list[at], one);
  }
};

/// Numbers that add up to a count: many threads add to one each, so that few meet at the same.
struct spread_count {
  static constexpr std::uint64_t size = 1024;  ///< how many numbers

  std::uint64_t* numbers;  ///< 0 at first

  /// Adds to the number of a thread.
  RAYDEX_HD void add(std::uint64_t thread, std::uint64_t count) const {
    if (count != 0) add_atomically(numbers + thread % size, count);
  }
};

/// Counts the keys that are equal to the one before.
template <class Key>
struct count_repeated {
  const Key* keys;       ///< ascending
  spread_count repeats;  ///< 0 at first

  /// Looks at key `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    repeats.add(i, i != 0 && keys[i] == keys[i - 1] ? 1 : 0);
  }
};

/// Entries that a thread marks at most, however many copies a name has.
inline constexpr std::uint64_t marked_at_once = 64;

/// Counts the entries of a list that another one names, and marks them up to the first multiple of
/// `marked_at_once` after each name's first. Runs for each name; `mark_rest` marks the others.
template <class Key, class RowId>
struct mark_named {
  strided_list<Key, RowId> list;  ///< the list
  entry_names<Key, RowId> names;  ///< the other one
  std::uint8_t* marks;            ///< a byte for each entry of the list, 0 at first
  spread_count named;             ///< how many are named
  spread_count marked;            ///< how many of them were marked

  /// Does so for name `i`, unless the one before it is the same.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const entry<Key, RowId> name = names.list[i];
    if (i > 0 && names.alike(names.list[i - 1], name)) return;
    std::uint64_t begin = list.below(name.key);
    if (names.by_row && begin < list.size && list[begin] < name) begin = list.below(name);
    const auto entry_at = [this](std::uint64_t at) { return list[at]; };
    const auto key_at = [this](std::uint64_t at) { return list.key(at); };
    const std::uint64_t end = names.by_row ? gallop_past(entry_at, begin, list.size, name)
                                           : gallop_past(key_at, begin, list.size, name.key);
    const std::uint64_t stop = (begin / marked_at_once + 1) * marked_at_once;
    const std::uint64_t marked_end = end < stop ? end : stop;
    for (std::uint64_t at = begin; at < marked_end; ++at)
      marks[at] = 1;
    named.add(i, end - begin);
    marked.add(i, marked_end - begin);
  }
};

/// Marks what `mark_named` left. Runs for each `marked_at_once` entries of the list.
template <class Key, class RowId>
struct mark_rest {
  strided_list<Key, RowId> list;  ///< the list
  entry_names<Key, RowId> names;  ///< the other one
  std::uint8_t* marks;            ///< a byte for each entry of the list

  /// Marks the entries that are the same as the first of these, if that is named.
  RAYDEX_HD void operator()(std::uint64_t number) const {
    const std::uint64_t begin = number * marked_at_once;
    const std::uint64_t left = list.size - begin;
    const std::uint64_t end = begin + (left < marked_at_once ? left : marked_at_once);
    const entry<Key, RowId> first = list[begin];
    if (!names.has(first)) return;
    for (std::uint64_t at = begin; at < end && names.alike(list[at], first); ++at)
      marks[at] = 1;
  }
};

}  // namespace raydex::core
