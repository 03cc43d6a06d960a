// SPDX-License-Identifier: Apache-2.0
// The tree whose nodes are cache lines.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/pivot_tree.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"
#include "src/operations/lookups/line_tree.hpp"

namespace raydex {

template <class Key, class RowId, class Executor>
class built_line_tree final
    : public built_ordered_index<pivot_tree, core::line_tree_view<core::row_entries<Key, RowId>>,
                                 Executor> {
  using tree_view = core::line_tree_view<core::row_entries<Key, RowId>>;

 public:
  built_line_tree(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const pivot_tree_options& options)
      : built_line_tree::built_ordered_index(info, on,
                                             plan_of(options.batch, {.schedule = scheduling::fixed,
                                                                     .threads = 1024,
                                                                     .lookups = 4,
                                                                     .pin = pinning::full})),
        nodes_option_(options.nodes) {
    if constexpr (Executor::template sorts_rows<Key, RowId>) {
      const context own{this->memory(), on.stream};
      auto leaves = Executor::sort_rows(own, keys, row_ids, core::line_entries);
      const std::uint64_t size = leaves.size;
      const std::uint64_t max_row_id = leaves.max_row_id;
      hold(own, leaf_buffer(std::move(leaves)), size);
      this->filled(size, max_row_id);
    } else {
      this->fill(on.stream, keys, row_ids);
    }
  }

 private:
  using leaf_buffer = entry_buffer<Key, RowId, layout::row>;

  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    const std::uint64_t size = ordered.keys.size();
    hold(on, lay_out<layout::row, Executor>(on, std::move(ordered), core::line_entries), size);
  }
  void hold(const context& on, leaf_buffer leaves, std::uint64_t size) {
    line_tree<Key> tree;
    if (size != 0) {
      const auto all = core::row_entries<Key, RowId>::at(leaves.storage().keys, nullptr);
      tree = grow_line_tree<Executor>(on, all, size, nodes_option_);
    }
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
                   .nodes = tree_of_leaves_.nodes.data(),
                   .lowest = tree_of_leaves_.narrow_nodes.data()};
  }

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> tree_view override {
    return this->template view<Key, RowId, layout::row, tree_search::lines>();
  }

  tree_nodes nodes_option_;
  leaf_buffer entries_;
  line_tree<Key> tree_of_leaves_;
};

template <class Executor>
std::unique_ptr<pivot_tree> make_pivot_tree(const index_info& info, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const pivot_tree_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<pivot_tree> {
    return std::make_unique<built_line_tree<Key, RowId, Executor>>(info, on, keys, row_ids,
                                                                   options);
  });
}

}  // namespace raydex
