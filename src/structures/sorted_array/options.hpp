// SPDX-License-Identifier: Apache-2.0
// The options of sorted_array.
#pragma once

#include <array>

#include "raydex/sorted_array.hpp"
#include "src/structures/shared/options.hpp"

namespace raydex {

inline constexpr auto sorted_array_table =
    table_of<sorted_array_options>({"sorted_array", searching_backends, true},
                                   std::array{of_a_paper(layout_option<sorted_array_options>)},
                                   schedule_options<&sorted_array_options::batch>,
                                   paper_schedule_options<&sorted_array_options::batch>);

}  // namespace raydex
