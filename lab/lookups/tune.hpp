// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measures all structures of a backend at a few sizes and workloads, for `advise` to decide by.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "raydex/session.hpp"
#include "raydex/speed_table.hpp"

namespace raydex::bench {

/// What `tune` found.
struct tuning {
  speed_table table;           ///< the measurements
  std::uint64_t left_out = 0;  ///< workloads that would have taken too long or too much memory
  std::vector<std::string> shortages;  ///< those that ran out of memory: which, whose, and how
};

/// Measures within about two minutes, or a few seconds if `quick`: fewer sizes, each once. Every
/// workload is measured with all structures that can answer it, so that none is judged by an easier
/// one; where one of them runs out of memory, none is, and the next workload follows. Tells
/// `advance` about each measurement, with their number. Throws `error` where an answer was wrong.
tuning tune(const session& on, bool quick, const std::function<void(std::uint64_t)>& advance);

}  // namespace raydex::bench
