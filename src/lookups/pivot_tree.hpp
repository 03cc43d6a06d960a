// SPDX-License-Identifier: Apache-2.0
// What the backends' pivot trees have in common.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/pivot_tree.hpp"
#include "src/lookups/answering_in_order.hpp"
#include "src/lookups/line_tree.hpp"

namespace raydex {

// The paper's tree.
template <class Key, class RowId, layout Layout, class Executor>
class built_group_tree final
    : public answering_in_order<pivot_tree, core::pivot_tree_view<entries_of<Key, RowId, Layout>>,
                                Executor> {
  using entries = entries_of<Key, RowId, Layout>;

 public:
  built_group_tree(const index_info& info, const context& on, const column& keys,
                   const std::optional<column>& row_ids, const pivot_tree_options& options)
      : built_group_tree::answering_in_order(info, on, plan_of(options.batch, {.threads = 256})),
        k_(options.k),
        most_levels_(options.levels.value_or(core::pivot_levels::most)) {
    this->tree_.search = tree_search::groups;
    this->fill(on.stream, keys, row_ids);
  }

 private:
  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    const std::uint64_t size = ordered.keys.size();
    core::pivot_levels levels;
    std::uint64_t leaf = k_ - 1;
    if (size != 0) {
      // Without the lowest levels a leaf holds what their nodes would have divided.
      levels = {size, leaf, k_, 1};
      while (levels.count() > most_levels_) {
        leaf *= k_;
        levels = {size, leaf, k_, 1};
      }
    }
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

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> core::pivot_tree_view<entries> override {
    return this->template view<Key, RowId, Layout, tree_search::groups>();
  }

  unsigned k_;
  unsigned most_levels_;
  entry_buffer<Key, RowId, Layout> entries_;
  buffer<Key> pivots_;
};

// The tree made of cache lines.
template <class Key, class RowId, class Executor>
class built_line_tree final
    : public answering_in_order<pivot_tree, core::line_tree_view<core::row_entries<Key, RowId>>,
                                Executor> {
  using tree_view = core::line_tree_view<core::row_entries<Key, RowId>>;

 public:
  built_line_tree(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const pivot_tree_options& options)
      : built_line_tree::answering_in_order(info, on,
                                            plan_of(options.batch, {.schedule = scheduling::fixed,
                                                                    .threads = 1024,
                                                                    .lookups = 4,
                                                                    .pin = pinning::full})),
        nodes_option_(options.nodes) {
    this->fill(on.stream, keys, row_ids);
  }

 private:
  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    line_tree<Key> tree;
    if (ordered.keys.size() != 0) {
      // Keys apart from row ids are quicker to read.
      const core::column_entries<Key, RowId> all{ordered.keys.data(), ordered.row_ids.data()};
      tree = grow_line_tree<Executor>(on, all, ordered.keys.size(), nodes_option_);
    }
    auto leaves = lay_out<layout::row, Executor>(on, std::move(ordered), core::line_entries);
    this->wait_before_replacing(on);
    entries_ = std::move(leaves);
    tree_of_leaves_ = std::move(tree);
    this->storage_ = entries_.storage();
    this->tree_ = {.search = tree_search::lines,
                   .levels = tree_of_leaves_.exact,
                   .pivots = tree_of_leaves_.pivots.data(),
                   .root = tree_of_leaves_.root.data(),
                   .root_pivots = tree_of_leaves_.root_pivots,
                   .rounded = tree_of_leaves_.rounded,
                   .nodes = tree_of_leaves_.nodes.data()};
  }

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> tree_view override {
    return this->template view<Key, RowId, layout::row, tree_search::lines>();
  }

  tree_nodes nodes_option_;
  entry_buffer<Key, RowId, layout::row> entries_;
  line_tree<Key> tree_of_leaves_;
};

template <class Key, class RowId, class Executor>
std::unique_ptr<pivot_tree> make_line_tree(const index_info& info, const context& on,
                                           const column& keys, const std::optional<column>& row_ids,
                                           const pivot_tree_options& options) {
  return std::make_unique<built_line_tree<Key, RowId, Executor>>(info, on, keys, row_ids, options);
}

template <class Key, class RowId, class Executor>
std::unique_ptr<pivot_tree> make_group_tree(const index_info& info, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const pivot_tree_options& options) {
  const auto make = [&]<layout Layout>() -> std::unique_ptr<pivot_tree> {
    return std::make_unique<built_group_tree<Key, RowId, Layout, Executor>>(info, on, keys, row_ids,
                                                                            options);
  };
  return options.layout == layout::row ? make.template operator()<layout::row>()
                                       : make.template operator()<layout::column>();
}

}  // namespace raydex
