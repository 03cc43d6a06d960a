// SPDX-License-Identifier: Apache-2.0
// What the backends' sorted arrays have in common: all but the sort.
#pragma once

#include <memory>
#include <utility>

#include "raydex/sorted_array.hpp"
#include "src/lookups/answering.hpp"
#include "src/lookups/ordered_entries.hpp"

namespace raydex {

template <class Key, class RowId, layout Layout, class Executor>
class built_sorted_array final
    : public answering<sorted_array, core::sorted_array_view<entries_of<Key, RowId, Layout>>,
                       Executor> {
 public:
  template <class Sort>
  built_sorted_array(const index_info& info, const context& on, const sorted_array_options& options,
                     Sort&& sort)
      : built_sorted_array::answering(on.memory,
                                      plan_of(options.batch, {.threads = 512, .lookups = 2})) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    {
      sorted_column<Key, RowId> sorted = sort(own);
      this->info_.entries = sorted.keys.size();
      this->info_.max_row_id = sorted.max_row_id;
      entries_ = lay_out<Layout, Executor>(own, std::move(sorted), 1);
    }
    this->storage_ = entries_.storage();
    this->measure();
  }

 private:
  auto queried() const -> core::sorted_array_view<entries_of<Key, RowId, Layout>> override {
    return this->template view<Key, RowId, Layout>();
  }
  entry_buffer<Key, RowId, Layout> entries_;
};

// Builds with a backend's `sort(own)` and executor.
template <class Key, class RowId, class Executor, class Sort>
std::unique_ptr<sorted_array> make_sorted_array(const index_info& info, const context& on,
                                                const sorted_array_options& options, Sort&& sort) {
  if (options.layout == layout::row) {
    return std::make_unique<built_sorted_array<Key, RowId, layout::row, Executor>>(info, on,
                                                                                   options, sort);
  }
  return std::make_unique<built_sorted_array<Key, RowId, layout::column, Executor>>(info, on,
                                                                                    options, sort);
}

}  // namespace raydex
