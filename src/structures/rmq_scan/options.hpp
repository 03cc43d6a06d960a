// SPDX-License-Identifier: Apache-2.0
// The options of rmq_scan.
#pragma once

#include <array>

#include "raydex/rmq_scan.hpp"
#include "src/operations/minima/options.hpp"

namespace raydex {

inline constexpr auto rmq_scan_table = table_of<rmq_scan_options>(
    {"rmq_scan", searching_backends, true}, asked_options<rmq_scan_options>);

}  // namespace raydex
