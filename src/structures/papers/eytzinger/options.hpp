// SPDX-License-Identifier: Apache-2.0
// The options of eytzinger.
#pragma once

#include <array>

#include "raydex/eytzinger.hpp"
#include "src/structures/shared/options.hpp"

namespace raydex {

inline constexpr auto eytzinger_table = table_of<eytzinger_options>(
    {"eytzinger", searching_backends, true},
    std::array{worth_trying("column", layout_option<eytzinger_options>),
               worth_trying("17", k_option<eytzinger_options>), former_option("ranges", {"ranks"})},
    schedule_options<&eytzinger_options::batch>, paper_schedule_options<&eytzinger_options::batch>);

}  // namespace raydex
