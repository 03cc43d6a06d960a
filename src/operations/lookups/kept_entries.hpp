// SPDX-License-Identifier: Apache-2.0
// Entries in a file: what they are before a search may trust them.
#pragma once

#include <cstdint>
#include <utility>

#include "raydex/index.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

// Counts entries that no build writes: keys that descend, and rows of equal ones, row ids beyond
// the largest one, and padding, from `size` on, that a search would take for a match.
template <class Entries>
struct count_wrong_entries {
  using key = typename Entries::key_type;
  using row_id = typename Entries::row_id_type;

  Entries entries;
  std::uint64_t size;
  row_id max_row_id;
  core::spread_count wrong;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto at = static_cast<row_id>(i);
    const key own = entries.key(at);
    if (i >= size) {
      wrong.add(i, own == static_cast<key>(-1) && pads(entries.row_id(at), at) ? 0 : 1);
      return;
    }
    const row_id row = entries.row_id(at);
    bool ascends = true;
    if (i != 0) {
      const key before = entries.key(at - 1);
      ascends = before < own || (before == own && entries.row_id(at - 1) <= row);
    }
    wrong.add(i, ascends && row <= max_row_id ? 0 : 1);
  }

 private:
  RAYDEX_HD static bool pads(row_id row, [[maybe_unused]] row_id at) {
    if constexpr (requires { requires Entries::are_ranked; }) return row == at;
    return row == static_cast<row_id>(-1);
  }
};

// Refuses entries of a file that were not built; those from `size` on are padding.
template <class Executor, class Entries>
void check_entries_of(const kept_memory& file, const char* name, const context& on,
                      const Entries& entries, std::uint64_t size, std::uint64_t padded,
                      std::uint64_t max_row_id) {
  spread_counts<1, Executor> wrong(on);
  Executor::for_each(
      on,
      count_wrong_entries<Entries>{
          entries, size, static_cast<typename Entries::row_id_type>(max_row_id), wrong[0]},
      padded);
  file.check(name, wrong.sums(on)[0] == 0);
}

// Keeps entries that a view has by rank, and checks those of a file. f() has the view look at what
// was loaded.
template <class Executor, class Entries, class F>
void keep_entries(const context& own, kept_memory& file, const index_info& info, Entries& entries,
                  const F& f) {
  entries.template keep<Executor>(own, file, info.entries);
  if (!file.loads()) return;
  const auto view = f();
  if (file.verifies())
    check_entries_of<Executor>(file, "keys", own, view, info.entries, info.entries,
                               info.max_row_id);
}

// Copies the entries of a view by rank.
template <class View>
struct copy_ranked_entries {
  View view;
  typename View::key_type* keys;
  typename View::row_id_type* rows;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto rank = static_cast<typename View::row_id_type>(i);
    keys[i] = view.key(rank);
    rows[i] = view.row_id(rank);
  }
};

// Counts numbers that are larger than one.
template <class Number>
struct count_larger {
  const Number* numbers;
  Number most;
  core::spread_count larger;
  RAYDEX_HD void operator()(std::uint64_t i) const { larger.add(i, numbers[i] > most ? 1 : 0); }
};

template <class Executor, class Number>
void check_numbers_of(const kept_memory& file, const char* name, const context& on,
                      const buffer<Number>& all, std::uint64_t most) {
  spread_counts<1, Executor> larger(on);
  Executor::for_each(on, count_larger<Number>{all.data(), static_cast<Number>(most), larger[0]},
                     all.size());
  file.check(name, larger.sums(on)[0] == 0);
}

// What a structure takes that is built again over the entries of a file: these, checked, and in
// order, whatever the file says of that.
template <class Executor, class Key, class RowId>
sorted_column<Key, RowId> checked_entries(const kept_memory& file, const char* name,
                                          const context& own, const buffer<Key>& keys,
                                          const buffer<RowId>& rows, std::uint64_t max_row_id) {
  check_numbers_of<Executor>(file, name, own, rows, max_row_id);
  auto all = Executor::template sort_column<Key, RowId>(own, column(keys), column(rows));
  all.max_row_id = max_row_id;
  return all;
}

// Sorted entries of structures that are built over them again.
template <class Executor, class Key, class RowId>
void save_sorted(const context& own, kept_memory& file, const sorted_column<Key, RowId>& all) {
  file.array<Executor>("keys", own, all.keys);
  file.array<Executor>("row ids", own, all.row_ids);
}
template <class Executor, class Key, class RowId>
sorted_column<Key, RowId> load_sorted(const context& own, kept_memory& file, std::uint64_t size,
                                      std::uint64_t max_row_id) {
  sorted_column<Key, RowId> all;
  file.array<Executor>("keys", own, all.keys, size);
  file.array<Executor>("row ids", own, all.row_ids, size);
  all.max_row_id = max_row_id;
  if (file.verifies()) {
    const core::column_entries<Key, RowId> entries{all.keys.data(), all.row_ids.data()};
    check_entries_of<Executor>(file, "keys", own, entries, size, size, max_row_id);
  }
  return all;
}

}  // namespace raydex
