// SPDX-License-Identifier: Apache-2.0
// The hash tables whose buckets are two lines of 64 bytes.
#include "src/lookups/hash_open.hpp"

#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<hash_open> build_two_line_hash(const index_info& info, const context& on,
                                               const column& keys,
                                               const std::optional<column>& row_ids,
                                               const hash_open_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_hash_open<128, Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cuda
