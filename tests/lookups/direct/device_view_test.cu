// SPDX-License-Identifier: Apache-2.0
// The view inside a user's own kernel.
#include "raydex/raydex.hpp"
#include "tests/support/device_view.cuh"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class direct_device_view : public test::backend_test {};

TEST_F(direct_device_view, repeated_keys) {
  const auto keys = at().upload(test::cells_to_ask());
  const auto built = build_direct(backend::cuda, at(), column(keys));
  test::check_device_view(at(), built->view<std::uint32_t, std::uint32_t>(), keys);
}

}  // namespace
}  // namespace raydex
