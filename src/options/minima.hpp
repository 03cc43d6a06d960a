// SPDX-License-Identifier: Apache-2.0
// The options of the structures for range minima.
#pragma once

#include <array>
#include <limits>

#include "raydex/rmq_cover.hpp"
#include "raydex/rmq_hierarchy.hpp"
#include "raydex/rmq_lca.hpp"
#include "raydex/rmq_rx.hpp"
#include "raydex/rmq_scan.hpp"
#include "src/options/option_table.hpp"
#include "src/options/rays.hpp"

namespace raydex {

// What all of them have.
template <class Options>
inline constexpr std::array asked_options{
    choice<&Options::ties>("ties",
                           {{"leftmost", rmq_ties::leftmost}, {"rightmost", rmq_ties::rightmost}},
                           "which of equal values counts"),
    choice<&Options::extreme>(
        "extreme", {{"minimum", rmq_extreme::minimum}, {"maximum", rmq_extreme::maximum}},
        "which value of a range is asked for")};

inline constexpr auto rmq_cover_table = table_of<rmq_cover_options>(
    {"rmq_cover", searching_backends, true},
    std::array{choice<&rmq_cover_options::memory>(
        "memory", {{"fast", rmq_memory::fast}, {"small", rmq_memory::small}},
        "at most a quarter of the array's bytes, or a twenty-fifth")},
    asked_options<rmq_cover_options>);

inline constexpr auto rmq_hierarchy_table = table_of<rmq_hierarchy_options>(
    {"rmq_hierarchy", all_backends, true},
    std::array{
        option<&rmq_hierarchy_options::chunk>("chunk", {{"auto", not_given}}, {2, 1024, true},
                                              "values under a minimum"),
        option<&rmq_hierarchy_options::cutoff>("cutoff", {{"auto", not_given}},
                                               {2, std::numeric_limits<unsigned>::max()},
                                               "most entries of the last level"),
        choice<&rmq_hierarchy_options::top>("top",
                                            {{"auto", hierarchy_top::automatic},
                                             {"scan", hierarchy_top::scan},
                                             {"rays", hierarchy_top::rays}},
                                            "how the last level is asked"),
        choice<&rmq_hierarchy_options::load>("load",
                                             {{"auto", hierarchy_load::automatic},
                                              {"vector", hierarchy_load::vector},
                                              {"coalesced", hierarchy_load::coalesced}},
                                             "how threads read"),
        of_a_paper(option<&rmq_hierarchy_options::group>(
            "group", {{"auto", not_given}}, {1, 32, true}, "threads that answer a range together")),
        of_a_paper(choice<&rmq_hierarchy_options::assign>(
            "assign", {{"queue", hierarchy_assign::queue}, {"multi", hierarchy_assign::multi}},
            "how groups come by ranges")),
        former_option("kernel", {"own"})},
    asked_options<rmq_hierarchy_options>);

inline constexpr auto rmq_lca_table =
    table_of<rmq_lca_options>({"rmq_lca", searching_backends}, asked_options<rmq_lca_options>);

inline constexpr auto rmq_rx_table = table_of<rmq_rx_options>(
    {"rmq_rx", tracing_backends}, asked_options<rmq_rx_options>,
    std::array{number<&rmq_rx_options::block>(
        "block", {32, 4096, true}, "values, or minima of blocks, that a ray chooses from")},
    scene_build_options<rmq_rx_options>);

inline constexpr auto rmq_scan_table = table_of<rmq_scan_options>(
    {"rmq_scan", searching_backends, true}, asked_options<rmq_scan_options>);

}  // namespace raydex
