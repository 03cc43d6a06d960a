// SPDX-License-Identifier: Apache-2.0
// `--report`: what a query took, as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "raydex/index.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

// What a query spent in the structure.
struct query_times {
  double build_ms = 0;
  std::optional<double> edit_ms{};  // where something changed after the build
  double lookup_ms = 0;
};

// A report's JSON text.
std::string report(const session& where, const index_info& source, std::uint64_t probes,
                   const query_times& times);
std::string report(const session& where, const rmq_info& source, std::uint64_t probes,
                   const query_times& times);

}  // namespace raydex::cli
