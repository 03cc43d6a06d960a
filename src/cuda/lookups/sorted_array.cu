// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/sorted_array.hpp"

#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<sorted_array> build(const index_info& info, const context& on, const column& keys,
                                    const std::optional<column>& row_ids,
                                    const sorted_array_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_sorted_array<layout::column, Key, RowId, executor>(info, on, keys, row_ids,
                                                                   options);
  });
}

}  // namespace raydex::cuda
