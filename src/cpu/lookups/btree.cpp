// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/btree.hpp"

#include "src/cpu/executor.hpp"
#include "src/interface/dispatch.hpp"

namespace raydex::cpu {

std::unique_ptr<btree> build(const index_info& info, const context& on, const column& keys,
                             const std::optional<column>& row_ids, const btree_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<btree> {
    return std::make_unique<built_btree<Key, RowId, executor>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cpu
