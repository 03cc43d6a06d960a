// SPDX-License-Identifier: Apache-2.0
// The sorted arrays whose keys lie beside their row ids.
#include "src/lookups/sorted_array.hpp"

#include "src/cuda/lookups/listed_entries.cuh"
#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<sorted_array> build_row_array(const index_info& info, const context& on,
                                              const column& keys,
                                              const std::optional<column>& row_ids,
                                              const sorted_array_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_sorted_array<layout::row, Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

template struct listed_entries<core::column_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::row_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::row_entries<std::uint64_t, std::uint32_t>>;

}  // namespace raydex::cuda
