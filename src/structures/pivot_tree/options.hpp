// SPDX-License-Identifier: Apache-2.0
// The options of pivot_tree.
#pragma once

#include <array>

#include "raydex/core/lookups/pivot_levels.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/structures/shared/options.hpp"

namespace raydex {

inline constexpr auto pivot_tree_table = table_of<pivot_tree_options>(
    {"pivot_tree", searching_backends, true},
    std::array{of_a_paper(layout_option<pivot_tree_options>),
               of_a_paper(choice<&pivot_tree_options::search>(
                   "search", {{"lines", tree_search::lines}, {"groups", tree_search::groups}},
                   "nodes of a cache line, or of K - 1 pivots")),
               only_with("search=lines", choice<&pivot_tree_options::nodes>(
                                             "nodes",
                                             {{"auto", tree_nodes::automatic},
                                              {"exact", tree_nodes::exact},
                                              {"quantised", tree_nodes::quantised}},
                                             "pivots as they are, or as separators of 15 bits")),
               of_a_paper(only_with("search=groups", k_option<pivot_tree_options>)),
               of_a_paper(only_with("search=groups", option<&pivot_tree_options::levels>(
                                                         "levels", {{"all", not_given}},
                                                         {1, core::pivot_levels::most},
                                                         "levels of pivots above the leaves")))},
    schedule_options<&pivot_tree_options::batch>,
    all_only_with("search=groups", paper_schedule_options<&pivot_tree_options::batch>));

}  // namespace raydex
