// SPDX-License-Identifier: Apache-2.0
// The tree of cache lines above ascending keys: that of a `pivot_tree`, or of one call of
// `search_sorted`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "raydex/core/lookups/tree_build.hpp"
#include "raydex/memory.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/operations/lookups/fill_root.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// What leads to the leaves.
template <class Key>
struct line_tree {
  using quantised = core::quantised_node<Key>;
  using narrow = core::narrow_node<Key>;
  static constexpr unsigned fan_out = core::line_pivots<Key> + 1;

  core::pivot_levels lowest;      // a level of narrow nodes, or none
  core::pivot_levels rounded;     // levels of quantised nodes above it
  core::pivot_levels exact;       // levels of pivots above these
  std::uint32_t root_pivots = 0;  // above all
  buffer<narrow> narrow_nodes;
  buffer<quantised> nodes;
  buffer<Key> pivots;
  buffer<std::byte> root;

  std::uint64_t resident_bytes() const {
    return narrow_nodes.bytes() + nodes.bytes() + pivots.bytes() + root.bytes();
  }
  // The parts of a view of the tree.
  template <class View>
  typename View::parts parts() const {
    return {.root = core::root_node<Key>(root.data(), root_pivots),
            .exact = exact,
            .pivots = pivots.data(),
            .rounded = rounded,
            .nodes = nodes.data(),
            .lowest = narrow_nodes.data()};
  }
};

// Which levels round, from the leaves up.
struct rounding {
  bool narrow;         // a level of narrow nodes, if there is one at all
  unsigned quantised;  // levels of quantised nodes, or as many as there are

  bool operator==(const rounding&) const = default;
};

// Children of a root that fits fast memory.
template <class Key, class Executor>
std::uint64_t most_roots_of() {
  return 1 + std::min<std::uint64_t>(core::root_node<Key>::most_pivots,
                                     Executor::fast_memory() * 2 / 3 / sizeof(Key));
}

// Decides which nodes there are above so many entries.
template <class Key>
void plan_line_tree(line_tree<Key>& tree, std::uint64_t size, std::uint64_t most_roots,
                    const rounding& by) {
  using made = line_tree<Key>;
  tree.lowest = {size, core::line_entries, made::narrow::fan_out, most_roots, by.narrow ? 1U : 0U};
  tree.rounded = {size, tree.lowest.entries_per_root(), made::quantised::fan_out, most_roots,
                  by.quantised};
  tree.exact = {size, tree.rounded.entries_per_root(), made::fan_out, most_roots};
  tree.root_pivots = static_cast<std::uint32_t>(tree.exact.roots() - 1);
}

// Counts, in some nodes of each level that rounds, the searches that they would lead to a child
// before its own.
template <class Executor, class Entries>
class misled_searches {
 public:
  misled_searches(const context& on, const Entries& all, std::uint64_t size,
                  const core::pivot_levels& lowest, const core::pivot_levels& rounded)
      : narrow_(lowest.count()), sums_(on, narrow_ + rounded.count()) {
    if (sums_.size() == 0) return;
    Executor::clear(on, sums_.data(), sums_.size());
    add<core::narrow_separators<Entries>>(on, all, size, lowest);
    add<core::quantised_separators<Entries>>(on, all, size, rounded);
  }

  // The levels that lead next to no search astray, of those that were counted. Waits for the
  // stream.
  rounding right_ones(const context& on) const {
    std::vector<std::uint64_t> sums(sums_.size());
    if (!sums.empty()) Executor::copy_out(on, sums.data(), sums_.data(), sums_.bytes());
    const auto spreads = [&](std::size_t level, std::uint64_t searches_a_misled_one) {
      return sums[level] * searches_a_misled_one <= searches_[level];
    };
    // Narrow nodes are for columns that gain more than a few second looks cost. Without them all
    // levels are others, and nothing is known of them yet.
    if (narrow_ != 0 && !spreads(0, 16)) return {false, core::pivot_levels::most};
    rounding right{narrow_ != 0, 0};
    while (narrow_ + right.quantised < sums.size() && spreads(narrow_ + right.quantised, 128))
      ++right.quantised;
    return right;
  }

 private:
  template <class Separators>
  void add(const context& on, const Entries& all, std::uint64_t size,
           const core::pivot_levels& levels) {
    using node = typename Separators::node;
    constexpr std::uint64_t most_looked_at = 1 << 11;
    std::uint64_t child = levels.leaf();
    for (unsigned level = 0; level < levels.count(); ++level) {
      const std::uint64_t nodes = (size - 1) / (node::fan_out * child) + 1;
      const std::uint64_t every = (nodes - 1) / most_looked_at + 1;
      const std::uint64_t looks = ((nodes - 1) / every + 1) * node::separators;
      Executor::for_each_alone(
          on,
          core::count_misled<Separators>{child, all, size, every, sums_.data() + searches_.size()},
          looks);
      searches_.push_back(looks * child);
      child *= node::fan_out;
    }
  }

  unsigned narrow_;
  buffer<std::uint64_t> sums_;
  std::vector<std::uint64_t> searches_;
};

// Writes a tree whose levels that round are planned: their nodes, the pivots above them, the root.
template <class Executor, class Entries>
void place_line_tree(const context& on, const Entries& all, std::uint64_t size,
                     line_tree<typename Entries::key_type>& to) {
  using root = core::root_node<typename Entries::key_type>;
  to.narrow_nodes = {on, to.lowest.nodes()};
  const core::place_narrow_nodes<Entries> narrow{to.lowest, all, size, to.narrow_nodes.data()};
  Executor::for_each(on, narrow, narrow.items());
  to.nodes = {on, to.rounded.nodes()};
  const core::place_nodes<Entries> quantised{to.rounded, all, size, to.nodes.data()};
  Executor::for_each(on, quantised, quantised.items());

  to.pivots = {on, to.exact.size()};
  Executor::for_each(on, core::place_pivots<Entries>{to.exact, all, size, to.pivots.data()},
                     to.exact.size());

  to.root = {on, root::bytes(to.root_pivots)};
  if (to.root_pivots == 0) return;
  Executor::for_each(on, typename root::template fill_scale<Entries>{all, size, to.root.data()}, 1);
  const typename root::template fill<Entries> fill{all, size, to.exact.entries_per_root(),
                                                   to.root_pivots, to.root.data()};
  fill_root<Executor>(on, fill);
}

// Makes the tree above `size` ascending entries, one at least. Automatic nodes wait for the stream.
// The lowest level is narrow if it outgrows the cache; larger leaves leave less of it.
template <class Executor, class Entries>
auto grow_line_tree(const context& on, const Entries& all, std::uint64_t size, tree_nodes nodes) {
  using key = typename Entries::key_type;
  using tree = line_tree<key>;
  const std::uint64_t most_roots = most_roots_of<key, Executor>();
  const auto planned = [&](const rounding& by) {
    tree made;
    plan_line_tree(made, size, most_roots, by);
    return made;
  };

  // Bytes of the lowest level if it is quantised.
  const std::uint64_t lowest =
      size / (core::line_entries * tree::quantised::fan_out) * sizeof(typename tree::quantised);
  const bool outgrows = lowest > Executor::node_cache() / core::leaf_bytes<Entries> * 64;
  tree made = planned({nodes == tree_nodes::narrow || (nodes == tree_nodes::automatic && outgrows),
                       nodes == tree_nodes::exact ? 0 : core::pivot_levels::most});
  if (nodes != tree_nodes::automatic) {
    place_line_tree<Executor>(on, all, size, made);
    return made;
  }
  // The tree is made as if all levels were right, and made again if some are not: so the host waits
  // but once for nearly all columns.
  for (;;) {
    const misled_searches<Executor, Entries> misled(on, all, size, made.lowest, made.rounded);
    place_line_tree<Executor>(on, all, size, made);
    const rounding right = misled.right_ones(on);
    if (right == rounding{made.lowest.count() != 0, made.rounded.count()}) return made;
    made = planned(right);
  }
}

// Keeps a tree above so many entries, one at least. False if the nodes of a file are not to be
// trusted, or for fast memory of another size: then it is to be grown.
template <class Executor, class Key>
bool keep_line_tree(const context& own, kept_memory& file, std::uint64_t size,
                    line_tree<Key>& tree) {
  std::uint64_t most_roots = most_roots_of<Key, Executor>();
  std::uint32_t narrow = tree.lowest.count();
  std::uint32_t quantised = tree.rounded.count();
  file.number("roots", most_roots);
  file.number("narrow levels", narrow, 1);
  file.number("quantised levels", quantised, core::pivot_levels::most);
  if (file.loads()) {
    if (file.verifies() || most_roots != most_roots_of<Key, Executor>()) return false;
    plan_line_tree(tree, size, most_roots, {narrow != 0, quantised});
  }
  file.array<Executor>("narrow nodes", own, tree.narrow_nodes, tree.lowest.nodes());
  file.array<Executor>("quantised nodes", own, tree.nodes, tree.rounded.nodes());
  file.array<Executor>("pivots", own, tree.pivots, tree.exact.size());
  file.array<Executor>("root", own, tree.root, core::root_node<Key>::bytes(tree.root_pivots));
  return true;
}

}  // namespace raydex
