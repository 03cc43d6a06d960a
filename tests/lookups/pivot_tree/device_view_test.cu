// SPDX-License-Identifier: Apache-2.0
// The views inside a user's own kernel.
#include "raydex/raydex.hpp"
#include "tests/support/device_view.cuh"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class pivot_tree_device_view : public test::backend_test {
 protected:
  template <layout Layout, tree_search Search>
  void check(const pivot_tree_options& options) const {
    const auto keys = at().upload(test::cells_to_ask());
    pivot_tree_options own = options;
    own.layout = Layout;
    own.search = Search;
    const auto built = build_pivot_tree(backend::cuda, at(), column(keys), {}, own);
    SCOPED_TRACE(built->info().options);
    test::check_device_view(at(), built->view<std::uint32_t, std::uint32_t, Layout, Search>(),
                            keys);
  }

  template <layout Layout>
  void check_groups() const {
    pivot_tree_options options;
    for (const unsigned k : {2U, 3U, 9U, 33U}) {
      options.k = k;
      options.levels.reset();
      check<Layout, tree_search::groups>(options);
      options.levels = 1;
      check<Layout, tree_search::groups>(options);
    }
  }
};

TEST_F(pivot_tree_device_view, lines) {
  pivot_tree_options options;
  check<layout::row, tree_search::lines>(options);
  options.nodes = tree_nodes::quantised;
  check<layout::row, tree_search::lines>(options);
}
TEST_F(pivot_tree_device_view, groups_in_column_layout) {
  check_groups<layout::column>();
}
TEST_F(pivot_tree_device_view, groups_in_row_layout) {
  check_groups<layout::row>();
}

}  // namespace
}  // namespace raydex
