// SPDX-License-Identifier: Apache-2.0
// The options of hash_bucket.
#pragma once

#include <array>

#include "raydex/hash_bucket.hpp"
#include "src/structures/shared/hash_options.hpp"

namespace raydex {

inline constexpr auto hash_bucket_table = table_of<hash_bucket_options>(
    {.name = "hash_bucket", .backends = searching_backends, .updates = true, .ranges = false},
    std::array{number<&hash_bucket_options::occupancy>(
                   "occupancy", {25, 400}, "percent of a node's slots that a bucket fills"),
               repeats_option<hash_bucket_options>, reading_option<hash_bucket_options>,
               seed_option<hash_bucket_options>});

}  // namespace raydex
