// SPDX-License-Identifier: Apache-2.0
// Sorted columns with a batch of insertions and deletions applied.
//
// Besides an `executor` and `sort_column`, as backends have them, an engine has
// - `select_unmarked(where, list, marks, to)`, which copies the entries without a mark;
// - `merge(where, a, b, to)` of two lists;
// - `download(where, from, size)`, a vector of what is in the backend's memory.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "raydex/core/edits.hpp"
#include "raydex/edits.hpp"
#include "raydex/index.hpp"
#include "row_id_facts.hpp"
#include "sorted_column.hpp"

namespace raydex {

template <class Key, class RowId>
core::entry_list<Key, RowId> list_of(const sorted_column<Key, RowId>& entries) {
  return {entries.keys.data(), entries.row_ids.data(), entries.keys.size()};
}

// A batch, sorted, without pairs that are both inserted and erased.
template <class Key, class RowId>
struct sorted_edits {
  sorted_column<Key, RowId> insert;
  sorted_column<Key, RowId> erase;
  bool by_row;  // whether row ids of what is erased count
};

// What a spread count adds up to; synchronises, and allocates nothing of the backend's memory.
template <class Engine>
std::uint64_t sum_of(const context& where, const buffer<std::uint64_t>& counts) {
  const auto host = Engine::download(where, counts.data(), counts.size());
  return std::accumulate(host.begin(), host.end(), std::uint64_t{0});
}

// The entries of a list that another one does not name; nothing if that is all of them.
template <class Engine, class Key, class RowId>
std::optional<sorted_column<Key, RowId>> without(const context& where,
                                                 const core::entry_list<Key, RowId>& list,
                                                 const core::entry_list<Key, RowId>& names,
                                                 bool by_row) {
  using executor = typename Engine::executor;
  if (list.size == 0 || names.size == 0) return std::nullopt;
  buffer<std::uint8_t> marks(where, list.size);
  buffer<std::uint64_t> counts(where, core::spread_count::size);
  executor::clear(where, marks.data(), marks.size());
  executor::clear(where, counts.data(), counts.size());
  executor::for_each(
      where, core::mark_named<Key, RowId>{list, names, by_row, marks.data(), {counts.data()}},
      names.size);
  const std::uint64_t named = sum_of<Engine>(where, counts);
  if (named == 0) return std::nullopt;
  sorted_column<Key, RowId> left{{where, list.size - named}, {where, list.size - named}};
  Engine::select_unmarked(where, list, marks.data(), left);
  return left;
}

template <class Engine, class Key, class RowId>
sorted_edits<Key, RowId> sort_edits(const context& where, const edits& batch) {
  // Columns that say nothing may be of any format.
  const auto sorted = [&](const column& keys, const std::optional<column>& rows) {
    return keys.size == 0 ? sorted_column<Key, RowId>()
                          : Engine::template sort_column<Key, RowId>(where, keys, rows);
  };
  sorted_edits<Key, RowId> all{sorted(batch.insert, batch.insert_rows),
                               sorted(batch.erase, batch.erase_rows), batch.erase_rows.has_value()};
  if (!all.by_row) return all;
  auto inserted = without<Engine>(where, list_of(all.insert), list_of(all.erase), true);
  auto erased = without<Engine>(where, list_of(all.erase), list_of(all.insert), true);
  const std::uint64_t max_row_id = all.insert.max_row_id;
  if (inserted) all.insert = std::move(*inserted);
  if (erased) all.erase = std::move(*erased);
  all.insert.max_row_id = max_row_id;
  return all;
}

// Sorted entries with a batch applied; nothing if it changes nothing. Throws `unsupported` where
// there would be more than row ids of that width allow.
template <class Engine, class Key, class RowId>
std::optional<sorted_column<Key, RowId>> edited(const context& where,
                                                const sorted_column<Key, RowId>& entries,
                                                const sorted_edits<Key, RowId>& batch) {
  auto changed = without<Engine>(where, list_of(entries), list_of(batch.erase), batch.by_row);
  const core::entry_list<Key, RowId> left = list_of(changed ? *changed : entries);
  const core::entry_list<Key, RowId> added = list_of(batch.insert);
  if (added.size != 0) {
    check_room(left.size + added.size, not_found<RowId>);
    sorted_column<Key, RowId> merged{{where, left.size + added.size},
                                     {where, left.size + added.size}};
    Engine::merge(where, left, added, merged);
    changed = std::move(merged);
  }
  return changed;
}

}  // namespace raydex
