// SPDX-License-Identifier: Apache-2.0
// What the backends' sorted arrays have in common.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "raydex/sorted_array.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"

namespace raydex {

template <class Key, class RowId, layout Layout, class Executor>
class built_sorted_array final
    : public built_ordered_index<
          sorted_array, core::sorted_array_view<entries_of<Key, RowId, Layout>>, Executor> {
 public:
  built_sorted_array(const index_info& info, const context& on, const column& keys,
                     const std::optional<column>& row_ids, const sorted_array_options& options)
      : built_sorted_array::built_ordered_index(
            info, on, plan_of(options.batch, {.threads = 512, .lookups = 2})) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  void hold(const context& on, sorted_column<Key, RowId> entries) override {
    auto placed = lay_out<Layout, Executor>(on, std::move(entries), 1);
    this->wait_before_replacing(on);
    entries_ = std::move(placed);
    this->storage_ = entries_.storage();
  }

  void do_keep(const context& own, kept_memory& file) override {
    keep_entries<Executor>(own, file, this->info_, entries_, [&] {
      this->storage_ = entries_.storage();
      return queried();
    });
  }

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> core::sorted_array_view<entries_of<Key, RowId, Layout>> override {
    return this->template view<Key, RowId, Layout>();
  }
  entry_buffer<Key, RowId, Layout> entries_;
};

template <class Executor>
std::unique_ptr<sorted_array> make_sorted_array(const index_info& info, const context& on,
                                                const column& keys,
                                                const std::optional<column>& row_ids,
                                                const sorted_array_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<sorted_array> {
    return std::make_unique<built_sorted_array<Key, RowId, layout::column, Executor>>(
        info, on, keys, row_ids, options);
  });
}

// With layout=row, for libraydex_papers.
template <class Executor>
std::unique_ptr<sorted_array> make_row_array(const index_info& info, const context& on,
                                             const column& keys,
                                             const std::optional<column>& row_ids,
                                             const sorted_array_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<sorted_array> {
    return std::make_unique<built_sorted_array<Key, RowId, layout::row, Executor>>(
        info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
