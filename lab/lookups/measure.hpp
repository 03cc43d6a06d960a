// SPDX-License-Identifier: Apache-2.0
/// @file
/// One measurement: one structure, one workload, one kind of result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/machine/machine.hpp"
#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "raydex/index.hpp"

namespace raydex::bench {

/// What was measured of a wave of insertions or deletions.
struct wave_times {
  std::uint64_t number = 0;      ///< the first is 1
  double edit_ms = 0;            ///< the edit, until the device is idle
  double rebuild_ms = 0;         ///< the build of an index over what is held now, likewise
  double rebuilt_lookup_ms = 0;  ///< all batches, asked of that one
};

/// What was measured of an index. Times are medians.
struct measurement {
  index_info info;                   ///< the index
  double build_ms = 0;               ///< its build, allocations included, until the device is idle
  std::optional<wave_times> wave{};  ///< the wave that led to it, if any
  std::optional<double> aggregate_ms{};   ///< the build of an aggregate, where one answers
  std::uint64_t aggregate_bytes = 0;      ///< what it holds
  std::optional<double> join_build_ms{};  ///< the making of a join over the index, for `pairs`
  std::uint64_t join_bytes = 0;           ///< what it holds
  double lookup_ms = 0;                   ///< all batches, from the first call to the last answer
  std::uint64_t lookup_peak_bytes = 0;    ///< most bytes that lookups took at once
  std::uint64_t matches = 0;              ///< rows that all probes match
  std::uint64_t repairs = 0;              ///< lookups of all runs that rays did not answer rightly
  std::uint64_t wrong = 0;  ///< answers of the last run that differ from the expected ones
};

/// Builds `structure` over the data and asks it all batches, of `pairs` inner joins with what both
/// tables are gathered by, each `repetitions` times after one more to warm up (short ones more
/// often, see `median_call_of`), and checks every answer.
measurement measure(machine& target, const generated& data, result kind,
                    const std::string& structure, const option_map& options, int repetitions);

/// Builds `structure` over the data and sends all waves through it, `repetitions` times after one
/// more to warm up. After each of the last ones it asks all batches of the index and of one that is
/// built anew over what is held then, and checks every answer of both. `build_ms` is of the first
/// build. Leaves the data as they were.
std::vector<measurement> measure_waves(machine& target, generated& data, result kind,
                                       const std::string& structure, const option_map& options,
                                       int repetitions);

}  // namespace raydex::bench
