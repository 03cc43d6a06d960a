// SPDX-License-Identifier: Apache-2.0
// A view in a user's own code on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex::test {

inline constexpr std::array<float, 6> keys_to_ask{2.5F, -1.0F, 2.5F, 7.0F, 2.5F, 0.0F};

// Asks a view of a column of these keys.
template <class View>
void check_host_view(const View& view) {
  EXPECT_EQ(view.size(), keys_to_ask.size());
  EXPECT_EQ(view.find(encode(2.5F)), 0);
  EXPECT_EQ(view.find(encode(-0.0F)), 5);
  EXPECT_EQ(view.find(encode(3.0F)), not_found<std::uint32_t>);
  EXPECT_EQ(view.count(encode(2.5F)), 3);
  EXPECT_EQ(view.count({encode(0.0F), encode(7.0F)}), 5);
  EXPECT_EQ(view.count({encode(7.0F), encode(0.0F)}), 0);
  std::vector<std::uint32_t> rows;
  view.for_each({encode(-5.0F), encode(2.5F)}, [&](std::uint32_t row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{1, 5, 0, 2, 4}));
  rows.clear();
  view.for_each(encode(2.5F), [&](std::uint32_t row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{0, 2, 4}));
}

}  // namespace raydex::test
