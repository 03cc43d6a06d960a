// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the texts of options to workloads on minima.
#pragma once

#include <string>
#include <vector>

#include "bench/lookups/sweep.hpp"
#include "bench/workloads/minima/rmq_answers.hpp"
#include "bench/workloads/minima/rmq_workload.hpp"

namespace raydex::bench {

/// All combinations, each checked; reads the files that are named. Throws `invalid_argument` naming
/// the option, also where it is one of keys.
std::vector<rmq_workload> rmq_sweep(const axes& given);

/// The results by name.
std::vector<rmq_result> parse_rmq_results(const std::vector<std::string>& names);

/// `min` or `argmin`.
const char* to_string(rmq_result asked);

}  // namespace raydex::bench
