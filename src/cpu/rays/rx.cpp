// SPDX-License-Identifier: Apache-2.0
#include "src/rays/rx.hpp"

#include "src/cpu/rays/ray_engine.hpp"
#include "src/interface/dispatch.hpp"

namespace raydex::cpu {

std::unique_ptr<rx> build(const index_info& info, const context& on, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, ray_engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::cpu
