// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/direct.hpp"

#include "src/cuda/lookups/repeated_keys.cuh"
#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<direct> build(const index_info& info, const context& on, const column& keys,
                              const std::optional<column>& row_ids, const direct_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_direct<Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cuda
