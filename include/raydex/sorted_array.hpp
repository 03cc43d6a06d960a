// SPDX-License-Identifier: Apache-2.0
/// @file
/// `sorted_array`: keys in ascending order with their row ids, searched by binary search.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/sorted_array.hpp"
#include "raydex/index.hpp"

namespace raydex {

/// How keys and row ids lie in memory.
enum class layout : std::uint8_t {
  column,  ///< an array of keys and an array of row ids (structure of arrays)
  row      ///< one array of (key, row id) entries, packed (array of structures)
};

/// Options of `sorted_array`; by name: `layout=column|row`.
struct sorted_array_options {
  layout entries = layout::column;  ///< keys and row ids apart, so that a search reads keys only
};

/// Keys in ascending order, rows of equal keys by row id (lightweight paper, section 3: AO + BS).
///
/// *Cost*: build: a radix sort of (key, row id) pairs; a point: log2 n reads of a key and one of a
/// row id; a range of h hits: log2 n + 2 log2 h reads of keys, and h of row ids except for `count`.
/// *Memory*: resident: key bytes + row-id bytes per entry, nothing more. Peak of the build: up
/// to about three times that on `cuda`, two and a half times for 32-bit unsigned keys with neither
/// missing ones nor row ids given; on `cpu` twice, and a histogram of 2 KiB per 65,536 rows.
/// *Stream*: the build synchronises only if the column has a validity mask or explicit row ids.
class RAYDEX_EXPORT sorted_array : public index {
 public:
  ~sorted_array() override;

  /// A view to search from the user's own code, inside a kernel on `cuda`. It stays valid as long
  /// as the index. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  /// @tparam Layout the layout that the index was built with
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId, layout Layout = layout::column>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64,
               Layout);
    if constexpr (Layout == layout::column) {
      return core::sorted_array_view(
          core::column_entries<Key, RowId>{static_cast<const Key*>(storage_.keys),
                                           static_cast<const RowId*>(storage_.row_ids)},
          static_cast<RowId>(info().entries));
    } else {
      return core::sorted_array_view(
          core::row_entries<Key, RowId>{static_cast<const std::uint32_t*>(storage_.keys)},
          static_cast<RowId>(info().entries));
    }
  }

 protected:
  /// For implementations.
  explicit sorted_array(memory_resource& upstream);

  /// Where the entries are: two arrays, or one of entries in `keys`.
  struct storage {
    const void* keys = nullptr;       ///< keys, or packed entries
    const void* row_ids = nullptr;    ///< row ids, or null
    layout entries = layout::column;  ///< which of the two
  };
  /// Set by the build.
  storage storage_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids, layout entries) const;
};

/// Builds a `sorted_array`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<sorted_array> build_sorted_array(
    backend where, const context& where_to, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const sorted_array_options& options = {});

}  // namespace raydex
