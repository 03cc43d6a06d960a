// SPDX-License-Identifier: Apache-2.0
#include "src/structures/shared/hashed.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"

namespace raydex {

void refuse_repeated(std::uint64_t repeated, std::uint64_t keys) {
  throw invalid_argument(
      fmt::format("keys: {} of {} repeat another one, but repeats=refused", repeated, keys));
}

void refuse_buckets(std::uint64_t buckets, std::uint64_t most) {
  throw unsupported(
      fmt::format("keys: {} buckets, but at most {} can be numbered; pivot_tree takes as many keys",
                  buckets, most));
}

}  // namespace raydex
