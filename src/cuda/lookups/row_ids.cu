// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/row_ids.hpp"

#include "src/cuda/lookups/listed_entries.cuh"
#include "src/cuda/lookups/run.cuh"
#include "src/lookups/wide_index.hpp"

namespace raydex::cuda {

void widen_row_ids(const context& on, const std::uint32_t* narrow, std::uint64_t size,
                   const std::uint64_t* count, std::uint64_t* wide) {
  raydex::widen_row_ids<executor>(on, narrow, size, count, wide);
}

void mark_found(const context& on, const row_id_span& rows, bool* out) {
  raydex::mark_found<executor>(on, rows, out);
}

std::unique_ptr<index> build_wide(const index_info& info, bool updates, const context& on,
                                  const column& keys, const std::optional<column>& row_ids,
                                  const index_maker& make, std::uint64_t of_slice) {
  return make_wide<executor>(info, updates, on, keys, row_ids, make, of_slice);
}

template struct listed_entries<core::column_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::column_entries<std::uint32_t, std::uint64_t>>;

}  // namespace raydex::cuda
