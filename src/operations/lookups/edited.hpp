// SPDX-License-Identifier: Apache-2.0
// Sorted columns with a batch of insertions and deletions applied. Each backend offers `sort_edits`
// and `edited`.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "raydex/core/keys/edits.hpp"
#include "raydex/edits.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "src/interface/row_id_checks.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

// A batch, sorted, without pairs that are both inserted and erased.
template <class Key, class RowId>
struct sorted_edits {
  sorted_column<Key, RowId> insert;
  sorted_column<Key, RowId> erase;
  bool by_row;  // whether row ids of what is erased count
};

template <class Key, class RowId>
core::entry_names<Key, RowId> names_of(const sorted_edits<Key, RowId>& batch) {
  return {list_of(batch.erase), batch.by_row};
}

// `edited`: sorted entries with a batch applied; nothing if it changes nothing. Throws
// `unsupported` where there would be more than row ids of that width allow.
namespace cpu {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                                    const entry_order& order);
template <class Key, class RowId>
RAYDEX_INTERNAL std::optional<sorted_column<Key, RowId>> edited(
    const context& on, const core::strided_list<Key, RowId>& entries,
    const sorted_edits<Key, RowId>& batch);
}  // namespace cpu
namespace cuda {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                                    const entry_order& order);
template <class Key, class RowId>
RAYDEX_INTERNAL std::optional<sorted_column<Key, RowId>> edited(
    const context& on, const core::strided_list<Key, RowId>& entries,
    const sorted_edits<Key, RowId>& batch);
}  // namespace cuda

// How a batch of edits is sorted, and merged with sorted entries. `Lists` is the `entry_lists` of a
// machine, an executor that also handles lists of entries: `select_unmarked(on, list, marks, to)`
// copies those without a mark, `merge(on, a, b, to)` merges two of them, and `to` has room for all.
template <class Lists, class Key, class RowId>
struct edits_by {
  using sorted = sorted_column<Key, RowId>;
  using names = core::entry_names<Key, RowId>;
  using list = core::strided_list<Key, RowId>;

  static sorted_edits<Key, RowId> sort(const context& on, const edits& batch,
                                       const entry_order& order) {
    // Columns that say nothing may be of any format.
    const auto sort_one = [&](const column& keys, const std::optional<column>& rows) {
      return keys.size == 0 ? sorted()
                            : Lists::template sort_column<Key, RowId>(on, keys, rows, order);
    };
    sorted_edits<Key, RowId> all{sort_one(batch.insert, batch.insert_rows),
                                 sort_one(batch.erase, batch.erase_rows),
                                 batch.erase_rows.has_value()};
    if (!all.by_row) return all;
    auto inserted = without(on, strided(list_of(all.insert)), names_of(all));
    auto erased = without(on, strided(list_of(all.erase)), {list_of(all.insert), true});
    const std::uint64_t max_row_id = all.insert.max_row_id;
    if (inserted) all.insert = std::move(*inserted);
    if (erased) all.erase = std::move(*erased);
    all.insert.max_row_id = max_row_id;
    return all;
  }

  static std::optional<sorted> apply(const context& on, const list& entries,
                                     const sorted_edits<Key, RowId>& batch) {
    auto changed = without(on, entries, names_of(batch));
    const list left = changed ? strided(list_of(*changed)) : entries;
    const core::entry_list<Key, RowId> added = list_of(batch.insert);
    if (added.size != 0) {
      check_room(left.size + added.size, not_found<RowId>);
      sorted merged{{on, left.size + added.size}, {on, left.size + added.size}};
      Lists::merge(on, left, added, merged);
      changed = std::move(merged);
    }
    return changed;
  }

 private:
  // The entries of a list that another one does not name; nothing if that is all of them.
  static std::optional<sorted> without(const context& on, const list& all,
                                       const names& named_ones) {
    if (all.size == 0 || named_ones.list.size == 0) return std::nullopt;
    buffer<std::uint8_t> marks(on, all.size);
    spread_counts<2, Lists> counts(on);
    Lists::clear(on, marks.data(), marks.size());
    Lists::for_each(
        on, core::mark_named<Key, RowId>{all, named_ones, marks.data(), counts[0], counts[1]},
        named_ones.list.size);
    const auto [named, marked] = counts.sums(on);
    if (named == 0) return std::nullopt;
    if (marked != named) {
      constexpr std::uint64_t each = core::marked_at_once;
      Lists::for_each(on, core::mark_rest<Key, RowId>{all, named_ones, marks.data()},
                      (all.size + each - 1) / each);
    }
    sorted left{{on, all.size - named}, {on, all.size - named}};
    Lists::select_unmarked(on, all, marks.data(), left);
    return left;
  }
};

}  // namespace raydex
