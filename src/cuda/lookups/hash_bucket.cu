// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/hash_bucket.hpp"

#include "src/cuda/lookups/repeated_keys.cuh"
#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<hash_bucket> build(const index_info& info, const context& on, const column& keys,
                                   const std::optional<column>& row_ids,
                                   const hash_bucket_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return std::unique_ptr<hash_bucket>(std::make_unique<built_hash_bucket<Key, RowId, executor>>(
        info, on, keys, row_ids, options));
  });
}

}  // namespace raydex::cuda
