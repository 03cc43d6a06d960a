// SPDX-License-Identifier: Apache-2.0
// The option of `sampled_array` by name.
#pragma once

#include <array>

#include "src/interface/option_table.hpp"
#include "tests/adding_a_structure/sampled_array.hpp"

namespace raydex {

inline constexpr auto sampled_array_table = table_of<sampled_array_options>(
    {"sampled_array", searching_backends},
    std::array{number<&sampled_array_options::sample>("sample", {2, 4096},
                                                      "entries for each key of the directory")});

}  // namespace raydex
