// SPDX-License-Identifier: Apache-2.0
// The view that users search from their own code, on the CPU.
#include <gtest/gtest.h>

#include "raydex/raydex.hpp"
#include "tests/support/host_view.hpp"

namespace raydex {
namespace {

std::unique_ptr<sorted_array> build(const session& cpu, layout entries) {
  return build_sorted_array(backend::cpu, cpu, column(std::span<const float>(test::keys_to_ask)),
                            std::nullopt, {.layout = entries});
}

TEST(sorted_array_view, column_layout) {
  const session cpu(backend::cpu);
  const auto built = build(cpu, layout::column);
  test::check_host_view(built->view<encoded_t<float>, std::uint32_t, layout::column>());
}
TEST(sorted_array_view, row_layout) {
  const session cpu(backend::cpu);
  const auto built = build(cpu, layout::row);
  test::check_host_view(built->view<encoded_t<float>, std::uint32_t, layout::row>());
}

TEST(sorted_array_view, must_have_the_types_of_the_index) {
  const session cpu(backend::cpu);
  const auto built = build(cpu, layout::column);
  EXPECT_THROW((built->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint64_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint32_t, layout::row>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
