// SPDX-License-Identifier: Apache-2.0
// The tree of cache lines above ascending keys: that of a `pivot_tree`, or of one call of
// `search_sorted`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "raydex/memory.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/operations/lookups/fill_root.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// What leads to the leaves.
template <class Key>
struct line_tree {
  using quantised = core::quantised_node<Key>;
  static constexpr unsigned fan_out = core::line_pivots<Key> + 1;

  core::pivot_levels rounded;     // levels of quantised nodes
  core::pivot_levels exact;       // levels of pivots above these
  std::uint32_t root_pivots = 0;  // above all
  buffer<quantised> nodes;
  buffer<Key> pivots;
  buffer<std::byte> root;

  // The parts of a view of the tree.
  template <class View>
  typename View::parts parts() const {
    return {.root = core::root_node<Key>(root.data(), root_pivots),
            .exact = exact,
            .pivots = pivots.data(),
            .rounded = rounded,
            .nodes = nodes.data()};
  }
};

// How many levels of quantised nodes, from the leaves up, would lead next to no search to a child
// before its own. Looks at some nodes of each. Waits for the stream.
template <class Executor, class Entries>
unsigned levels_that_spread(const context& on, const Entries& all, std::uint64_t size,
                            const core::pivot_levels& levels) {
  using quantised = core::quantised_node<typename Entries::key_type>;
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
        on, core::count_misled<Entries>{child, all, size, every, misled.data() + begin}, count);
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

// Makes the tree above `size` ascending entries, one at least. Automatic nodes wait for the stream.
template <class Executor, class Entries>
auto grow_line_tree(const context& on, const Entries& all, std::uint64_t size, tree_nodes nodes) {
  using key = typename Entries::key_type;
  using tree = line_tree<key>;
  using root = core::root_node<key>;
  tree made;
  const std::uint64_t most_roots =
      1 + std::min<std::uint64_t>(root::most_pivots, Executor::fast_memory() * 2 / 3 / sizeof(key));
  const auto rounded = [&](unsigned most_levels) {
    return core::pivot_levels(size, core::line_entries, tree::quantised::fan_out, most_roots,
                              most_levels);
  };
  made.rounded = rounded(nodes == tree_nodes::exact ? 0 : core::pivot_levels::most);
  if (nodes == tree_nodes::automatic)
    made.rounded = rounded(levels_that_spread<Executor>(on, all, size, made.rounded));
  made.nodes = {on, made.rounded.nodes()};
  const core::place_nodes<Entries> place{made.rounded, all, size, made.nodes.data()};
  Executor::for_each(on, place, place.items());

  made.exact = {size, made.rounded.entries_per_root(), tree::fan_out, most_roots};
  made.pivots = {on, made.exact.size()};
  Executor::for_each(on, core::place_pivots<Entries>{made.exact, all, size, made.pivots.data()},
                     made.exact.size());

  made.root_pivots = static_cast<std::uint32_t>(made.exact.roots() - 1);
  made.root = {on, root::bytes(made.root_pivots)};
  if (made.root_pivots == 0) return made;
  Executor::for_each(on, typename root::template fill_scale<Entries>{all, size, made.root.data()},
                     1);
  const typename root::template fill<Entries> fill{all, size, made.exact.entries_per_root(),
                                                   made.root_pivots, made.root.data()};
  fill_root<Executor>(on, fill);
  return made;
}

}  // namespace raydex
