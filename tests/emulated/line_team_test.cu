// SPDX-License-Identifier: Apache-2.0
// Four threads search trees of lines together, in all shapes that an index has only for millions of
// entries: levels of pivots above levels of quantised nodes; many of these mislead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/lookups/run.cuh"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/line_tree.hpp"
#include "tests/lookups/pivot_tree/hard_keys.hpp"
#include "tests/lookups/pivot_tree/line_tree.hpp"

namespace raydex {
namespace {

// The most levels of narrow nodes and of quantised ones.
constexpr std::pair<unsigned, unsigned> shapes[] = {
    {0, 0}, {0, 1}, {0, core::pivot_levels::most}, {1, 0}, {1, core::pivot_levels::most}};

// Ways of a batch through a kernel: probes read ahead, alone or in turns.
std::vector<batch_plan> plans() {
  return {{.schedule = scheduling::fixed,
           .threads = 128,
           .lookups = 3,
           .pin = pinning::full,
           .chosen = true},
          {.schedule = scheduling::dynamic, .threads = 256, .chosen = true}};
}

template <class Entries>
class line_team : public testing::Test {
 protected:
  using key = typename Entries::key_type;
  using row_id = typename Entries::row_id_type;
  using tree = test::line_tree<Entries>;
  using view = typename tree::view_type;

  void check(const std::vector<key>& keys, std::mt19937_64& random) const {
    const auto lower = test::hard_probes(keys, 150, random);
    auto upper = lower;
    std::rotate(upper.begin(), upper.begin() + 9, upper.end());
    // Every third probe is missing, for the path that is not for plain probes.
    std::vector<std::uint8_t> valid(lower.size() / 8 + 1);
    for (std::size_t i = 0; i < lower.size(); ++i)
      if (i % 3 != 0) valid[i / 8] = static_cast<std::uint8_t>(valid[i / 8] | 1U << (i % 8));
    const auto lower_there = at_.upload(lower);
    const auto upper_there = at_.upload(upper);
    const auto valid_there = at_.upload(valid);
    for (const auto& [narrow, rounded] : shapes) {
      for (const std::uint64_t most_roots : {1UL, 6UL}) {
        const tree grown(keys, narrow, rounded, most_roots);
        for (const batch_plan& plan : plans()) {
          SCOPED_TRACE(std::to_string(narrow) + " narrow and " + std::to_string(rounded) +
                       " quantised levels, " + std::to_string(most_roots) + " roots, " +
                       std::to_string(plan.threads) + " threads");
          const auto all = rows(grown.view(), plan, column(lower_there));
          const auto some = rows(grown.view(), plan, column(lower_there, valid_there.data()));
          buffer<std::uint64_t> counts(at_, lower.size());
          cuda::executor::run(
              at_, plan,
              core::locate_rows<view>{
                  grown.view(), probes_of<key>(ranges(column(lower_there), column(upper_there))),
                  counts.data()});
          const auto counted = at_.download(counts);
          for (std::size_t i = 0; i < lower.size(); ++i) {
            const auto begin = std::lower_bound(keys.begin(), keys.end(), lower[i]);
            const auto end = std::upper_bound(keys.begin(), keys.end(), upper[i]);
            const bool hit = begin != keys.end() && *begin == lower[i];
            const row_id row = hit ? tree::row_of(static_cast<std::size_t>(begin - keys.begin()))
                                   : not_found<row_id>;
            ASSERT_EQ(all[i], row) << "of " << lower[i];
            ASSERT_EQ(some[i], i % 3 != 0 ? row : not_found<row_id>) << "of " << lower[i];
            ASSERT_EQ(counted[i], upper[i] < lower[i] ? 0 : end - begin)
                << "from " << lower[i] << " to " << upper[i];
          }
        }
      }
    }
  }

 private:
  std::vector<row_id> rows(const view& where, const batch_plan& plan, const column& cells) const {
    buffer<row_id> found(at_, cells.size);
    cuda::executor::run(
        at_, plan, core::first_of_points<view>{where, probes_of<key>(points(cells)), found.data()});
    return at_.download(found);
  }

  session at_{backend::cuda};
};

// A GPU whose L2 holds few nodes, so that small columns have narrow ones, and whose root is small.
struct small_caches : cuda::executor {
  static std::size_t node_cache() { return 256; }
  static std::size_t fast_memory() { return 96; }
};

// Automatic nodes: those of keys that lie evenly are narrow, and if they would mislead, the tree is
// made again without. Ranks are those of `lower_bound` whatever was chosen.
template <class Key>
void check_automatic(const std::string& name, const std::vector<Key>& keys,
                     std::mt19937_64& random) {
  using entries = core::row_entries<Key, std::uint32_t>;
  using view = core::line_tree_view<entries>;
  const session at{backend::cuda};
  const std::size_t padded = (keys.size() + 7) / 8 * 8;
  std::vector<std::uint32_t> words(padded * entries::words_per_entry);
  for (std::size_t i = 0; i < padded; ++i)
    entries::put(words.data(), i, i < keys.size() ? keys[i] : static_cast<Key>(-1),
                 i < keys.size() ? static_cast<std::uint32_t>(i) : ~std::uint32_t{0});
  const auto there = at.upload(words);
  const entries all{there.data()};
  const auto tree = grow_line_tree<small_caches>(at, all, keys.size(), tree_nodes::automatic);
  const view in(all, static_cast<std::uint32_t>(keys.size()), tree.template parts<view>());
  if (name == "uniform" || name == "dense") {
    EXPECT_EQ(tree.lowest.count(), 1U) << name;
    EXPECT_EQ(tree.exact.count(), 0U) << name;
  }
  if (name == "clumps of 7" || name == "near clumps") {
    EXPECT_EQ(tree.lowest.count(), 0U) << name;
    EXPECT_EQ(tree.rounded.count() != 0, name == "near clumps") << name;
  }
  const auto probes = test::hard_probes(keys, 300, random);
  const auto probes_there = at.upload(probes);
  buffer<std::uint64_t> ranks(at, probes.size());
  cuda::executor::run(at, plans()[0],
                      core::rank_points<view>{in, probes_of<Key>(points(column(probes_there))),
                                              false, ranks.data()});
  const auto found = at.download(ranks);
  for (std::size_t i = 0; i < probes.size(); ++i)
    ASSERT_EQ(found[i], std::lower_bound(keys.begin(), keys.end(), probes[i]) - keys.begin())
        << name << ", of " << probes[i];
}

template <class Key>
class automatic_nodes : public testing::Test {};
using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(automatic_nodes, widths);

TYPED_TEST(automatic_nodes, are_narrow_where_they_mislead_few) {
  auto random = test::generator();
  for (const std::size_t size : {9UL, 5003UL, 60'000UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      check_automatic<TypeParam>(size < 5000 ? "few keys" : name, keys, random);
      if (this->HasFatalFailure()) return;
    }
  }
  // Too far apart for 8 bits, and not for 15.
  std::vector<TypeParam> keys(60'000);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<TypeParam>(i / 100 * 3001 + i % 100);
  check_automatic<TypeParam>("near clumps", keys, random);
}

using all_entries = testing::Types<core::column_entries<std::uint32_t, std::uint32_t>,
                                   core::row_entries<std::uint32_t, std::uint32_t>,
                                   core::column_entries<std::uint64_t, std::uint32_t>,
                                   core::row_entries<std::uint64_t, std::uint32_t>,
                                   core::row_entries<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(line_team, all_entries);

TYPED_TEST(line_team, finds_what_lower_bound_does) {
  auto random = test::generator();
  for (const std::size_t size : {8UL, 249UL, 7689UL}) {
    for (const auto& [name, keys] : test::hard_keys<typename TestFixture::key>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size) + " keys");
      this->check(keys, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace raydex
