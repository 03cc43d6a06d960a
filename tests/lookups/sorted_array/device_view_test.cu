// SPDX-License-Identifier: Apache-2.0
// The view inside a user's own kernel.
#include "raydex/raydex.hpp"
#include "tests/support/device_view.cuh"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class sorted_array_device_view : public test::backend_test {
 protected:
  template <layout Layout>
  void check() const {
    const auto keys = at().upload(test::cells_to_ask());
    const auto built =
        build_sorted_array(backend::cuda, at(), column(keys), {}, {.layout = Layout});
    test::check_device_view(at(), built->view<std::uint32_t, std::uint32_t, Layout>(), keys);
  }
};

TEST_F(sorted_array_device_view, column_layout) {
  check<layout::column>();
}
TEST_F(sorted_array_device_view, row_layout) {
  check<layout::row>();
}

}  // namespace
}  // namespace raydex
