// SPDX-License-Identifier: Apache-2.0
/// @file
/// One measurement: one structure, one workload, one kind of result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/answers.hpp"
#include "bench/generated.hpp"
#include "bench/machine.hpp"
#include "raydex/index.hpp"

namespace raydex::bench {

/// What was measured of an index. Times are medians.
struct measurement {
  index_info info;                    ///< the index
  double build_ms = 0;                ///< its build, allocations included, until the device is idle
  std::optional<double> update_ms{};  ///< its update, likewise, where the workload has one
  double lookup_ms = 0;               ///< all batches
  std::optional<std::uint64_t> repairs{};  ///< lookups of all runs that `cgrx` had to repair
  std::uint64_t wrong = 0;  ///< answers of the last run that differ from the expected ones
};

/// Builds `structure` over the data, or over the keys before and updates it to the data, and asks
/// it all batches, each `repetitions` times after one more to warm up, and checks every answer. A
/// workload with an update is for `rx` alone.
measurement measure(machine& where, const generated& data, result asked,
                    const std::string& structure, const option_map& options, int repetitions);

}  // namespace raydex::bench
