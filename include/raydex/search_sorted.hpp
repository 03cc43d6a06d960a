// SPDX-License-Identifier: Apache-2.0
/// @file
/// Searches in a column that is sorted already, without an index that stays.
#pragma once

#include <cstdint>
#include <span>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// Which of the places that keep a column sorted.
enum class search_side : std::uint8_t {
  left,  ///< before equal keys: `std::lower_bound`
  right  ///< behind them: `std::upper_bound`
};

/// Writes, for each key of a batch, how many cells of a sorted column are before it: NumPy's
/// `searchsorted`.
///
/// @param where the backend; `optix` does it as `cuda`
/// @param on scratch of the backend's memory, and a stream
/// @param sorted keys in ascending order, none missing; NaN come last. Not checked: for a column
///        that is not sorted, the results are any numbers up to its size
/// @param wanted keys of the same format
/// @param side before or behind equal keys
/// @param out a number for each of `wanted`; of a missing one, the largest number of the type
///
/// *Cost*: few keys are searched for in the column as it lies there, log2 n reads each. Many, 2^20
/// on a GPU or 2^19 on the CPU and a 32nd of n at least, by the tree of a `pivot_tree` that is made
/// for the call, about 3 reads each; for that n is less than 2^32 - 1. The tree takes scratch
/// memory for a copy of the column, and a tenth of it more. For several batches, build an index and
/// ask `rank`. *Streams*: all is queued; only a tree above 2^22 cells or more synchronises. Throws
/// `invalid_argument`, `unavailable`, `out_of_memory`, `cuda_error`.
RAYDEX_EXPORT void search_sorted(backend where, const context& on, const column& sorted,
                                 const column& wanted, search_side side,
                                 std::span<std::uint64_t> out);

}  // namespace raydex
