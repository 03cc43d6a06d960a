// SPDX-License-Identifier: Apache-2.0
#include "src/interface/row_id_facts.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"

namespace raydex {

void row_id_facts::check(std::uint64_t not_found) const {
  if (max < not_found) return;
  throw invalid_argument(
      fmt::format("row ids: {} means not found and is not legal; the largest legal one is {}",
                  not_found, not_found - 1));
}

void check_room(std::uint64_t entries, std::uint64_t not_found) {
  if (entries < not_found - 1) return;
  throw unsupported(
      fmt::format("insert: there would be {} entries, more than row ids below {} can number; build "
                  "an index with uint64 row ids",
                  entries, not_found));
}

}  // namespace raydex
