// SPDX-License-Identifier: Apache-2.0
// Whether keys repeat, and what a table by hash knows of those that do.
#pragma once

#include <cstdint>

#include "raydex/core/keys/edits.hpp"
#include "raydex/core/lookups/hash_build.hpp"
#include "raydex/memory.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

// How many ascending keys are equal to the one before; synchronises.
template <class Executor, class Key>
std::uint64_t count_repeated(const context& on, const Key* keys, std::uint64_t size) {
  if (size == 0) return 0;
  spread_counts<1, Executor> repeats(on);
  Executor::for_each(on, core::count_repeated<Key>{keys, repeats[0]}, size);
  return repeats.sums(on)[0];
}

// The different ones of ascending hashes.
template <class Key, class RowId>
struct different_hashes {
  buffer<Key> hashes;
  buffer<RowId> first_rows;
  buffer<RowId> begins;
};

template <class Executor, class Key, class RowId>
different_hashes<Key, RowId> list_different(const context& on,
                                            const sorted_column<Key, RowId>& entries,
                                            std::uint64_t count) {
  const core::different_hashes<Key, RowId> all{entries.keys.data(), entries.keys.size()};
  different_hashes<Key, RowId> made{{on, count}, {on, count}, {on, count}};
  buffer<std::uint64_t> ends(on, all.threads());
  Executor::for_each(on, core::count_different<Key, RowId>{all, ends.data()}, ends.size());
  Executor::inclusive_sum(on, ends.data(), ends.size());
  Executor::for_each(
      on,
      core::list_different<Key, RowId>{all, entries.row_ids.data(), ends.data(), made.hashes.data(),
                                       made.first_rows.data(), made.begins.data()},
      ends.size());
  return made;
}

// The hash of each of `size` rows: that of the run that it lies in.
template <class Executor, class Key, class RowId>
buffer<Key> repeat_hashes(const context& on, const sorted_column<Key, RowId>& runs,
                          std::uint64_t size) {
  buffer<Key> hashes(on, size);
  Executor::for_each(on,
                     core::repeat_hashes<Key, RowId>{runs.keys.data(), runs.row_ids.data(),
                                                     runs.keys.size(), hashes.data()},
                     size);
  return hashes;
}

}  // namespace raydex
