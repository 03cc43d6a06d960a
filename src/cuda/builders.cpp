// SPDX-License-Identifier: Apache-2.0
// What the backend cuda builds; each builder is defined in the file of its structure.
#include "src/interface/builders.hpp"

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
// `build` is overloaded by the type of the options.
keys_builder<sorted_array, sorted_array_options> build;
keys_builder<pivot_tree, pivot_tree_options> build_line_tree;
keys_builder<btree, btree_options> build;
keys_builder<direct, direct_options> build;
keys_builder<hash_open, hash_open_options> build;
keys_builder<hash_bucket, hash_bucket_options> build;
minima_builder<rmq_cover, rmq_cover_options> build;
minima_builder<rmq, rmq_scan_options> build;

const backend_table table{.where = backend::cuda,
                          .why_unavailable = why_unavailable,
                          .open_platform = open_platform,
                          .build_aggregate = build_aggregate,
                          .build_join = build_join,
                          .build_index_join = build_join,
                          .build_interval_join = build_interval_join,
                          .build_asof_join = build_asof_join,
                          .divide = divide,
                          .choose_splitters = choose_splitters,
                          .search_sorted = search_sorted,
                          .search_by_tree = search_by_tree,
                          .widen_row_ids = widen_row_ids,
                          .mark_found = mark_found,
                          .build_wide = build_wide,
                          .build_sorted_array = build,
                          .build_line_tree = build_line_tree,
                          .build_btree = build,
                          .build_direct = build,
                          .build_hash_open = build,
                          .build_hash_bucket = build,
                          .build_rmq_cover = build,
                          .build_rmq_scan = build};

}  // namespace raydex::cuda
