// SPDX-License-Identifier: Apache-2.0
// A column made ready for an ordered structure. Each backend offers `sort_column`.
#pragma once

#include <cstdint>
#include <optional>

#include "raydex/column.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/memory.hpp"
#include "src/interface/internal.hpp"

namespace raydex {

// What entries are sorted by: a key, or a hash that stands in its place.
enum class entry_order : std::uint8_t { by_key, by_hash };

// The keys that are not missing, encoded, in ascending order; equal keys by row id.
template <class Key, class RowId>
struct sorted_column {
  buffer<Key> keys;
  buffer<RowId> row_ids;
  std::uint64_t max_row_id = 0;  // of the column: its last row, or the largest explicit row id
};

template <class Key, class RowId>
core::entry_list<Key, RowId> list_of(const sorted_column<Key, RowId>& entries) {
  return {entries.keys.data(), entries.row_ids.data(), entries.keys.size()};
}

// The same entries, for what takes any layout.
template <class Key, class RowId>
core::strided_list<Key, RowId> strided(const core::entry_list<Key, RowId>& list) {
  return {{list.keys}, {list.row_ids}, list.size};
}

// Throws invalid_argument where an explicit row id is not_found. `row_ids`, if given, holds as many
// cells of type RowId as `keys`. Keys that ascend are not sorted again. On cuda it synchronises.
namespace cpu {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                                      const std::optional<column>& row_ids,
                                                      entry_order order);
}
namespace cuda {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                                      const std::optional<column>& row_ids,
                                                      entry_order order);
}

}  // namespace raydex
