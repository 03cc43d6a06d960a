// SPDX-License-Identifier: Apache-2.0
// Entries in a file: what they are before a search may trust them.
#pragma once

#include <cstdint>
#include <utility>

#include "src/interface/kept_memory.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

// Counts entries that no build writes: keys that descend, row ids beyond the largest one, and
// padding, from `size` on, that a search would take for a match.
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
    const bool ascends = i == 0 || entries.key(at - 1) <= own;
    wrong.add(i, ascends && entries.row_id(at) <= max_row_id ? 0 : 1);
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
