// SPDX-License-Identifier: Apache-2.0
// What is in libraydex_papers is found beside libraydex, to which alone this program is linked.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex {
namespace {

// Each test is a process of its own, in which nothing is loaded yet.
TEST(papers, are_found_by_threads_that_ask_at_once) {
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const std::vector<capability> all = capabilities();
      found += std::ranges::count(all, "eytzinger", &capability::structure) == 2 ? 1 : 0;
      found += options_of("rmq_lca").empty() ? 0 : 1;
    });
  }
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(found, 16);
}

TEST(papers, have_variants_of_structures) {
  const session cpu(backend::cpu);
  static constexpr std::array<std::uint32_t, 4> cells{4, 3, 2, 1};
  const column keys(std::span(cells.data(), cells.size()));
  const std::array<std::pair<const char*, option_map>, 3> variants{
      {{"sorted_array", {{"layout", "row"}}},
       {"pivot_tree", {{"search", "groups"}}},
       {"rx", {{"primitives", "rows"}}}}};
  for (const auto& [structure, options] : variants) {
    const auto built = build(structure, backend::cpu, cpu, keys, {}, options);
    buffer<std::uint32_t> rows(cpu, keys.size);
    built->first(cpu, points(keys), rows);
    EXPECT_EQ(cpu.download(rows), (std::vector<std::uint32_t>{0, 1, 2, 3})) << structure;
  }
}

}  // namespace
}  // namespace raydex
