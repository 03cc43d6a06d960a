// SPDX-License-Identifier: Apache-2.0
/// @file
/// The layouts of ordered structures.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raydex/core/keys/entries.hpp"

namespace raydex {

/// How keys and row ids lie in memory.
enum class layout : std::uint8_t {
  column,  ///< an array of keys and an array of row ids (structure of arrays)
  row      ///< one array of (key, row id) entries, packed (array of structures)
};

/// Where the entries of a structure are: two arrays, or one of entries in `keys`.
struct entry_storage {
  const void* keys = nullptr;       ///< keys, or packed entries
  const void* row_ids = nullptr;    ///< row ids, or null
  layout entries = layout::column;  ///< which of the two
};

/// @cond
template <class Key, class RowId, layout Layout>
using entries_of = std::conditional_t<Layout == layout::column, core::column_entries<Key, RowId>,
                                      core::row_entries<Key, RowId>>;
/// @endcond

}  // namespace raydex
