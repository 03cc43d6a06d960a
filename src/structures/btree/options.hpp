// SPDX-License-Identifier: Apache-2.0
// The options of btree.
#pragma once

#include <array>

#include "raydex/btree.hpp"
#include "src/structures/shared/options.hpp"

namespace raydex {

inline constexpr auto btree_table = table_of<btree_options>(
    {"btree", searching_backends, true},
    std::array{number<&btree_options::fill>("fill", {50, 100},
                                            "percent of a page that a build or a split fills")},
    schedule_options<&btree_options::batch>);

}  // namespace raydex
