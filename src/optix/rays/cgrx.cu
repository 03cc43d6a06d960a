// SPDX-License-Identifier: Apache-2.0
#include "src/rays/cgrx.hpp"

#include "src/cuda/lookups/listed_entries.cuh"
#include "src/interface/dispatch.hpp"
#include "src/optix/engine/ray_engine.cuh"
#include "src/rays/cgrx_nodes.hpp"

namespace raydex::optix {

std::unique_ptr<cgrx> build(const index_info& info, const context& on, const column& keys,
                            const std::optional<column>& row_ids, const cgrx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<cgrx> {
    if (options.node != 0)
      return std::make_unique<built_node_cgrx<Key, RowId, ray_engine>>(info, on, keys, row_ids,
                                                                       options);
    return std::make_unique<built_cgrx<Key, RowId, ray_engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex::optix

namespace raydex::cuda {

template struct listed_entries<core::strided_entries<std::uint32_t, std::uint32_t>>;

}  // namespace raydex::cuda

namespace raydex {

// For rx, too.
template struct sorted_probes<optix::ray_engine, std::uint32_t>;
template struct sorted_probes<optix::ray_engine, std::uint64_t>;
template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint32_t>&);
template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint64_t>&);

}  // namespace raydex
