// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/row_ids.hpp"

#include "src/cpu/executor.hpp"

namespace raydex::cpu {

void widen_row_ids(const context& on, const std::uint32_t* narrow, std::uint64_t size,
                   const std::uint64_t* count, std::uint64_t* wide) {
  raydex::widen_row_ids<executor>(on, narrow, size, count, wide);
}

void mark_found(const context& on, const row_id_span& rows, bool* out) {
  raydex::mark_found<executor>(on, rows, out);
}

}  // namespace raydex::cpu
