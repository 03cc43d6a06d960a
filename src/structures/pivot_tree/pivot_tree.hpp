// SPDX-License-Identifier: Apache-2.0
// The tree whose nodes are cache lines.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_ordered_index.hpp"
#include "src/operations/lookups/line_tree.hpp"

namespace raydex {

template <class Key, class RowId, layout Layout, class Executor>
class built_line_tree final
    : public built_ordered_index<pivot_tree, core::line_tree_view<entries_of<Key, RowId, Layout>>,
                                 Executor> {
  using leaf_entries = entries_of<Key, RowId, Layout>;
  using leaf_buffer = entry_buffer<Key, RowId, Layout>;

 public:
  built_line_tree(const index_info& info, const context& on, const column& keys,
                  const std::optional<column>& row_ids, const pivot_tree_options& options)
      : built_line_tree::built_ordered_index(info, on,
                                             plan_of(options.batch, {.schedule = scheduling::fixed,
                                                                     .threads = 1024,
                                                                     .lookups = 4,
                                                                     .pin = pinning::full})),
        nodes_option_(options.nodes) {
    const context own{this->memory(), on.stream};
    if constexpr (Layout == layout::keys) {
      const std::uint64_t size = keys.size;
      hold(own, ascending_leaves(own, keys, row_ids), size);
      this->filled(size, size == 0 ? 0 : size - 1);
    } else if constexpr (Executor::template sorts_rows<Key, RowId>) {
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
  static std::uint64_t padded_to_leaves(std::uint64_t size) {
    return (size + core::line_entries - 1) / core::line_entries * core::line_entries;
  }

  // The leaves of a column whose row ids are ranks.
  leaf_buffer ascending_leaves(const context& on, const column& keys,
                               const std::optional<column>& row_ids) const {
    if (row_ids || keys.validity != nullptr) {
      throw unsupported(
          "option layout: keys is for columns without missing keys or row ids of their own");
    }
    const std::uint64_t padded = padded_to_leaves(keys.size);
    leaf_buffer leaves(on, padded);
    spread_counts<1, Executor> descents(on);
    const put_leaves<Key> put{{cells_of(keys)}, keys.size, leaves.put().keys};
    Executor::for_each(on, put_ascending<Key>{put, descents[0]}, padded);
    if (descents.sums(on)[0] != 0)
      throw unsupported("option layout: keys is for ascending columns; this one is not");
    return leaves;
  }

  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    const std::uint64_t size = ordered.keys.size();
    if constexpr (Layout == layout::keys) {
      spread_counts<1, Executor> others(on);
      Executor::for_each(on, count_other_rows<RowId>{ordered.row_ids.data(), others[0]}, size);
      if (others.sums(on)[0] != 0) {
        throw unsupported(
            "edit: with layout=keys, row ids are ranks; after this edit they would not be");
      }
    }
    hold(on, lay_out<Layout, Executor>(on, std::move(ordered), core::line_entries), size);
  }
  void hold(const context& on, leaf_buffer leaves, std::uint64_t size) {
    line_tree<Key> tree;
    if (size != 0) {
      const auto all = leaf_entries::at(leaves.storage().keys, nullptr);
      tree = grow_line_tree<Executor>(on, all, size, nodes_option_);
    }
    this->wait_before_replacing(on);
    entries_ = std::move(leaves);
    tree_of_leaves_ = std::move(tree);
    look_at_held();
  }
  void look_at_held() {
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

  void do_keep(const context& own, kept_memory& file) override {
    const std::uint64_t size = this->info_.entries;
    const std::uint64_t padded = padded_to_leaves(size);
    entries_.template keep<Executor>(own, file, padded);
    if (size == 0) return;
    const bool is_whole = keep_line_tree<Executor>(own, file, size, tree_of_leaves_);
    if (!file.loads()) return;
    if (is_whole) return look_at_held();
    const entry_storage where = entries_.storage();
    check_entries_of<Executor>(file, "keys", own, leaf_entries::at(where.keys, where.row_ids), size,
                               padded, this->info_.max_row_id);
    hold(own, std::move(entries_), size);
  }

  core::strided_list<Key, RowId> list(const context& on,
                                      sorted_column<Key, RowId>& copy) const override {
    if constexpr (Layout == layout::keys) {
      const std::uint64_t size = this->info_.entries;
      copy.row_ids = {on, size};
      Executor::for_each(on, put_ranks<RowId>{copy.row_ids.data()}, size);
      return {{this->storage_.keys}, {copy.row_ids.data()}, size};
    } else {
      return list_of<Key, RowId>(this->storage_, this->info_.entries);
    }
  }

  auto queried() const -> core::line_tree_view<leaf_entries> override {
    return this->template view<Key, RowId, Layout, tree_search::lines>();
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
    if (options.layout == layout::keys) {
      return std::make_unique<built_line_tree<Key, RowId, layout::keys, Executor>>(
          info, on, keys, row_ids, options);
    }
    return std::make_unique<built_line_tree<Key, RowId, layout::row, Executor>>(info, on, keys,
                                                                                row_ids, options);
  });
}

}  // namespace raydex
