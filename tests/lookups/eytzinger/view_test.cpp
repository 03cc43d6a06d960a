// SPDX-License-Identifier: Apache-2.0
// The view that users search from their own code, on the CPU.
#include <gtest/gtest.h>

#include "raydex/raydex.hpp"
#include "tests/support/host_view.hpp"

namespace raydex {
namespace {

template <layout Layout>
void check_all_fan_outs() {
  const session cpu(backend::cpu);
  const column keys{std::span<const float>(test::keys_to_ask)};
  for (unsigned k = 2; k <= 33; ++k) {
    SCOPED_TRACE(k);
    const auto built = build_eytzinger(backend::cpu, cpu, keys, {}, {.layout = Layout, .k = k});
    test::check_host_view(built->view<encoded_t<float>, std::uint32_t, Layout>());
  }
}

TEST(eytzinger_view, column_layout) {
  check_all_fan_outs<layout::column>();
}
TEST(eytzinger_view, row_layout) {
  check_all_fan_outs<layout::row>();
}

TEST(eytzinger_view, must_have_the_types_of_the_index) {
  const session cpu(backend::cpu);
  const auto built =
      build_eytzinger(backend::cpu, cpu, column(std::span<const float>(test::keys_to_ask)));
  EXPECT_NO_THROW((built->view<std::uint32_t, std::uint32_t>()));
  EXPECT_THROW((built->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint64_t>()), invalid_argument);
  EXPECT_THROW((built->view<std::uint32_t, std::uint32_t, layout::column>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
