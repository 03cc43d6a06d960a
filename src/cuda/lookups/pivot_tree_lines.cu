// SPDX-License-Identifier: Apache-2.0
// The pivot trees searched by lines.
#include "src/lookups/pivot_tree.hpp"

#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"

namespace raydex::cuda {

std::unique_ptr<pivot_tree> build_line_tree(const index_info& info, const context& where_to,
                                            const column& keys,
                                            const std::optional<column>& row_ids,
                                            const pivot_tree_options& options) {
  return dispatch(info.key, info.row_ids, [&]<class Key, class RowId>() {
    return make_pivot_tree<tree_search::lines, Key, RowId, executor>(
        info, where_to, options,
        [&](const context& where) { return sort_column<Key, RowId>(where, keys, row_ids); });
  });
}

}  // namespace raydex::cuda
