// SPDX-License-Identifier: Apache-2.0
/// @file
/// What builds of hash tables have in common, and how entries come out of them again.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/hashed_view.hpp"
#include "raydex/core/lookups/search.hpp"

namespace raydex::core {

/// Of ascending hashes the different ones, with the run of each. A thread has `hashes_at_once`.
template <class Key, class RowId>
struct different_hashes {
  static constexpr std::uint64_t hashes_at_once = 32;  ///< of a thread

  const Key* hashes;   ///< ascending
  std::uint64_t size;  ///< how many

  /// How many threads there are.
  RAYDEX_HD std::uint64_t threads() const { return (size + hashes_at_once - 1) / hashes_at_once; }

  /// Calls `take(i)` for each hash of a thread that differs from the one before.
  template <class Take>
  RAYDEX_HD void for_each(std::uint64_t thread, Take&& take) const {
    const std::uint64_t begin = thread * hashes_at_once;
    const std::uint64_t end = size - begin < hashes_at_once ? size : begin + hashes_at_once;
    for (std::uint64_t i = begin; i < end; ++i)
      if (i == 0 || hashes[i] != hashes[i - 1]) take(i);
  }
};

/// Counts the different ones of each thread.
template <class Key, class RowId>
struct count_different {
  different_hashes<Key, RowId> all;  ///< the hashes
  std::uint64_t* counts;             ///< a number a thread

  /// Counts those of a thread.
  RAYDEX_HD void operator()(std::uint64_t thread) const {
    std::uint64_t count = 0;
    all.for_each(thread, [&](std::uint64_t) { ++count; });
    counts[thread] = count;
  }
};

/// Lists the different ones: the hash, its first row id, and where its run begins.
template <class Key, class RowId>
struct list_different {
  different_hashes<Key, RowId> all;  ///< the hashes
  const RowId* rows;                 ///< their row ids
  const std::uint64_t* ends;         ///< counts, added up
  Key* hashes;                       ///< where to, as the next ones
  RowId* first_rows;                 ///< of each
  RowId* begins;                     ///< of each

  /// Lists those of a thread.
  RAYDEX_HD void operator()(std::uint64_t thread) const {
    std::uint64_t to = thread == 0 ? 0 : ends[thread - 1];
    all.for_each(thread, [&](std::uint64_t i) {
      hashes[to] = all.hashes[i];
      first_rows[to] = rows[i];
      begins[to] = static_cast<RowId>(i);
      ++to;
    });
  }
};

/// What is placed: different hashes, ascending, with a row id each, and the runs of their rows.
template <class Key, class RowId>
struct placed_entries {
  const Key* hashes = nullptr;    ///< ascending
  const RowId* rows = nullptr;    ///< the first row of each
  std::uint64_t size = 0;         ///< how many
  const RowId* begins = nullptr;  ///< where the runs begin; null: there are none
  std::uint64_t all_rows = 0;     ///< the length of all runs

  /// The run of entry `i`.
  RAYDEX_HD row_run<RowId> run(std::uint64_t i) const {
    const std::uint64_t end = i + 1 < size ? begins[i + 1] : all_rows;
    return {begins[i], static_cast<RowId>(end - begins[i])};
  }
};

/// Counts the entries of each part of a table.
template <class View>
struct count_part_entries {
  View view;              ///< the table
  std::uint64_t* counts;  ///< a number a part

  /// Counts those of part `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t count = 0;
    view.for_each_entry(i, [&](auto, auto, auto) { ++count; });
    counts[i] = count;
  }
};

/// Copies the entries of each part, and where their runs begin.
template <class View>
struct copy_part_entries {
  using row_id = typename View::row_id_type;  ///< a row id

  View view;                        ///< the table
  const std::uint64_t* ends;        ///< counts, added up
  typename View::key_type* hashes;  ///< where to
  row_id* rows;                     ///< where to: row ids, or the begins of runs

  /// Copies those of part `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t to = i == 0 ? 0 : ends[i - 1];
    view.for_each_entry(i, [&](auto hash, row_id row, std::uint64_t slot) {
      hashes[to] = hash;
      rows[to] = view.runs != nullptr ? view.runs[slot].begin : row;
      ++to;
    });
  }
};

/// Writes the hash of each row of a list, from the hashes of its runs.
template <class Key, class RowId>
struct repeat_hashes {
  const Key* of_runs;   ///< the hash of each run
  const RowId* begins;  ///< where it begins, ascending
  std::uint64_t runs;   ///< how many
  Key* hashes;          ///< where to

  /// Writes that of row `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const RowId after[1] = {static_cast<RowId>(i + 1)};  // fewer rows than row ids
    std::uint64_t run[1];
    lower_bounds([this](std::uint64_t r) { return begins[r]; }, runs, after, run);
    hashes[i] = of_runs[run[0] == 0 ? 0 : run[0] - 1];  // of a file, none may begin at 0
  }
};

}  // namespace raydex::core
