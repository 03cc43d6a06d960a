// SPDX-License-Identifier: Apache-2.0
// A column made ready for an ordered structure. Each backend offers `sort_column`.
#pragma once

#include <cstdint>
#include <optional>

#include "raydex/column.hpp"
#include "raydex/memory.hpp"

namespace raydex {

// The keys that are not missing, encoded, in ascending order; equal keys by row id.
template <class Key, class RowId>
struct sorted_column {
  buffer<Key> keys;
  buffer<RowId> row_ids;
  std::uint64_t max_row_id = 0;  // of the column: its last row, or the largest explicit row id
};

// Throws invalid_argument where an explicit row id is not_found. `row_ids`, if given, holds as many
// cells of type RowId as `keys`. On cuda it synchronises if there are row ids or a validity mask.
namespace cpu {
template <class Key, class RowId>
sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                      const std::optional<column>& row_ids);
}
namespace cuda {
template <class Key, class RowId>
sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                      const std::optional<column>& row_ids);
}

}  // namespace raydex
