// SPDX-License-Identifier: Apache-2.0
// The two ways in which `find_equal_rows` looks up probes, each by itself for tests. Neither side
// is empty, and 32 bits can number its rows.
#pragma once

#include <cstdint>
#include <optional>

#include "raydex/export.hpp"
#include "src/operations/joins/equal_rows.hpp"

namespace raydex::cuda {

// By a table of the build rows, in the order of the probe rows; nothing if two have equal keys. If
// any one row of a key suffices and keys are no hashes, they may, and 0 stands for the row.
template <class Key>
RAYDEX_INTERNAL std::optional<found_rows<std::uint32_t>> find_by_table(const context& on,
                                                                       const column& build,
                                                                       const column& probe,
                                                                       const equality& how);

// Probe rows that the L2 holds what is found for, so that it can be written in any order.
inline constexpr std::uint64_t probes_in_l2 = std::uint64_t{1} << 23;

// By parts of both sides; nothing if one has too many build rows. `keys_repeat`: whether build rows
// are known to have equal keys, which saves finding out. `in_l2`: 256 at least.
template <class Key>
RAYDEX_INTERNAL std::optional<equal_rows<std::uint32_t>> find_by_parts(
    const context& on, const column& build, const column& probe, const equality& how,
    bool keys_repeat = false, std::uint64_t in_l2 = probes_in_l2);

}  // namespace raydex::cuda
