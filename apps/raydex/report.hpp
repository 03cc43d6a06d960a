// SPDX-License-Identifier: Apache-2.0
// `--report`: what a query took, as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "raydex/index.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// A report's JSON text.
std::string report(const session& where, const index_info& source, std::uint64_t probes,
                   double build_ms, double lookup_ms);

}  // namespace raydex::cli
