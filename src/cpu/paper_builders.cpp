// SPDX-License-Identifier: Apache-2.0
// What the backend cpu builds in libraydex_papers; each builder is defined in the file of its
// structure.
#include "src/interface/builders.hpp"

namespace raydex::cpu {

// `build` is overloaded by the type of the options.
keys_builder<eytzinger, eytzinger_options> build;
keys_builder<sorted_array, sorted_array_options> build_row_array;
keys_builder<hash_open, hash_open_options> build_two_line_hash;
keys_builder<pivot_tree, pivot_tree_options> build_group_tree;
keys_builder<rx, rx_options> build_row_rx;
minima_builder<rmq_hierarchy, rmq_hierarchy_options> build;
minima_builder<rmq, rmq_lca_options> build;
minima_builder<rmq, rmq_rx_options> build;

const paper_table papers{.where = backend::cpu,
                         .build_eytzinger = build,
                         .build_row_array = build_row_array,
                         .build_two_line_hash = build_two_line_hash,
                         .build_group_tree = build_group_tree,
                         .build_row_rx = build_row_rx,
                         .build_rmq_hierarchy = build,
                         .build_rmq_lca = build,
                         .build_rmq_rx = build};

}  // namespace raydex::cpu
