// SPDX-License-Identifier: Apache-2.0
// What the backends' eytzinger structures have in common.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "raydex/eytzinger.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"

namespace raydex {

// Copies the entries of a view by rank.
template <class View>
struct copy_ranked {
  using position = typename View::row_id_type;

  View view;
  typename View::key_type* keys;
  position* row_ids;
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    keys[rank] = view.key(static_cast<position>(rank));
    row_ids[rank] = view.row_id(static_cast<position>(rank));
  }
};

template <class Key, class RowId, layout Layout, class Executor>
class built_eytzinger final
    : public built_ordered_index<eytzinger, core::eytzinger_view<entries_of<Key, RowId, Layout>>,
                                 Executor> {
  using view_type = core::eytzinger_view<entries_of<Key, RowId, Layout>>;
  using sorted = sorted_column<Key, RowId>;

 public:
  built_eytzinger(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const eytzinger_options& options)
      : built_eytzinger::built_ordered_index(info, on, plan_of(options.batch, {.threads = 256})) {
    this->fan_out_ = options.k;
    this->fill(on.stream, keys, row_ids);
  }

 private:
  void hold(const context& on, sorted entries) override {
    using from = core::column_entries<Key, RowId>;
    const std::uint64_t size = entries.keys.size();
    entry_buffer<Key, RowId, Layout> placed(on, size);
    const auto put = placed.put();
    Executor::for_each(on,
                       core::place_eytzinger<from, std::remove_const_t<decltype(put)>>{
                           {static_cast<RowId>(size), this->fan_out_},
                           {entries.keys.data(), entries.row_ids.data()},
                           put},
                       size);
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

  core::strided_list<Key, RowId> list(const context& on, sorted& copy) const override {
    const view_type all = queried();
    copy = {{on, all.size()}, {on, all.size()}};
    Executor::for_each(on, copy_ranked<view_type>{all, copy.keys.data(), copy.row_ids.data()},
                       all.size());
    return strided(list_of(copy));
  }

  view_type queried() const override { return this->template view<Key, RowId, Layout>(); }
  entry_buffer<Key, RowId, Layout> entries_;
};

template <class Executor>
std::unique_ptr<eytzinger> make_eytzinger(const index_info& info, const context& on,
                                          const column& keys, const std::optional<column>& row_ids,
                                          const eytzinger_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<eytzinger> {
    if (options.layout == layout::row)
      return std::make_unique<built_eytzinger<Key, RowId, layout::row, Executor>>(info, on, keys,
                                                                                  row_ids, options);
    return std::make_unique<built_eytzinger<Key, RowId, layout::column, Executor>>(
        info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
