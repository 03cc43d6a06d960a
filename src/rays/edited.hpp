// SPDX-License-Identifier: Apache-2.0
// Sorted columns with a batch of insertions and deletions applied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "raydex/core/keys/edits.hpp"
#include "raydex/edits.hpp"
#include "raydex/index.hpp"
#include "src/interface/row_id_facts.hpp"
#include "src/lookups/sorted_column.hpp"
#include "src/rays/engine.hpp"

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

template <class Key, class RowId>
core::entry_names<Key, RowId> names_of(const sorted_edits<Key, RowId>& batch) {
  return {list_of(batch.erase), batch.by_row};
}

// Spread counts in the backend's memory.
template <std::size_t N, executor Executor>
class spread_counts {
  static constexpr std::size_t size = core::spread_count::size;

 public:
  explicit spread_counts(const context& on) : numbers_(on, N * size) {
    Executor::clear(on, numbers_.data(), numbers_.size());
  }
  core::spread_count operator[](std::size_t i) { return {numbers_.data() + i * size}; }

  // What each adds up to; synchronises, and allocates nothing.
  std::array<std::uint64_t, N> sums(const context& on) const {
    std::array<std::uint64_t, N * size> host;
    Executor::copy_out(on, host.data(), numbers_.data(), numbers_.bytes());
    std::array<std::uint64_t, N> sums;
    for (std::size_t i = 0; i < N; ++i)
      sums[i] = std::accumulate(&host[i * size], &host[i * size] + size, std::uint64_t{0});
    return sums;
  }

 private:
  buffer<std::uint64_t> numbers_;
};

// The entries of a list that another one does not name; nothing if that is all of them.
template <engine Engine, class Key, class RowId>
std::optional<sorted_column<Key, RowId>> without(const context& on,
                                                 const core::entry_list<Key, RowId>& list,
                                                 const core::entry_names<Key, RowId>& names) {
  using executor = typename Engine::executor;
  if (list.size == 0 || names.list.size == 0) return std::nullopt;
  buffer<std::uint8_t> marks(on, list.size);
  spread_counts<2, executor> counts(on);
  executor::clear(on, marks.data(), marks.size());
  executor::for_each(on,
                     core::mark_named<Key, RowId>{list, names, marks.data(), counts[0], counts[1]},
                     names.list.size);
  const auto [named, marked] = counts.sums(on);
  if (named == 0) return std::nullopt;
  if (marked != named) {
    constexpr std::uint64_t each = core::marked_at_once;
    executor::for_each(on, core::mark_rest<Key, RowId>{list, names, marks.data()},
                       (list.size + each - 1) / each);
  }
  sorted_column<Key, RowId> left{{on, list.size - named}, {on, list.size - named}};
  Engine::select_unmarked(on, list, marks.data(), left);
  return left;
}

template <engine Engine, class Key, class RowId>
sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch) {
  // Columns that say nothing may be of any format.
  const auto sorted = [&](const column& keys, const std::optional<column>& rows) {
    return keys.size == 0 ? sorted_column<Key, RowId>()
                          : Engine::template sort_column<Key, RowId>(on, keys, rows);
  };
  sorted_edits<Key, RowId> all{sorted(batch.insert, batch.insert_rows),
                               sorted(batch.erase, batch.erase_rows), batch.erase_rows.has_value()};
  if (!all.by_row) return all;
  auto inserted = without<Engine, Key, RowId>(on, list_of(all.insert), names_of(all));
  auto erased = without<Engine, Key, RowId>(on, list_of(all.erase), {list_of(all.insert), true});
  const std::uint64_t max_row_id = all.insert.max_row_id;
  if (inserted) all.insert = std::move(*inserted);
  if (erased) all.erase = std::move(*erased);
  all.insert.max_row_id = max_row_id;
  return all;
}

// Sorted entries with a batch applied; nothing if it changes nothing. Throws `unsupported` where
// there would be more than row ids of that width allow.
template <engine Engine, class Key, class RowId>
std::optional<sorted_column<Key, RowId>> edited(const context& on,
                                                const sorted_column<Key, RowId>& entries,
                                                const sorted_edits<Key, RowId>& batch) {
  auto changed = without<Engine, Key, RowId>(on, list_of(entries), names_of(batch));
  const core::entry_list<Key, RowId> left = list_of(changed ? *changed : entries);
  const core::entry_list<Key, RowId> added = list_of(batch.insert);
  if (added.size != 0) {
    check_room(left.size + added.size, not_found<RowId>);
    sorted_column<Key, RowId> merged{{on, left.size + added.size}, {on, left.size + added.size}};
    Engine::merge(on, left, added, merged);
    changed = std::move(merged);
  }
  return changed;
}

}  // namespace raydex
