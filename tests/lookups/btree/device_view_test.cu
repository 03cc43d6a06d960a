// SPDX-License-Identifier: Apache-2.0
// The view inside a user's own kernel.
#include "raydex/raydex.hpp"
#include "tests/support/device_view.cuh"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class btree_device_view : public test::backend_test {};

TEST_F(btree_device_view, answers_in_a_kernel) {
  const auto keys = at().upload(test::cells_to_ask());
  for (const unsigned fill : {50U, 80U, 100U}) {
    SCOPED_TRACE(fill);
    const auto built = build_btree(backend::cuda, at(), column(keys), {}, {.fill = fill});
    test::check_device_view(at(), built->view<std::uint32_t, std::uint32_t>(), keys);
  }
}

}  // namespace
}  // namespace raydex
