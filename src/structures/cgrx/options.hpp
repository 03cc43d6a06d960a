// SPDX-License-Identifier: Apache-2.0
// The options of cgrx.
#pragma once

#include <array>

#include "raydex/cgrx.hpp"
#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "src/structures/shared/scene_options.hpp"

namespace raydex {

inline constexpr auto cgrx_table = table_of<cgrx_options>(
    {"cgrx", tracing_backends, true},
    std::array{
        number<&cgrx_options::bucket>("bucket", {2, 65'536}, "entries of a bucket at the build"),
        option<&cgrx_options::node>("node", {{"off", 0}}, {2, core::most_node_entries},
                                    "buckets are lists of nodes with room for so many entries"),
        choice<&cgrx_options::layout>("layout",
                                      {{"column", cgrx_layout::column},
                                       {"aligned", cgrx_layout::aligned},
                                       {"packed", cgrx_layout::packed}},
                                      "how entries lie in memory"),
        choice<&cgrx_options::scene>("scene",
                                     {{"auto", not_given},
                                      {"spans", core::bucket_scene::spans},
                                      {"optimised", core::bucket_scene::optimised},
                                      {"naive", core::bucket_scene::naive}},
                                     "what stands for a bucket"),
        of_a_paper(choice<&cgrx_options::mapping>(
            "mapping", {{"fit", cgrx_mapping::fit}, {"bits", cgrx_mapping::bits}},
            "how keys become places")),
        of_a_paper(only_with("mapping=bits", bits_option<cgrx_options>)),
        of_a_paper(only_with("mapping=bits", scale_option<cgrx_options>)),
        choice<&cgrx_options::search>("search",
                                      {{"auto", not_given},
                                       {"binary", core::bucket_search::binary},
                                       {"linear", core::bucket_search::linear},
                                       {"interpolated", core::bucket_search::interpolated}},
                                      "how a bucket is searched"),
        choice<&cgrx_options::scan>("scan",
                                    {{"multi", scanning::multi}, {"single", scanning::single}},
                                    "whether threads share a range's matches")},
    scene_build_options<cgrx_options>,
    std::array{
        parts_option<cgrx_options>, order_option<cgrx_options>,
        option<&cgrx_options::rebuild>(
            "rebuild", {{"never", 0}},
            {2, 1024}, "buckets this many times as large as at the build rebuild the scene")});

}  // namespace raydex
