// SPDX-License-Identifier: Apache-2.0
#include "src/rays/rx.hpp"

#include "src/interface/dispatch.hpp"
#include "src/optix/engine/ray_engine.cuh"

namespace raydex {

// In cgrx.cu.
extern template struct sorted_probes<optix::ray_engine, std::uint32_t>;
extern template struct sorted_probes<optix::ray_engine, std::uint64_t>;
extern template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint32_t>&);
extern template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint64_t>&);

}  // namespace raydex

namespace raydex::optix {

std::unique_ptr<rx> build(const index_info& info, const context& on, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, ray_engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::optix
