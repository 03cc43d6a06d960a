// SPDX-License-Identifier: Apache-2.0
// The pivot trees searched by lines.
#include "src/lookups/pivot_tree.hpp"

#include "src/cuda/lookups/listed_entries.cuh"
#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<pivot_tree> build_line_tree(const index_info& info, const context& on,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const pivot_tree_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() {
    return make_line_tree<Key, RowId, executor>(info, on, keys, row_ids, options);
  });
}

template struct listed_entries<core::row_entries<std::uint32_t, std::uint32_t>>;
template struct listed_entries<core::row_entries<std::uint64_t, std::uint32_t>>;

}  // namespace raydex::cuda
