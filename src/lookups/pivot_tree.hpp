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
template <class Key, class RowId, layout Layout, class Executor>
class built_line_tree final
    : public answering_in_order<pivot_tree, core::line_tree_view<entries_of<Key, RowId, Layout>>,
                                Executor> {
  using entries = entries_of<Key, RowId, Layout>;
  using column_entries = core::column_entries<Key, RowId>;
  using tree_view = core::line_tree_view<entries>;
  using quantised = typename tree_view::quantised;
  using root = core::root_node<Key>;

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
  // What leads to the leaves.
  struct grown {
    typename pivot_tree::tree_storage storage;
    buffer<quantised> nodes;
    buffer<Key> pivots;
    buffer<std::byte> root;
  };

  void hold(const context& on, sorted_column<Key, RowId> ordered) override {
    grown tree;
    if (ordered.keys.size() != 0)
      tree = grow(on, {ordered.keys.data(), ordered.row_ids.data()}, ordered.keys.size());
    auto leaves = lay_out<Layout, Executor>(on, std::move(ordered), core::line_entries);
    this->wait_before_replacing(on);
    entries_ = std::move(leaves);
    tree_of_leaves_ = std::move(tree);
    this->storage_ = entries_.storage();
    this->tree_ = tree_of_leaves_.storage;
  }

  core::strided_list<Key, RowId> list(const context& /*on*/,
                                      sorted_column<Key, RowId>& /*copy*/) const override {
    return list_of<Key, RowId>(this->storage_, this->info_.entries);
  }

  auto queried() const -> tree_view override {
    return this->template view<Key, RowId, Layout, tree_search::lines>();
  }

  // Builds the tree; keys apart from row ids are quicker to read.
  grown grow(const context& on, const column_entries& all, std::uint64_t size) const {
    grown made;
    auto& tree = made.storage;
    const std::uint64_t most_roots =
        1 +
        std::min<std::uint64_t>(root::most_pivots, Executor::fast_memory() * 2 / 3 / sizeof(Key));
    const auto rounded = [&](unsigned most_levels) {
      return core::pivot_levels(size, core::line_entries, quantised::fan_out, most_roots,
                                most_levels);
    };
    tree.rounded = rounded(nodes_option_ == tree_nodes::exact ? 0 : core::pivot_levels::most);
    if (nodes_option_ == tree_nodes::automatic)
      tree.rounded = rounded(levels_that_spread(on, all, size, tree.rounded));
    made.nodes = {on, tree.rounded.nodes()};
    const core::place_nodes<column_entries> place{tree.rounded, all, size, made.nodes.data()};
    Executor::for_each(on, place, place.items());
    tree.nodes = made.nodes.data();

    tree.levels = {size, tree.rounded.entries_per_root(), tree_view::fan_out, most_roots};
    made.pivots = {on, tree.levels.size()};
    Executor::for_each(
        on, core::place_pivots<column_entries>{tree.levels, all, size, made.pivots.data()},
        tree.levels.size());
    tree.pivots = made.pivots.data();

    tree.root_pivots = static_cast<std::uint32_t>(tree.levels.roots() - 1);
    made.root = {on, root::bytes(tree.root_pivots)};
    if (tree.root_pivots == 0) return made;
    Executor::for_each(
        on, typename root::template fill_scale<column_entries>{all, size, made.root.data()}, 1);
    const typename root::template fill<column_entries> fill{
        all, size, tree.levels.entries_per_root(), tree.root_pivots, made.root.data()};
    Executor::for_each(on, fill, fill.items());
    tree.root = made.root.data();
    return made;
  }

  // How many levels, from the leaves up, would lead next to no search to a child before its own.
  // Looks at some nodes of each.
  static unsigned levels_that_spread(const context& on, const column_entries& all,
                                     std::uint64_t size, const core::pivot_levels& levels) {
    if (levels.count() == 0) return 0;
    constexpr std::uint64_t most_looked_at = 1 << 11;
    constexpr std::uint64_t searches_a_misled_one = 128;
    struct look {
      std::uint64_t child;  // entries below one
      std::uint64_t end;    // of the numbers of this level
    };
    std::vector<look> looks;
    buffer<std::uint64_t> misled(on, levels.count() * most_looked_at * quantised::separators);
    std::uint64_t begin = 0;
    std::uint64_t child = levels.leaf();
    for (unsigned level = 0; level < levels.count(); ++level) {
      const std::uint64_t children = quantised::fan_out * child;
      const std::uint64_t nodes = (size - 1) / children + 1;
      const std::uint64_t every = (nodes - 1) / most_looked_at + 1;
      const std::uint64_t count = ((nodes - 1) / every + 1) * quantised::separators;
      Executor::for_each(
          on, core::count_misled<column_entries>{child, all, size, every, misled.data() + begin},
          count);
      begin += count;
      looks.push_back({child, begin});
      child = children;
    }
    Executor::inclusive_sum(on, misled.data(), begin);
    std::uint64_t before = 0;
    begin = 0;
    for (unsigned level = 0; level < levels.count(); ++level) {
      const auto [child_of_level, end] = looks[level];
      const std::uint64_t sum = Executor::read(on, misled.data() + end - 1);
      if ((sum - before) * searches_a_misled_one > (end - begin) * child_of_level) return level;
      before = sum;
      begin = end;
    }
    return levels.count();
  }

  tree_nodes nodes_option_;
  entry_buffer<Key, RowId, Layout> entries_;
  grown tree_of_leaves_;
};

template <tree_search Search, class Key, class RowId, class Executor>
std::unique_ptr<pivot_tree> make_pivot_tree(const index_info& info, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const pivot_tree_options& options) {
  const auto make = [&]<layout Layout>() -> std::unique_ptr<pivot_tree> {
    using built = std::conditional_t<Search == tree_search::lines,
                                     built_line_tree<Key, RowId, Layout, Executor>,
                                     built_group_tree<Key, RowId, Layout, Executor>>;
    return std::make_unique<built>(info, on, keys, row_ids, options);
  };
  return options.layout == layout::row ? make.template operator()<layout::row>()
                                       : make.template operator()<layout::column>();
}

}  // namespace raydex
