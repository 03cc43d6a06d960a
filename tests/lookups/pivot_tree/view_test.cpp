// SPDX-License-Identifier: Apache-2.0
// The views that users search from their own code, on the CPU.
#include <gtest/gtest.h>

#include "raydex/raydex.hpp"
#include "tests/support/host_view.hpp"

namespace raydex {
namespace {

class pivot_tree_view : public testing::Test {
 protected:
  std::unique_ptr<pivot_tree> build(const option_map& options) const {
    auto built = raydex::build("pivot_tree", backend::cpu, cpu_, keys_, {}, options);
    return std::unique_ptr<pivot_tree>(dynamic_cast<pivot_tree*>(built.release()));
  }

  template <layout Layout>
  void check_groups(const char* name) const {
    for (unsigned k = 2; k <= 33; ++k) {
      for (const char* levels : {"all", "1", "2", "40"}) {
        SCOPED_TRACE("k=" + std::to_string(k) + " levels=" + levels);
        const auto built = build(
            {{"layout", name}, {"search", "groups"}, {"k", std::to_string(k)}, {"levels", levels}});
        test::check_host_view(
            built->view<encoded_t<float>, std::uint32_t, Layout, tree_search::groups>());
      }
    }
  }

 private:
  const session cpu_{backend::cpu};
  const column keys_{std::span<const float>(test::keys_to_ask)};
};

TEST_F(pivot_tree_view, of_lines) {
  for (const char* nodes : {"auto", "exact", "quantised"}) {
    SCOPED_TRACE(nodes);
    test::check_host_view(build({{"nodes", nodes}})->view<encoded_t<float>, std::uint32_t>());
  }
}
TEST_F(pivot_tree_view, of_groups_in_column_layout) {
  check_groups<layout::column>("column");
}
TEST_F(pivot_tree_view, of_groups_in_row_layout) {
  check_groups<layout::row>("row");
}

TEST_F(pivot_tree_view, must_have_the_types_and_the_search_of_the_index) {
  const auto lines = build({});
  EXPECT_NO_THROW((lines->view<std::uint32_t, std::uint32_t>()));
  EXPECT_THROW((lines->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((lines->view<std::uint32_t, std::uint64_t>()), invalid_argument);
  EXPECT_THROW((lines->view<std::uint32_t, std::uint32_t, layout::column>()), invalid_argument);
  EXPECT_THROW((lines->view<std::uint32_t, std::uint32_t, layout::row, tree_search::groups>()),
               invalid_argument);
  const auto groups = build({{"search", "groups"}});
  EXPECT_THROW((groups->view<std::uint32_t, std::uint32_t>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
