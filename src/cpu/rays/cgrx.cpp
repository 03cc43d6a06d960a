// SPDX-License-Identifier: Apache-2.0
#include "src/rays/cgrx.hpp"

#include "src/cpu/rays/ray_engine.hpp"
#include "src/interface/dispatch.hpp"
#include "src/rays/cgrx_nodes.hpp"

namespace raydex::cpu {

std::unique_ptr<cgrx> build(const index_info& info, const context& on, const column& keys,
                            const std::optional<column>& row_ids, const cgrx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<cgrx> {
    if (options.node != 0)
      return std::make_unique<built_node_cgrx<Key, RowId, ray_engine>>(info, on, keys, row_ids,
                                                                       options);
    return std::make_unique<built_cgrx<Key, RowId, ray_engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cpu
