// SPDX-License-Identifier: Apache-2.0
// The view that a user searches from code of their own, on the CPU.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex {
namespace {

const std::array<float, 6> keys{2.5F, -1.0F, 2.5F, 7.0F, 2.5F, 0.0F};

template <layout Layout>
void check_view() {
  const session cpu(backend::cpu);
  const auto built = build_sorted_array(backend::cpu, cpu, column(std::span<const float>(keys)),
                                        std::nullopt, {.entries = Layout});
  const auto view = built->view<encoded_t<float>, std::uint32_t, Layout>();
  EXPECT_EQ(view.size(), keys.size());
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

TEST(sorted_array_view, column_layout) {
  check_view<layout::column>();
}
TEST(sorted_array_view, row_layout) {
  check_view<layout::row>();
}

TEST(sorted_array_view, must_have_the_types_of_the_index) {
  const session cpu(backend::cpu);
  const auto built = build_sorted_array(backend::cpu, cpu, column(std::span<const float>(keys)));
  EXPECT_THROW((built->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint64_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint32_t, layout::row>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
