// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/eytzinger.hpp"

#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<eytzinger> build(const index_info& info, const context& on, const column& keys,
                                 const std::optional<column>& row_ids,
                                 const eytzinger_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_eytzinger<Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cuda
