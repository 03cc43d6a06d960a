// SPDX-License-Identifier: Apache-2.0
#include "src/structures/papers/rx_rows/rx_rows.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"

namespace raydex {

void refuse_by_rows(const char* call, const char* why) {
  throw unsupported(
      fmt::format("{}: rx with primitives=rows {}; primitives=sorted does it", call, why));
}

}  // namespace raydex
