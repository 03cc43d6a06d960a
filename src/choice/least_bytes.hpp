// SPDX-License-Identifier: Apache-2.0
// What a build takes for certain, whatever its keys are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "raydex/error.hpp"
#include "raydex/estimate.hpp"
#include "raydex/memory.hpp"

namespace raydex {

// Bytes that a build on cpu over `n` keys has allocated at its peak, at least; 0 where nobody says.
// Keys that ascend take the least, and of hash tables keys that all differ or are all equal.
inline std::uint64_t least_build_bytes(std::string_view structure, const column_facts& of,
                                       const option_map& options) try {
  const auto key = static_cast<std::uint64_t>(of.key.encoded_bits()) / 8;
  if (of.row_ids == row_id_type::uint64) {  // the sorted column, and slices of it
    (void)estimate(structure, backend::cpu, {.n = 1, .key = of.key}, options);  // checks them
    return saturated_product(of.n, key + sizeof(std::uint64_t));
  }
  column_facts facts = of;
  facts.ascending = true;
  std::uint64_t least = ~std::uint64_t{0};
  for (const std::uint64_t different : {std::uint64_t{1}, of.n}) {
    facts.different = std::min(different, of.n);
    facts.span = facts.different;
    const memory_estimate said = estimate(structure, backend::cpu, facts, options);
    // Of a scene the keys decide, and Embree; it stands beside the sorted column.
    if (said.structure == "cgrx" || said.structure == "rx")
      return of.n * (key + sizeof(std::uint32_t));
    least = std::min(least, said.build_peak_bytes / 10 * 9);  // pivots that round take 9 % less
  }
  return least;
} catch (const unsupported&) {
  return 0;
}

}  // namespace raydex
