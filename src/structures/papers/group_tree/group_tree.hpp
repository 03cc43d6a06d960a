// SPDX-License-Identifier: Apache-2.0
// The lightweight paper's tree, whose nodes have K - 1 pivots: pivot_tree with search=groups.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "raydex/pivot_tree.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"
#include "src/operations/lookups/ordered_entries.hpp"
#include "src/structures/pivot_tree/group_levels.hpp"

namespace raydex {

template <class Key, class RowId, layout Layout, class Executor>
class built_group_tree final
    : public built_ordered_index<pivot_tree, core::pivot_tree_view<entries_of<Key, RowId, Layout>>,
                                 Executor> {
  using entries = entries_of<Key, RowId, Layout>;

 public:
  built_group_tree(const index_info& info, const context& on, const column& keys,
                   const std::optional<column>& row_ids, const pivot_tree_options& options)
      : built_group_tree::built_ordered_index(info, on, plan_of(options.batch, {.threads = 256})),
        options_(options) {
    this->tree_.search = tree_search::groups;
    this->fill(on.stream, keys, row_ids);
  }

 private:
  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    const std::uint64_t size = ordered.keys.size();
    const core::pivot_levels levels = group_levels(size, options_);
    buffer<Key> pivots(on, levels.size());
    Executor::for_each(
        on,
        core::place_pivots<core::column_entries<Key, RowId>>{
            levels, {ordered.keys.data(), ordered.row_ids.data()}, size, pivots.data()},
        levels.size());
    auto leaves = lay_out<Layout, Executor>(on, std::move(ordered), 1);
    this->wait_before_replacing(on);
    entries_ = std::move(leaves);
    pivots_ = std::move(pivots);
    this->storage_ = entries_.storage();
    this->tree_.levels = levels;
    this->tree_.pivots = pivots_.data();
  }

  void do_keep(const context& own, kept_memory& file) override {
    const std::uint64_t size = this->info_.entries;
    entries_.template keep<Executor>(own, file, size);
    if (!file.loads()) return file.array<Executor>("pivots", own, std::as_const(pivots_));
    this->storage_ = entries_.storage();
    this->tree_.levels = group_levels(size, options_);
    const auto leaves = entries::at(this->storage_.keys, this->storage_.row_ids);
    if (file.verifies()) {
      check_entries_of<Executor>(file, "keys", own, leaves, size, size, this->info_.max_row_id);
      pivots_ = {own, this->tree_.levels.size()};
      Executor::for_each(
          own, core::place_pivots<entries>{this->tree_.levels, leaves, size, pivots_.data()},
          pivots_.size());
    } else {
      file.array<Executor>("pivots", own, pivots_, this->tree_.levels.size());
    }
    this->tree_.pivots = pivots_.data();
  }

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> core::pivot_tree_view<entries> override {
    return this->template view<Key, RowId, Layout, tree_search::groups>();
  }

  pivot_tree_options options_;
  entry_buffer<Key, RowId, Layout> entries_;
  buffer<Key> pivots_;
};

template <class Executor>
std::unique_ptr<pivot_tree> make_group_tree(const index_info& info, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const pivot_tree_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<pivot_tree> {
    if (options.layout == layout::row)
      return std::make_unique<built_group_tree<Key, RowId, layout::row, Executor>>(
          info, on, keys, row_ids, options);
    return std::make_unique<built_group_tree<Key, RowId, layout::column, Executor>>(
        info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
