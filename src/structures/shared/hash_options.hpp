// SPDX-License-Identifier: Apache-2.0
// Options that both hash tables have.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "raydex/hash_options.hpp"
#include "src/interface/option_table.hpp"

namespace raydex {

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

}  // namespace raydex
