// SPDX-License-Identifier: Apache-2.0
// A column as it was given, for structures that keep its order, whereas `sort_column` sorts it.
// Each backend offers `take_column`.
#pragma once

#include <cstdint>
#include <optional>

#include "raydex/column.hpp"
#include "raydex/memory.hpp"
#include "src/interface/internal.hpp"

namespace raydex {

// The keys that are not missing, encoded, in the order of the column.
template <class Key, class RowId>
struct given_column {
  buffer<Key> keys;
  buffer<RowId> row_ids;         // none where they are the numbers of the keys
  std::uint64_t max_row_id = 0;  // as of a sorted_column
};

// Throws as `sort_column` does. On cuda it synchronises if there are row ids or missing keys.
namespace cpu {
template <class Key, class RowId>
RAYDEX_INTERNAL given_column<Key, RowId> take_column(const context& on, const column& keys,
                                                     const std::optional<column>& row_ids);
}
namespace cuda {
template <class Key, class RowId>
RAYDEX_INTERNAL given_column<Key, RowId> take_column(const context& on, const column& keys,
                                                     const std::optional<column>& row_ids);
}

}  // namespace raydex
