// SPDX-License-Identifier: Apache-2.0
#include "src/rays/rx.hpp"

#include "src/interface/dispatch.hpp"
#include "src/optix/engine/ray_engine.cuh"

namespace raydex::optix {

std::unique_ptr<rx> build(const index_info& info, const context& on, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, ray_engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::optix
