// SPDX-License-Identifier: Apache-2.0
// The decision tree of the lightweight paper.
#include <fmt/format.h>

#include "raydex/advise.hpp"
#include "raydex/error.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

advice lightweight_advice(const use_case& use, std::uint64_t l2_bytes) try {
  check_format("key", use.key);
  const int row_id_bytes = use.n < not_found<std::uint32_t> ? 4 : 8;
  const auto entry_bytes = static_cast<unsigned>(use.key.encoded_bits() / 8 + row_id_bytes);
  const bool fits_l2 = use.n <= l2_bytes / entry_bytes;
  const bool has_ranges = use.range_hits != 0;
  const bool smallest = use.memory_limit != 0;
  const bool ascending = use.ordered || (!smallest && (has_ranges || use.updates));
  // Of an ascending array that needs pivots, which take memory.
  const bool by_groups = !fits_l2 && !(ascending && smallest);

  advice chosen;
  chosen.reason = fmt::format(
      "{}, {} the L2{}: ", ascending ? "ascending order is needed" : "any order will do",
      fits_l2 ? "and all fits" : "and keys and row ids exceed",
      smallest ? ", in the least memory" : "");
  if (!ascending) {
    chosen.structure = "eytzinger";
    chosen.options = {{"k", by_groups ? "9" : "2"}};
    chosen.reason += by_groups ? "Eytzinger's order, searched by groups of threads"
                               : "Eytzinger's order, binary search";
  } else if (by_groups) {
    chosen.structure = "pivot_tree";
    chosen.options = {{"search", "groups"}, {"k", "9"}};
    chosen.reason += "pivots above a sorted array, searched by groups of threads";
  } else {
    chosen.structure = "sorted_array";
    chosen.reason += "binary search in a sorted array";
  }
  // Figures 14 to 18. Binary search alone gains from what is pinned and from static scheduling.
  const bool pins = ascending && !by_groups;
  chosen.options.merge(by_groups ? option_map{{"threads", "1024"}, {"lookups", "1"}}
                                 : option_map{{"threads", "128"},
                                              {"lookups", "16"},
                                              {"schedule", pins ? "one" : "dynamic"},
                                              {"pin", pins ? "full" : "none"},
                                              {"reorder", "double"}});
  // Nodes of 8 keys, and the matches of ranges, lie best beside their row ids.
  chosen.options.emplace("layout", by_groups || has_ranges ? "row" : "column");
  return chosen;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
