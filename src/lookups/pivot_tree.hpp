// SPDX-License-Identifier: Apache-2.0
// What the backends' pivot trees have in common: all but the sort.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "raydex/pivot_tree.hpp"
#include "src/lookups/answering.hpp"
#include "src/lookups/ordered_entries.hpp"

namespace raydex {

// The paper's tree.
template <class Key, class RowId, layout Layout, class Executor>
class built_group_tree final
    : public answering<pivot_tree, core::pivot_tree_view<entries_of<Key, RowId, Layout>>,
                       Executor> {
  using entries = entries_of<Key, RowId, Layout>;

 public:
  template <class Sort>
  built_group_tree(const index_info& info, const context& on, const pivot_tree_options& options,
                   Sort&& sort)
      : built_group_tree::answering(on.memory, plan_of(options.batch, {.threads = 256})) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    sorted_column<Key, RowId> sorted = sort(own);
    const std::uint64_t size = sorted.keys.size();
    this->info_.entries = size;
    this->info_.max_row_id = sorted.max_row_id;
    core::pivot_levels levels;
    std::uint64_t leaf = options.k - 1;
    if (size != 0) {
      // Without the lowest levels a leaf holds what their nodes would have divided.
      levels = {size, leaf, options.k, 1};
      for (const unsigned most = options.levels.value_or(core::pivot_levels::most);
           levels.count() > most;) {
        leaf *= options.k;
        levels = {size, leaf, options.k, 1};
      }
    }
    pivots_ = {own, levels.size()};
    Executor::for_each(
        own,
        core::place_pivots<core::column_entries<Key, RowId>>{
            levels, {sorted.keys.data(), sorted.row_ids.data()}, size, pivots_.data()},
        levels.size());
    entries_ = lay_out<Layout, Executor>(own, std::move(sorted), 1);
    sorted = {};
    this->storage_ = entries_.storage();
    this->tree_.search = tree_search::groups;
    this->tree_.levels = levels;
    this->tree_.pivots = pivots_.data();
    this->measure();
  }

 private:
  auto queried() const -> core::pivot_tree_view<entries> override {
    return this->template view<Key, RowId, Layout, tree_search::groups>();
  }
  entry_buffer<Key, RowId, Layout> entries_;
  buffer<Key> pivots_;
};

// The tree made of cache lines.
template <class Key, class RowId, layout Layout, class Executor>
class built_line_tree final
    : public answering<pivot_tree, core::line_tree_view<entries_of<Key, RowId, Layout>>, Executor> {
  using entries = entries_of<Key, RowId, Layout>;
  using column_entries = core::column_entries<Key, RowId>;
  using tree_view = core::line_tree_view<entries>;
  using quantised = typename tree_view::quantised;
  using root = core::root_node<Key>;

 public:
  template <class Sort>
  built_line_tree(const index_info& info, const context& on, const pivot_tree_options& options,
                  Sort&& sort)
      : built_line_tree::answering(on.memory, plan_of(options.batch, {.schedule = scheduling::fixed,
                                                                      .threads = 1024,
                                                                      .lookups = 4,
                                                                      .pin = pinning::full})) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    {
      sorted_column<Key, RowId> sorted = sort(own);
      this->info_.entries = sorted.keys.size();
      this->info_.max_row_id = sorted.max_row_id;
      if (this->info_.entries != 0) {
        grow(own, {sorted.keys.data(), sorted.row_ids.data()}, options.nodes);
      }
      entries_ = lay_out<Layout, Executor>(own, std::move(sorted), core::line_entries);
    }
    this->storage_ = entries_.storage();
    this->measure();
  }

 private:
  auto queried() const -> tree_view override {
    return this->template view<Key, RowId, Layout, tree_search::lines>();
  }

  // Builds the tree; keys apart from row ids are quicker to read.
  void grow(const context& on, const column_entries& all, tree_nodes nodes) {
    const std::uint64_t size = this->info_.entries;
    auto& tree = this->tree_;
    tree.search = tree_search::lines;

    const std::uint64_t most_roots =
        1 +
        std::min<std::uint64_t>(root::most_pivots, Executor::fast_memory() * 2 / 3 / sizeof(Key));
    const auto rounded = [&](unsigned most_levels) {
      return core::pivot_levels(size, core::line_entries, quantised::fan_out, most_roots,
                                most_levels);
    };
    tree.rounded = rounded(nodes == tree_nodes::exact ? 0 : core::pivot_levels::most);
    if (nodes == tree_nodes::automatic)
      tree.rounded = rounded(levels_that_spread(on, all, tree.rounded));
    nodes_ = {on, tree.rounded.nodes()};
    const core::place_nodes<column_entries> place{tree.rounded, all, size, nodes_.data()};
    Executor::for_each(on, place, place.items());
    tree.nodes = nodes_.data();

    tree.levels = {size, tree.rounded.entries_per_root(), tree_view::fan_out, most_roots};
    pivots_ = {on, tree.levels.size()};
    Executor::for_each(on,
                       core::place_pivots<column_entries>{tree.levels, all, size, pivots_.data()},
                       tree.levels.size());
    tree.pivots = pivots_.data();

    tree.root_pivots = static_cast<std::uint32_t>(tree.levels.roots() - 1);
    root_ = {on, root::bytes(tree.root_pivots)};
    if (tree.root_pivots == 0) return;
    Executor::for_each(
        on, typename root::template fill_scale<column_entries>{all, size, root_.data()}, 1);
    const typename root::template fill<column_entries> fill{
        all, size, tree.levels.entries_per_root(), tree.root_pivots, root_.data()};
    Executor::for_each(on, fill, fill.items());
    tree.root = root_.data();
  }

  // How many levels, from the leaves up, would lead next to no search to a child before its own.
  // Looks at some nodes of each.
  unsigned levels_that_spread(const context& on, const column_entries& all,
                              const core::pivot_levels& levels) {
    if (levels.count() == 0) return 0;
    constexpr std::uint64_t most_looked_at = 1 << 11;
    constexpr std::uint64_t searches_a_misled_one = 128;
    const std::uint64_t size = this->info_.entries;
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

  entry_buffer<Key, RowId, Layout> entries_;
  buffer<quantised> nodes_;
  buffer<Key> pivots_;
  buffer<std::byte> root_;
};

// Builds with a backend's `sort(own)` and executor.
template <tree_search Search, class Key, class RowId, class Executor, class Sort>
std::unique_ptr<pivot_tree> make_pivot_tree(const index_info& info, const context& on,
                                            const pivot_tree_options& options, Sort&& sort) {
  const auto make = [&]<layout Layout>() -> std::unique_ptr<pivot_tree> {
    using built = std::conditional_t<Search == tree_search::lines,
                                     built_line_tree<Key, RowId, Layout, Executor>,
                                     built_group_tree<Key, RowId, Layout, Executor>>;
    return std::make_unique<built>(info, on, options, sort);
  };
  return options.layout == layout::row ? make.template operator()<layout::row>()
                                       : make.template operator()<layout::column>();
}

}  // namespace raydex
