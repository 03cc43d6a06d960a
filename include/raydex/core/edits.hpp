// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sorted lists of entries, and what of one of them is in another: how batches of insertions and
/// deletions meet the entries of an index.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/column.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/search.hpp"

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
template <class Key, class RowId>
struct entry_list {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  const Key* keys = nullptr;       ///< keys
  const RowId* row_ids = nullptr;  ///< their row ids
  std::uint64_t size = 0;          ///< how many

  /// Entry `i`.
  RAYDEX_HD entry<Key, RowId> operator[](std::uint64_t i) const {
    return {load(keys + i), load(row_ids + i)};
  }
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
    return first_not_below([this](std::uint64_t i) { return load(keys + i); }, key);
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

/// Numbers that add up to a count: many threads add to one each, so that few meet at the same.
struct spread_count {
  static constexpr std::uint64_t size = 1024;  ///< how many numbers

  std::uint64_t* numbers;  ///< 0 at first

  /// Adds to the number of a thread.
  RAYDEX_HD void add(std::uint64_t thread, std::uint64_t what) const {
    if (what != 0) add_atomically(numbers + thread % size, what);
  }
};

/// Marks the entries of a list that another one names, by key and row id or by key alone, and
/// counts them. Runs for each entry of the other list.
template <class Key, class RowId>
struct mark_named {
  entry_list<Key, RowId> list;   ///< the list
  entry_list<Key, RowId> names;  ///< the other one
  bool by_row;                   ///< whether row ids must agree, too
  std::uint8_t* marks;           ///< a byte for each entry of the list, 0 at first
  spread_count count;            ///< how many were marked

  /// Marks what entry `i` of the other list names, unless the one before it names the same.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const entry<Key, RowId> name = names[i];
    const auto same = [&](const entry<Key, RowId>& other) {
      return other.key == name.key && (!by_row || other.row == name.row);
    };
    if (i > 0 && same(names[i - 1])) return;
    std::uint64_t begin = list.below(name.key);
    if (by_row && begin < list.size && list[begin] < name) begin = list.below(name);
    std::uint64_t end = begin;
    for (; end < list.size && same(list[end]); ++end)
      marks[end] = 1;
    count.add(i, end - begin);
  }
};

}  // namespace raydex::core
