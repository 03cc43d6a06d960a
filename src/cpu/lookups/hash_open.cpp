// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/hash_open.hpp"

#include "src/cpu/executor.hpp"
#include "src/interface/dispatch.hpp"

namespace raydex::cpu {

std::unique_ptr<hash_open> build(const index_info& info, const context& on, const column& keys,
                                 const std::optional<column>& row_ids,
                                 const hash_open_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_hash_open<Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cpu
