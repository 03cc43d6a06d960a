// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "src/operations/joins/built_join.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

void refuse_edited() {
  throw invalid_argument("join: its index was edited after it was built; build another one");
}

void refuse_unmatched(join_kind kind) {
  throw unsupported(fmt::format(
      "kind: {} joins are not over an index, which does not hold the rows whose key is missing; "
      "build the join over its column",
      to_string(kind)));
}

void refuse_hashes(unsigned tried) {
  throw unsupported(fmt::format(
      "keys: rows of different keys have equal hashes of 64 bits, by each of {} hashes; give each "
      "key a number of its own",
      tried));
}

void refuse_ranked_values(std::uint64_t rows) {
  throw unsupported(
      fmt::format("by: {} rows are too many for keys that do not fit 64 bits beside the value; up "
                  "to {} are not",
                  rows, not_found<std::uint32_t> - 1));
}

}  // namespace raydex
