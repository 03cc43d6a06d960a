// SPDX-License-Identifier: Apache-2.0
// The options of rmq_hierarchy.
#pragma once

#include <array>

#include "raydex/rmq_hierarchy.hpp"
#include "src/operations/minima/options.hpp"

namespace raydex {

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

}  // namespace raydex
