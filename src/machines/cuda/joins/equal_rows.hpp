// SPDX-License-Identifier: Apache-2.0
// The two ways in which `find_equal_rows` looks up probes, each by itself for tests. Neither side
// is empty, and 32 bits can number its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "raydex/export.hpp"
#include "src/operations/joins/equal_rows.hpp"

namespace raydex::cuda {

// How a table is made. What is best was measured on an H200.
struct table_options {
  static constexpr std::size_t bytes_a_row = 32;   // of 64 bits, in two slots
  std::size_t in_l2 = std::size_t{1} << 26;        // bytes; larger ones are filled by parts
  std::size_t filter = std::size_t{1} << 25;       // bytes of a filter; larger ones are left out
  std::uint64_t grouped = std::uint64_t{1} << 20;  // most rows to put side by side, see below
  bool keys_repeat = false;                        // if that is known, any number of rows is
};

// By a table of the build rows, the probe rows in their order. If two build rows have equal keys,
// nothing; but if rows may be in any order, and the build rows are few or known to have equal keys,
// those of a key are put side by side. If any one row of a key suffices they may have equal keys,
// and if these are no hashes 0 stands for the row.
template <class Key>
RAYDEX_INTERNAL std::optional<equal_rows<std::uint32_t>> find_by_table(
    const context& on, const column& build, const column& probe, const equality& how,
    const table_options& options = {});

// By parts of both sides; nothing if one has too many build rows. `keys_repeat`: whether build rows
// are known to have equal keys, which saves finding out.
template <class Key>
RAYDEX_INTERNAL std::optional<equal_rows<std::uint32_t>> find_by_parts(const context& on,
                                                                       const column& build,
                                                                       const column& probe,
                                                                       const equality& how,
                                                                       bool keys_repeat = false);

}  // namespace raydex::cuda
