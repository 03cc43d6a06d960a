// SPDX-License-Identifier: Apache-2.0
/// @file
/// `sorted_array`: keys in ascending order with their row ids, searched by binary search.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// Options of `sorted_array`; by name as `options_of` and `raydex structures sorted_array` list
/// them.
struct sorted_array_options {
  /// Keys and row ids apart, so that a search reads keys only; `row` is in libraydex_papers.
  raydex::layout layout = raydex::layout::column;
  batch_schedule batch = {};  ///< how batches run on `cuda`
};

/// Keys in ascending order, rows of equal keys by row id (lightweight paper, section 3: AO + BS).
///
/// *Cost*: build: a radix sort of (key, row id) pairs; a point: log2 n reads of a key and one of a
/// row id; a range of h hits: log2 n + 2 log2 h reads of keys, and h of row ids except for `count`.
/// *Memory*: resident: key bytes + row-id bytes per entry, nothing more. Peak of the build: twice
/// that, and what a sort counts with, up to 0.2 bytes per entry on `cuda` and 2 KiB per 65,536 rows
/// on `cpu`; once that if the keys ascend, none is missing, and the layout is `column`.
/// *Stream*: the build synchronises, as it looks whether the keys ascend already.
///
/// *Edits*: the sort of the batch, one pass that merges it with the entries into a new copy of
/// them, one before that if it erases any, and nothing else. Memory beside the index: twice the
/// entries.
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
    using entries = entries_of<Key, RowId, Layout>;
    return core::sorted_array_view(entries::at(storage_.keys, storage_.row_ids),
                                   static_cast<RowId>(info().entries));
  }

 protected:
  /// For implementations.
  explicit sorted_array(memory_resource& upstream);

  /// Where the entries are. Set by the build.
  entry_storage storage_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids, layout entries) const;
};

/// Builds a `sorted_array`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<sorted_array> build_sorted_array(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const sorted_array_options& options = {});

}  // namespace raydex
