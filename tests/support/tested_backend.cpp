// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tested_backend.hpp"

#include <string_view>

namespace raydex::test {

bool tested_by_emulation() {
  return std::string_view(RAYDEX_TESTED_BACKEND) == "emulated";
}

backend tested_backend() {
  return tested_by_emulation() ? backend::cuda : parse_backend(RAYDEX_TESTED_BACKEND);
}

}  // namespace raydex::test
