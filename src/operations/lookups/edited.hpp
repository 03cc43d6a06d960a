// SPDX-License-Identifier: Apache-2.0
// Sorted columns with a batch of insertions and deletions applied. Each backend offers `sort_edits`
// and `edited`.
#pragma once

#include <optional>

#include "raydex/core/keys/edits.hpp"
#include "raydex/edits.hpp"
#include "src/interface/internal.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex {

// A batch, sorted, without pairs that are both inserted and erased.
template <class Key, class RowId>
struct sorted_edits {
  sorted_column<Key, RowId> insert;
  sorted_column<Key, RowId> erase;
  bool by_row;  // whether row ids of what is erased count
};

template <class Key, class RowId>
core::entry_names<Key, RowId> names_of(const sorted_edits<Key, RowId>& batch) {
  return {list_of(batch.erase), batch.by_row};
}

// `edited`: sorted entries with a batch applied; nothing if it changes nothing. Throws
// `unsupported` where there would be more than row ids of that width allow.
namespace cpu {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                                    const entry_order& order);
template <class Key, class RowId>
RAYDEX_INTERNAL std::optional<sorted_column<Key, RowId>> edited(
    const context& on, const core::strided_list<Key, RowId>& entries,
    const sorted_edits<Key, RowId>& batch);
}  // namespace cpu
namespace cuda {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                                    const entry_order& order);
template <class Key, class RowId>
RAYDEX_INTERNAL std::optional<sorted_column<Key, RowId>> edited(
    const context& on, const core::strided_list<Key, RowId>& entries,
    const sorted_edits<Key, RowId>& batch);
}  // namespace cuda

}  // namespace raydex
