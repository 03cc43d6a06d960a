// SPDX-License-Identifier: Apache-2.0
// The tree of lines in all its shapes, those of the largest columns too: as many levels as a small
// root leaves, any number of them quantised.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "pivot_tree/hard_keys.hpp"
#include "raydex/core/entries.hpp"
#include "raydex/core/pivot_tree.hpp"

namespace raydex::core {
namespace {

template <class Key>
class line_tree {
  using entries = column_entries<Key, std::uint32_t>;
  using view_type = line_tree_view<entries>;
  using quantised = typename view_type::quantised;

 public:
  // With `rounded` levels of quantised nodes at most.
  line_tree(const std::vector<Key>& keys, unsigned rounded, std::uint64_t most_roots)
      : size_(static_cast<std::uint32_t>(keys.size())), keys_(keys), rows_(keys.size()) {
    std::iota(rows_.begin(), rows_.end(), 1000U);
    const std::uint64_t padded = (keys.size() + line_entries - 1) / line_entries * line_entries;
    keys_.resize(padded, std::numeric_limits<Key>::max());
    rows_.resize(padded, std::numeric_limits<std::uint32_t>::max());
    const entries all{keys_.data(), rows_.data()};
    const pivot_levels below(keys.size(), line_entries, quantised::fan_out, most_roots, rounded);
    nodes_.resize(below.nodes());
    const place_nodes<entries> place_node{below, all, size_, nodes_.data()};
    for (std::uint64_t i = 0; i < place_node.items(); ++i)
      place_node(i);
    const pivot_levels levels(keys.size(), below.entries_per_root(), view_type::fan_out,
                              most_roots);
    pivots_.resize(levels.size());
    const place_pivots<entries> place{levels, all, size_, pivots_.data()};
    for (std::uint64_t i = 0; i < levels.size(); ++i)
      place(i);
    const auto root_pivots = static_cast<std::uint32_t>(levels.roots() - 1);
    root_.resize(root_node<Key>::bytes(root_pivots) / 8 + 1);
    auto* root = reinterpret_cast<std::byte*>(root_.data());
    if (root_pivots != 0) {
      using node = root_node<Key>;
      const typename node::template fill_scale<entries> fill_scale{all, size_, root};
      fill_scale(0);
      const typename node::template fill<entries> fill{all, size_, levels.entries_per_root(),
                                                       root_pivots, root};
      for (std::uint64_t i = 0; i < fill.items(); ++i)
        fill(i);
    }
    parts_ = {.root = {root, root_pivots},
              .exact = levels,
              .pivots = pivots_.data(),
              .rounded = below,
              .nodes = nodes_.data()};
  }
  line_tree(const line_tree&) = delete;
  line_tree& operator=(const line_tree&) = delete;

  view_type view() const { return {{keys_.data(), rows_.data()}, size_, parts_}; }

 private:
  std::uint32_t size_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> rows_;
  std::vector<quantised> nodes_;
  std::vector<Key> pivots_;
  std::vector<std::uint64_t> root_;
  typename view_type::parts parts_{};
};

template <class Key>
void check(const std::vector<Key>& keys, std::mt19937_64& random) {
  const auto probes = test::hard_probes(keys, 400, random);
  for (const unsigned rounded : {0U, 1U, 2U, pivot_levels::most}) {
    for (const std::uint64_t most_roots : {1UL, 5UL, 0x1'0000UL}) {
      SCOPED_TRACE("at most " + std::to_string(rounded) + " quantised levels and " +
                   std::to_string(most_roots) + " roots");
      const line_tree<Key> tree(keys, rounded, most_roots);
      const auto view = tree.view();
      for (std::size_t i = 0; i < probes.size(); ++i) {
        const Key wanted = probes[i];
        const auto lower = std::lower_bound(keys.begin(), keys.end(), wanted);
        const auto rank = static_cast<std::uint32_t>(lower - keys.begin());
        const auto found = view.locate(wanted);
        ASSERT_EQ(found.rank, rank) << "of " << wanted;
        const bool hit = lower != keys.end() && *lower == wanted;
        ASSERT_EQ(found.rank < keys.size() && found.hit, hit) << "of " << wanted;
        ASSERT_EQ(view.find(wanted), hit ? 1000 + rank : 0xffff'ffff) << "of " << wanted;
        const Key other = probes[(i + 7) % probes.size()];
        const auto upper = std::upper_bound(keys.begin(), keys.end(), other);
        ASSERT_EQ(view.count({wanted, other}), other < wanted ? 0 : upper - lower)
            << "from " << wanted << " to " << other;
      }
    }
  }
}

template <class Key>
class line_trees : public testing::Test {};
using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(line_trees, widths);

TYPED_TEST(line_trees, find_what_lower_bound_does) {
  auto random = test::generator();
  // Around full leaves and full nodes of both kinds.
  for (const std::size_t size : {1UL, 8UL, 9UL, 16UL, 17UL, 231UL, 232UL, 233UL, 247UL, 248UL,
                                 249UL, 1768UL, 2040UL, 5003UL, 6729UL, 7689UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size) + " keys");
      check<TypeParam>(keys, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(line_trees, find_what_lower_bound_does_among_many_keys) {
  if (test::small_scale()) GTEST_SKIP() << "a large column";
  auto random = test::generator();
  for (const auto& [name, keys] : test::hard_keys<TypeParam>(300'000, random)) {
    SCOPED_TRACE(name);
    check<TypeParam>(keys, random);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace raydex::core
