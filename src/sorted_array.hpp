// SPDX-License-Identifier: Apache-2.0
// What the backends' sorted arrays have in common: all but the sort.
#pragma once

#include <memory>
#include <utility>

#include "answering.hpp"
#include "raydex/sorted_array.hpp"
#include "sorted_column.hpp"

namespace raydex {

namespace cpu {
std::unique_ptr<sorted_array> build(const index_info& info, const context& where_to,
                                    const column& keys, const std::optional<column>& row_ids,
                                    const sorted_array_options& options);
}
namespace cuda {
std::unique_ptr<sorted_array> build(const index_info& info, const context& where_to,
                                    const column& keys, const std::optional<column>& row_ids,
                                    const sorted_array_options& options);
}

// Packs columns into entries.
template <class Key, class RowId>
struct pack_entries {
  const Key* keys;
  const RowId* row_ids;
  std::uint32_t* entries;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    core::row_entries<Key, RowId>::put(entries, i, keys[i], row_ids[i]);
  }
};

template <class Key, class RowId, class Executor>
class column_sorted_array final
    : public answering<sorted_array, core::sorted_array_view<core::column_entries<Key, RowId>>,
                       Executor> {
 public:
  template <class Sort>
  column_sorted_array(const index_info& info, const context& where_to, Sort&& sort)
      : column_sorted_array::answering(where_to.memory) {
    this->info_ = info;
    entries_ = sort(context{this->memory(), where_to.stream});
    this->info_.entries = entries_.keys.size();
    this->info_.max_row_id = entries_.max_row_id;
    this->storage_ = {entries_.keys.data(), entries_.row_ids.data(), layout::column};
    this->measure();
  }

 private:
  auto queried() const -> core::sorted_array_view<core::column_entries<Key, RowId>> override {
    return this->template view<Key, RowId, layout::column>();
  }
  sorted_column<Key, RowId> entries_;
};

template <class Key, class RowId, class Executor>
class row_sorted_array final
    : public answering<sorted_array, core::sorted_array_view<core::row_entries<Key, RowId>>,
                       Executor> {
 public:
  template <class Sort>
  row_sorted_array(const index_info& info, const context& where_to, Sort&& sort)
      : row_sorted_array::answering(where_to.memory) {
    this->info_ = info;
    const context where{this->memory(), where_to.stream};
    {
      const sorted_column<Key, RowId> sorted = sort(where);
      const std::uint64_t size = sorted.keys.size();
      entries_ = {where, size * core::row_entries<Key, RowId>::words_per_entry};
      Executor::for_each(
          where,
          pack_entries<Key, RowId>{sorted.keys.data(), sorted.row_ids.data(), entries_.data()},
          size);
      this->info_.entries = size;
      this->info_.max_row_id = sorted.max_row_id;
    }
    this->storage_ = {entries_.data(), nullptr, layout::row};
    this->measure();
  }

 private:
  auto queried() const -> core::sorted_array_view<core::row_entries<Key, RowId>> override {
    return this->template view<Key, RowId, layout::row>();
  }
  buffer<std::uint32_t> entries_;
};

// Builds with a backend's `sort(where)` and executor.
template <class Key, class RowId, class Executor, class Sort>
std::unique_ptr<sorted_array> make_sorted_array(const index_info& info, const context& where_to,
                                                layout entries, Sort&& sort) {
  if (entries == layout::row) {
    return std::make_unique<row_sorted_array<Key, RowId, Executor>>(info, where_to, sort);
  }
  return std::make_unique<column_sorted_array<Key, RowId, Executor>>(info, where_to, sort);
}

}  // namespace raydex
