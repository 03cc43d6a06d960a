// SPDX-License-Identifier: Apache-2.0
// What the backends' eytzinger structures have in common: all but the sort.
#pragma once

#include <memory>
#include <utility>

#include "raydex/eytzinger.hpp"
#include "src/lookups/answering.hpp"
#include "src/lookups/ordered_entries.hpp"

namespace raydex {

template <class Key, class RowId, layout Layout, class Executor>
class built_eytzinger final
    : public answering<eytzinger, core::eytzinger_view<entries_of<Key, RowId, Layout>>, Executor> {
 public:
  template <class Sort>
  built_eytzinger(const index_info& info, const context& on, const eytzinger_options& options,
                  Sort&& sort)
      : built_eytzinger::answering(on.memory, plan_of(options.batch, {.threads = 256})) {
    this->info_ = info;
    this->fan_out_ = options.k;
    const context own{this->memory(), on.stream};
    {
      const sorted_column<Key, RowId> sorted = sort(own);
      const std::uint64_t size = sorted.keys.size();
      this->info_.entries = size;
      this->info_.max_row_id = sorted.max_row_id;
      entries_ = {own, size};
      using from = core::column_entries<Key, RowId>;
      const auto put = entries_.put();
      Executor::for_each(own,
                         core::place_eytzinger<from, std::remove_const_t<decltype(put)>>{
                             {static_cast<RowId>(size), options.k},
                             {sorted.keys.data(), sorted.row_ids.data()},
                             put},
                         size);
    }
    this->storage_ = entries_.storage();
    this->measure();
  }

 private:
  auto queried() const -> core::eytzinger_view<entries_of<Key, RowId, Layout>> override {
    return this->template view<Key, RowId, Layout>();
  }
  entry_buffer<Key, RowId, Layout> entries_;
};

// Builds with a backend's `sort(own)` and executor.
template <class Key, class RowId, class Executor, class Sort>
std::unique_ptr<eytzinger> make_eytzinger(const index_info& info, const context& on,
                                          const eytzinger_options& options, Sort&& sort) {
  if (options.layout == layout::row) {
    return std::make_unique<built_eytzinger<Key, RowId, layout::row, Executor>>(info, on, options,
                                                                                sort);
  }
  return std::make_unique<built_eytzinger<Key, RowId, layout::column, Executor>>(info, on, options,
                                                                                 sort);
}

}  // namespace raydex
