// SPDX-License-Identifier: Apache-2.0
// The options of hash_open.
#pragma once

#include <array>

#include "raydex/hash_open.hpp"
#include "src/structures/shared/hash_options.hpp"

namespace raydex {

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

}  // namespace raydex
