// SPDX-License-Identifier: Apache-2.0
#include "raydex/search_sorted.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

// Whether a tree that is made for the call is faster. The column is read in full for it. Measured
// on two cores of an AMD EPYC with 2^16 to 2^24 cells, and on an H200 with as many as were wanted.
bool pays_for_tree(backend where, std::uint64_t cells, std::uint64_t wanted) {
  const std::uint64_t least = std::uint64_t{1} << (where == backend::cpu ? 19 : 20);
  return wanted >= least && wanted >= cells / 32 && cells > 0 && cells < not_found<std::uint32_t>;
}

}  // namespace

void search_sorted(backend where, const context& on, const column& sorted, const column& wanted,
                   search_side side, std::span<std::uint64_t> out) try {
  check_available(where);
  check_space(on, where);
  check_column("sorted", sorted);
  check_column("wanted", wanted);
  if (sorted.validity != nullptr)
    throw invalid_argument("sorted: it has validity bits; no cell may be missing");
  if (sorted.format != wanted.format) {
    throw invalid_argument(fmt::format("wanted: its keys are {}, but those of the sorted column {}",
                                       to_string(wanted.format), to_string(sorted.format)));
  }
  if (side != search_side::left && side != search_side::right)
    throw invalid_argument(
        fmt::format("side: {} is neither left nor right", static_cast<int>(side)));
  check_sizes("wanted", points(wanted), out.size());
  check_array("out", out);
  if (wanted.size == 0) return;
  const bool past = side == search_side::right;
  const auto way = pays_for_tree(where, sorted.size, wanted.size) ? &operation_table::search_by_tree
                                                                  : &operation_table::search_sorted;
  operation_on(where, way)(on, sorted, wanted, past, out.data());
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
