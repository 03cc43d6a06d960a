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

// Bytes of a table that is filled in any order, since the L2 holds it.
inline constexpr std::size_t table_in_l2 = std::size_t{1} << 26;

// By a table of the build rows, in the order of the probe rows; nothing if two have equal keys. If
// any one row of a key suffices and keys are no hashes, they may, unless one has more rows than a
// part has slots; 0 stands for the row then. Tables of more than `in_l2` bytes are filled by parts.
template <class Key>
RAYDEX_INTERNAL std::optional<found_rows<std::uint32_t>> find_by_table(
    const context& on, const column& build, const column& probe, const equality& how,
    std::size_t in_l2 = table_in_l2);

// By parts of both sides; nothing if one has too many build rows. `keys_repeat`: whether build rows
// are known to have equal keys, which saves finding out.
template <class Key>
RAYDEX_INTERNAL std::optional<equal_rows<std::uint32_t>> find_by_parts(const context& on,
                                                                       const column& build,
                                                                       const column& probe,
                                                                       const equality& how,
                                                                       bool keys_repeat = false);

}  // namespace raydex::cuda
