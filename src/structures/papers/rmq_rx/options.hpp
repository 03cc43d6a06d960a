// SPDX-License-Identifier: Apache-2.0
// The options of rmq_rx.
#pragma once

#include <array>

#include "raydex/rmq_rx.hpp"
#include "src/operations/minima/options.hpp"
#include "src/structures/shared/scene_options.hpp"

namespace raydex {

inline constexpr auto rmq_rx_table = table_of<rmq_rx_options>(
    {"rmq_rx", tracing_backends}, asked_options<rmq_rx_options>,
    std::array{number<&rmq_rx_options::block>(
        "block", {32, 4096, true}, "values, or minima of blocks, that a ray chooses from")},
    scene_build_options<rmq_rx_options>);

}  // namespace raydex
