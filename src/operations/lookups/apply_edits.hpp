// SPDX-License-Identifier: Apache-2.0
// How a batch of edits is sorted, and merged with sorted entries. `Lists` is an executor that also
// handles lists of entries: `select_unmarked(on, list, marks, to)` copies those without a mark, of
// which `to` has room for all, and `merge(on, a, b, to)` merges two of them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "raydex/index.hpp"
#include "src/interface/row_id_facts.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

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
