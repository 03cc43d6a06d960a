// SPDX-License-Identifier: Apache-2.0
// The view that users look keys up with from their own code, on the CPU.
#include <gtest/gtest.h>

#include <vector>

#include "raydex/raydex.hpp"

namespace raydex {
namespace {

using rows = std::vector<std::uint32_t>;

TEST(direct_view, repeated_keys_and_gaps) {
  const session cpu(backend::cpu);
  const std::vector<std::int32_t> keys{3, -1, 3, 6, 3, 0};
  const auto built = build_direct(backend::cpu, cpu, column(keys));
  const auto view = built->view<std::uint32_t, std::uint32_t>();
  EXPECT_EQ(view.size(), 6);
  EXPECT_EQ(view.find(encode(3)), 0);
  EXPECT_EQ(view.find(encode(0)), 5);
  EXPECT_EQ(view.find(encode(1)), not_found<std::uint32_t>);
  EXPECT_EQ(view.find(encode(-2)), not_found<std::uint32_t>);
  EXPECT_EQ(view.find(encode(7)), not_found<std::uint32_t>);
  EXPECT_EQ(view.count(encode(3)), 3);
  EXPECT_EQ(view.count({encode(0), encode(6)}), 5);
  EXPECT_EQ(view.count({encode(6), encode(0)}), 0);
  EXPECT_EQ(view.count({encode(-2'000'000'000), encode(2'000'000'000)}), 6);
  rows met;
  view.for_each({encode(-5), encode(3)}, [&](std::uint32_t row) { met.push_back(row); });
  EXPECT_EQ(met, (rows{1, 5, 0, 2, 4}));
  for (std::uint32_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(view.key(rank), encode(std::vector{-1, 0, 3, 3, 3, 6}[rank]));
}

TEST(direct_view, each_key_once) {
  const session cpu(backend::cpu);
  const std::vector<std::uint64_t> keys{12, 10, 11};
  const auto built = build_direct(backend::cpu, cpu, column(keys));
  const auto view = built->view<std::uint64_t, std::uint32_t>();
  EXPECT_EQ(view.find(10), 1);
  EXPECT_EQ(view.find(9), not_found<std::uint32_t>);
  EXPECT_EQ(view.find(13), not_found<std::uint32_t>);
  EXPECT_EQ(view.count({0, ~std::uint64_t{0}}), 3);
  EXPECT_EQ(view.key(2), 12);
  EXPECT_EQ(view.row_id(2), 0);
  EXPECT_THROW((built->view<std::uint32_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint64_t, std::uint64_t>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
