// SPDX-License-Identifier: Apache-2.0
/// @file
/// One measurement of a structure for minima: one workload, one kind of result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/machine/machine.hpp"
#include "lab/workloads/minima/rmq_answers.hpp"
#include "lab/workloads/minima/rmq_generated.hpp"
#include "raydex/rmq.hpp"

namespace raydex::bench {

/// What was measured of a structure. Times are medians.
struct rmq_measurement {
  rmq_info info;         ///< the structure
  double build_ms = 0;   ///< its build, allocations included, until the device is idle
  double lookup_ms = 0;  ///< the batch
  std::optional<double> refresh_ms{};  ///< where something changed, until the device is idle
  std::uint64_t repairs = 0;           ///< lookups of all runs that rays did not answer rightly
  std::uint64_t wrong = 0;  ///< answers of the last run that differ from the expected ones
};

/// Builds `structure` over the array, tells it of changes if there are any, and asks it all ranges,
/// each `repetitions` times after one more to warm up, and checks every answer.
rmq_measurement measure(machine& target, const rmq_generated& data, rmq_result kind,
                        const std::string& structure, const option_map& options, int repetitions);

}  // namespace raydex::bench
