// SPDX-License-Identifier: Apache-2.0
// The view that users search from their own code, on the CPU.
#include <gtest/gtest.h>

#include "raydex/raydex.hpp"
#include "tests/support/host_view.hpp"

namespace raydex {
namespace {

TEST(btree_view, answers_on_the_host) {
  const session cpu(backend::cpu);
  const auto built =
      build_btree(backend::cpu, cpu, column(std::span<const float>(test::keys_to_ask)));
  test::check_host_view(built->view<encoded_t<float>, std::uint32_t>());
}

TEST(btree_view, must_have_the_types_of_the_index) {
  const session cpu(backend::cpu);
  const auto built =
      build_btree(backend::cpu, cpu, column(std::span<const float>(test::keys_to_ask)));
  EXPECT_NO_THROW((built->view<std::uint32_t, std::uint32_t>()));
  EXPECT_THROW((built->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint64_t>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
