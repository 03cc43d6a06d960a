// SPDX-License-Identifier: Apache-2.0
// Options that several structures have.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "raydex/options.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/option_table.hpp"

namespace raydex {

// The structure chooses those that the caller does not.
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

// Of hash tables.
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

// Of structures for minima.
template <class Options>
inline constexpr std::array minima_options{
    choice<&Options::ties>("ties",
                           {{"leftmost", rmq_ties::leftmost}, {"rightmost", rmq_ties::rightmost}},
                           "which of equal values counts"),
    choice<&Options::extreme>(
        "extreme", {{"minimum", rmq_extreme::minimum}, {"maximum", rmq_extreme::maximum}},
        "which value of a range is asked for")};

}  // namespace raydex
