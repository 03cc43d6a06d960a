// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether keys are in a column, without an index that stays.
#pragma once

#include <span>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// Writes, for each element, whether a column has an equal key: NumPy's `isin`.
///
/// @param where the backend; `optix` does it as `cuda`
/// @param on scratch of the backend's memory, and a stream
/// @param tests keys in any order; missing ones are nothing's equal
/// @param elements keys of the same format
/// @param out a mark for each element; that of a missing one is false
///
/// Keys are equal as in an index: NaN is. *Cost* and *scratch*: those of a semi join of two tables,
/// see `match_tables`, and nothing stays; an index is built and asked where that one builds an
/// index. For several batches, build an index and ask `contains`. *Streams*: it does not wait for
/// the stream if there are at most 2^21 tests, which one table has without being divided, else once
/// or a few times. Throws `invalid_argument`, `unavailable`, `out_of_memory`,
/// `cuda_error`.
RAYDEX_EXPORT void is_in(backend where, const context& on, const column& tests,
                         const column& elements, std::span<bool> out);

}  // namespace raydex
