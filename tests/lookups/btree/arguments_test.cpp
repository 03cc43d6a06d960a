// SPDX-License-Identifier: Apache-2.0
// Bad options are refused by name, before anything is done.
#include <gtest/gtest.h>

#include <array>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

class btree_arguments : public testing::Test {
 protected:
  void refused(const option_map& options, const std::vector<std::string>& words) const {
    test::expect_error<invalid_argument>([&] { built(options); }, words);
  }
  std::unique_ptr<index> built(const option_map& options) const {
    return build("btree", backend::cpu, cpu_, keys_, {}, options);
  }

  const session cpu_{backend::cpu};
  const std::array<std::uint32_t, 4> cells_{4, 3, 2, 1};
  const column keys_{std::span<const std::uint32_t>(cells_)};
};

TEST_F(btree_arguments, fill_is_from_50_to_100) {
  for (const unsigned fill : {0U, 49U, 101U}) {
    refused({{"fill", std::to_string(fill)}}, {"option fill", std::to_string(fill), "50 to 100"});
    test::expect_error<invalid_argument>(
        [&] { build_btree(backend::cpu, cpu_, keys_, {}, {.fill = fill}); },
        {"option fill", std::to_string(fill), "50 to 100"});
  }
  refused({{"fill", "full"}}, {"option fill", "'full'", "number"});
  EXPECT_EQ(built({})->info().options, "fill=80");
  EXPECT_EQ(built({{"fill", "100"}, {"pin", "none"}})->info().options, "fill=100 pin=none");
}

TEST_F(btree_arguments, unknown_options_are_answered_with_the_known_ones) {
  refused({{"layout", "row"}}, {"'layout'", "btree", "fill=50..100", "pin=none|steps|full"});
}

}  // namespace
}  // namespace raydex
