// SPDX-License-Identifier: Apache-2.0
// What is advised can be built, and `auto` builds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/choice/offers.hpp"

namespace raydex {
namespace {

// Use cases of all kinds.
std::vector<use_case> use_cases(backend where) {
  std::vector<use_case> all;
  for (const std::uint64_t n : {0ULL, 1ULL, 1ULL << 10, 1ULL << 20, 1ULL << 27, 1ULL << 33}) {
    for (const key_format key : {format_of<std::uint32_t>, format_of<double>,
                                 format_of<std::array<char, 3>>, format_of<std::array<char, 7>>}) {
      for (const std::uint64_t hits : {0ULL, 1ULL, 50ULL, 5000ULL}) {
        for (const bool flag : {false, true}) {
          all.push_back({.n = n, .key = key, .where = where, .ordered = flag, .range_hits = hits});
          all.push_back({.n = n,
                         .key = key,
                         .where = where,
                         .ordered = flag,
                         .range_hits = hits,
                         .sorted_probes = true,
                         .memory_limit = 256 * (n + 1)});
        }
      }
    }
  }
  return all;
}

class advised_structures : public testing::Test {
 protected:
  std::unique_ptr<index> build_small(const std::string& structure, key_format key,
                                     const option_map& options) const {
    return build(structure, backend::cpu, cpu, {key, cells.data(), 4}, std::nullopt, options);
  }
  const session cpu{backend::cpu};
  const std::array<std::uint64_t, 4> cells{4, 3, 2, 1};
};

TEST_F(advised_structures, can_be_built) {
  for (const use_case& what : use_cases(backend::cpu)) {
    const advice advised = advise(what);
    const auto built = build_small(advised.structure, what.key, advised.options);
    EXPECT_EQ(built->info().structure, advised.structure);
    EXPECT_FALSE(advised.reason.empty());
    EXPECT_GT(advised.lookups_per_s, 0);
  }
}

TEST_F(advised_structures, of_the_lightweight_paper_can_be_built) {
  for (const use_case& what : use_cases(backend::cpu)) {
    const advice advised = lightweight_advice(what, 50 << 20);
    const auto built = build_small(advised.structure, what.key, advised.options);
    EXPECT_EQ(built->info().structure, advised.structure);
  }
}

TEST_F(advised_structures, take_updates_where_a_structure_does) {
  const std::vector<capability> all = capabilities();
  for (const backend where : {backend::cpu, backend::optix}) {
    for (use_case what : use_cases(where)) {
      what.updates = true;
      what.memory_limit = 0;
      const std::string advised = advise(what).structure;
      EXPECT_TRUE(std::ranges::any_of(all, [&](const capability& one) {
        return one.structure == advised && one.where == where && one.updates;
      })) << advised;
    }
  }
}

TEST_F(advised_structures, are_found_for_every_backend_with_structures) {
  for (const capability& one : capabilities()) {
    for (const use_case& what : use_cases(one.where))
      EXPECT_NO_THROW(advise(what)) << to_string(one.where);
  }
}

TEST_F(advised_structures, of_the_built_in_table_have_their_options) {
  for (const measured_speed& row : speed_table::built_in().rows()) {
    for (const capability& one : capabilities()) {
      if (one.structure == row.structure && one.where == backend::cpu) {
        EXPECT_NO_THROW(build_small(row.structure, format_of<std::uint32_t>, row.options));
      }
    }
  }
}

TEST_F(advised_structures, of_the_built_in_table_have_places_where_keys_are_dense) {
  const std::vector<capability> all = capabilities();
  const auto advised = [&](use_case what) {
    what.where = backend::cuda;
    return advise(what, speed_table::built_in(), all).structure;
  };
  EXPECT_EQ(advised({.n = 1 << 26, .span = 1 << 26}), "direct");
  EXPECT_EQ(advised({.n = 1 << 26, .range_hits = 16, .span = 1 << 26}), "direct");
  EXPECT_NE(advised({.n = 1 << 26, .span = (1 << 28) + 1}), "direct");
  EXPECT_NE(advised({.n = 1 << 26, .updates = true, .span = 1 << 26}), "direct");
}

TEST_F(advised_structures, are_what_auto_builds) {
  const key_format key = format_of<std::uint32_t>;
  const advice advised = advise({.n = 4, .key = key, .ordered = true});
  EXPECT_EQ(build_small("auto", key, {})->info().structure, advised.structure);
  test::expect_error<invalid_argument>(
      [&] {
        build_small("auto", key, {{"no_such", "1"}});
      },
      {"no_such", advised.structure});
}

}  // namespace
}  // namespace raydex
