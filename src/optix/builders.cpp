// SPDX-License-Identifier: Apache-2.0
// What the backend optix builds; each builder is defined in the file of its structure.
#include "src/interface/builders.hpp"

// These know no rays.
namespace raydex::cuda {
aggregate_builder build_aggregate;
join_builder build_join;
index_join_builder build_join;
interval_join_builder build_interval_join;
asof_join_builder build_asof_join;
divider divide;
splitter_chooser choose_splitters;
sorted_searcher search_sorted;
sorted_searcher search_by_tree;
row_id_widener widen_row_ids;
found_marker mark_found;
wide_builder build_wide;
}  // namespace raydex::cuda

namespace raydex::optix {

// `build` is overloaded by the type of the options.
keys_builder<rx, rx_options> build;
keys_builder<cgrx, cgrx_options> build;

const backend_table table{.where = backend::optix,
                          .why_unavailable = why_unavailable,
                          .open_platform = open_platform,
                          .build_aggregate = cuda::build_aggregate,
                          .build_join = cuda::build_join,
                          .build_index_join = cuda::build_join,
                          .build_interval_join = cuda::build_interval_join,
                          .build_asof_join = cuda::build_asof_join,
                          .divide = cuda::divide,
                          .choose_splitters = cuda::choose_splitters,
                          .search_sorted = cuda::search_sorted,
                          .search_by_tree = cuda::search_by_tree,
                          .widen_row_ids = cuda::widen_row_ids,
                          .mark_found = cuda::mark_found,
                          .build_wide = cuda::build_wide,
                          .build_rx = build,
                          .build_cgrx = build};

}  // namespace raydex::optix
