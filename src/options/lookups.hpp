// SPDX-License-Identifier: Apache-2.0
// The options of the structures that search.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "raydex/btree.hpp"
#include "raydex/core/lookups/pivot_levels.hpp"
#include "raydex/direct.hpp"
#include "raydex/eytzinger.hpp"
#include "raydex/hash_bucket.hpp"
#include "raydex/hash_open.hpp"
#include "raydex/pivot_tree.hpp"
#include "raydex/sorted_array.hpp"
#include "src/options/option_table.hpp"

namespace raydex {

// What is not given of these, the structure chooses.
template <auto Batch>
inline constexpr std::array schedule_options{
    of_a_paper(choice<Batch, &batch_schedule::schedule>(
        "schedule",
        {{"dynamic", scheduling::dynamic}, {"static", scheduling::fixed}, {"one", scheduling::one}},
        "who assigns probes to multiprocessors")),
    number<Batch, &batch_schedule::threads>("threads", {128, 1024, true}, "threads of a block"),
    number<Batch, &batch_schedule::lookups>("lookups", {1, 16},
                                            "lookups one after the other in a thread or group"),
    of_a_paper(choice<Batch, &batch_schedule::pin>(
        "pin", {{"none", pinning::none}, {"steps", pinning::steps}, {"full", pinning::full}},
        "what shared memory holds of the upper levels")),
    choice<Batch, &batch_schedule::scan>("scan",
                                         {{"multi", scanning::multi}, {"single", scanning::single}},
                                         "whether threads share a range's matches")};

// Of structures that papers search in groups of threads, or with blocks that sort their probes.
template <auto Batch>
inline constexpr std::array paper_schedule_options{
    of_a_paper(choice<Batch, &batch_schedule::reorder>(
        "reorder",
        {{"none", reordering::none}, {"single", reordering::single}, {"double", reordering::twice}},
        "whether a block answers its probes in ascending order")),
    of_a_paper(choice<Batch, &batch_schedule::group>(
        "group", {{"exact", grouping::exact}, {"power", grouping::power}},
        "how many threads share a lookup: K - 1, or the next power of 2"))};

template <class Options>
inline constexpr option_entry layout_option =
    choice<&Options::layout>("layout", {{"column", layout::column}, {"row", layout::row}},
                             "keys and row ids in two arrays, or as entries of one");
template <class Options>
inline constexpr option_entry k_option = number<&Options::k>("k", {2, 33}, "children of a node");

inline constexpr auto sorted_array_table =
    table_of<sorted_array_options>({"sorted_array", searching_backends, true},
                                   std::array{of_a_paper(layout_option<sorted_array_options>)},
                                   schedule_options<&sorted_array_options::batch>,
                                   paper_schedule_options<&sorted_array_options::batch>);

inline constexpr auto eytzinger_table = table_of<eytzinger_options>(
    {"eytzinger", searching_backends, true},
    std::array{worth_trying("column", layout_option<eytzinger_options>),
               worth_trying("17", k_option<eytzinger_options>), former_option("ranges", {"ranks"})},
    schedule_options<&eytzinger_options::batch>, paper_schedule_options<&eytzinger_options::batch>);

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

inline constexpr auto btree_table = table_of<btree_options>(
    {"btree", searching_backends, true},
    std::array{number<&btree_options::fill>("fill", {50, 100},
                                            "percent of a page that a build or a split fills")},
    schedule_options<&btree_options::batch>);

inline constexpr auto direct_table =
    table_of<direct_options>({.name = "direct",
                              .backends = searching_backends,
                              .updates = true,
                              .keys = integer_keys,
                              .sparse = false},
                             std::array{number<&direct_options::limit>(
                                 "limit", {1, 1024}, "places that there may be for each key")},
                             schedule_options<&direct_options::batch>);

template <class Options>
inline constexpr option_entry repeats_option = choice<&Options::repeats>(
    "repeats", {{"allowed", repetition::allowed}, {"refused", repetition::refused}},
    "whether keys may repeat");
template <class Options>
inline constexpr option_entry reading_option = choice<&Options::reading>(
    "reading", {{"shared", bucket_reading::shared}, {"single", bucket_reading::single}},
    "which threads read the bucket of a point");

template <class Options>
inline constexpr option_entry seed_option = option<&Options::seed>(
    "seed", {{"random", not_given}}, {0, std::numeric_limits<std::uint32_t>::max()},
    "of the hash function: a number gives the same table each time");

inline constexpr auto hash_open_table = table_of<hash_open_options>(
    {.name = "hash_open", .backends = searching_backends, .updates = true, .ranges = false},
    std::array{worth_trying("50", number<&hash_open_options::load>(
                                      "load", {10, 95}, "percent of the slots that are filled")),
               number<&hash_open_options::bucket>("bucket", {64, 128, true}, "bytes of a bucket"),
               choice<&hash_open_options::placement>("placement",
                                                     {{"linear", core::hash_placement::linear},
                                                      {"jumps", core::hash_placement::jumps},
                                                      {"choices", core::hash_placement::choices}},
                                                     "where a key goes whose bucket is full"),
               repeats_option<hash_open_options>, reading_option<hash_open_options>,
               seed_option<hash_open_options>});

inline constexpr auto hash_bucket_table = table_of<hash_bucket_options>(
    {.name = "hash_bucket", .backends = searching_backends, .updates = true, .ranges = false},
    std::array{number<&hash_bucket_options::occupancy>(
                   "occupancy", {25, 400}, "percent of a node's slots that a bucket fills"),
               repeats_option<hash_bucket_options>, reading_option<hash_bucket_options>,
               seed_option<hash_bucket_options>});

}  // namespace raydex
