// SPDX-License-Identifier: Apache-2.0
// The entries of a cgRX over a sorted column, in any of its layouts.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "raydex/cgrx.hpp"
#include "raydex/core/keys/entries.hpp"
#include "src/operations/lookups/ordered_entries.hpp"

namespace raydex {

// Owns entries, and says where they are: in the sorted column that it was given, or in rows.
template <class Key, class RowId, class Executor>
class bucket_entries {
  using sorted = sorted_column<Key, RowId>;
  // The narrower number of an entry is widened.
  using aligned = std::conditional_t<(sizeof(Key) > sizeof(RowId)), Key, RowId>;

 public:
  bucket_entries() = default;
  // Takes a sorted column over. Rows are copied from it; it is there until `drop_column`.
  bucket_entries(const context& on, sorted&& column, cgrx_layout layout)
      : column_(std::move(column)),
        size_(column_.keys.size()),
        entries_{{column_.keys.data()}, {column_.row_ids.data()}} {
    if (size_ == 0) return;
    if (layout == cgrx_layout::aligned) copy_to_rows<aligned, aligned>(on);
    if (layout == cgrx_layout::packed) copy_to_rows<Key, RowId>(on);
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t max_row_id() const { return column_.max_row_id; }
  const core::strided_entries<Key, RowId>& entries() const { return entries_; }
  core::strided_list<Key, RowId> list() const { return {entries_.keys, entries_.row_ids, size_}; }
  // The sorted column that it was given.
  const sorted& column() const { return column_; }
  // The same, for as long as `copy` stays: where entries are in rows, they are copied to there.
  const sorted& column(const context& on, sorted& copy) const {
    if (rows_.size() == 0) return column_;
    copy = {{on, size_}, {on, size_}, column_.max_row_id};
    const put_columns<Key, RowId> put{copy.keys.data(), copy.row_ids.data()};
    Executor::for_each(on,
                       copy_entries<core::strided_entries<Key, RowId>, put_columns<Key, RowId>>{
                           entries_, size_, put},
                       size_);
    return copy;
  }
  // Frees the sorted column where entries are in rows.
  void drop_column() {
    if (rows_.size() == 0) return;
    column_.keys = {};
    column_.row_ids = {};
  }

 private:
  template <class RowKey, class RowOfKey>
  void copy_to_rows(const context& on) {
    using put = put_rows<RowKey, RowOfKey>;
    constexpr auto words = core::row_entries<RowKey, RowOfKey>::words_per_entry;
    rows_ = {on, size_ * words};
    const core::column_entries<Key, RowId> from{column_.keys.data(), column_.row_ids.data()};
    Executor::for_each(
        on, copy_entries<core::column_entries<Key, RowId>, put>{from, size_, {rows_.data()}},
        size_);
    const std::uint32_t* const first = rows_.data();
    entries_ = {{first, 4 * words}, {first + sizeof(RowKey) / 4, 4 * words}};
  }

  sorted column_;
  buffer<std::uint32_t> rows_;
  std::uint64_t size_ = 0;
  core::strided_entries<Key, RowId> entries_;
};

}  // namespace raydex
