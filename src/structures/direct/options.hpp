// SPDX-License-Identifier: Apache-2.0
// The options of direct.
#pragma once

#include <array>

#include "raydex/direct.hpp"
#include "src/structures/shared/options.hpp"

namespace raydex {

inline constexpr auto direct_table =
    table_of<direct_options>({.name = "direct",
                              .backends = searching_backends,
                              .updates = true,
                              .keys = integer_keys,
                              .sparse = false},
                             std::array{number<&direct_options::limit>(
                                 "limit", {1, 1024}, "places that there may be for each key")},
                             schedule_options<&direct_options::batch>);

}  // namespace raydex
