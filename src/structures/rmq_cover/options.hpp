// SPDX-License-Identifier: Apache-2.0
// The options of rmq_cover.
#pragma once

#include <array>

#include "raydex/rmq_cover.hpp"
#include "src/operations/minima/options.hpp"

namespace raydex {

inline constexpr auto rmq_cover_table = table_of<rmq_cover_options>(
    {"rmq_cover", searching_backends, true},
    std::array{choice<&rmq_cover_options::memory>(
        "memory", {{"fast", rmq_memory::fast}, {"small", rmq_memory::small}},
        "at most a quarter of the array's bytes, or a twenty-fifth")},
    asked_options<rmq_cover_options>);

}  // namespace raydex
