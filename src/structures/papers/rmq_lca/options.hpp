// SPDX-License-Identifier: Apache-2.0
// The options of rmq_lca.
#pragma once

#include <array>

#include "raydex/rmq_lca.hpp"
#include "src/operations/minima/options.hpp"

namespace raydex {

inline constexpr auto rmq_lca_table =
    table_of<rmq_lca_options>({"rmq_lca", searching_backends}, asked_options<rmq_lca_options>);

}  // namespace raydex
