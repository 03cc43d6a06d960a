// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the texts of options to workloads: every axis takes a list, and all combinations are made.
#pragma once

#include <string>
#include <vector>

#include "bench/answers.hpp"
#include "bench/workload.hpp"

namespace raydex::bench {

/// The values of each axis as given. Empty: the workload's default; for uniformity, 0 where probes
/// are ranges.
struct axes {
  std::vector<std::string> keys, probes, batches, key_bits, uniformity, stride, value_bits,
      multiplicity, insert_order, probe_order, hit_rate, miss, zipf, range_hits, seed;
};

/// All combinations, each checked. Throws `invalid_argument` naming the option.
std::vector<workload> sweep(const axes& given);

/// The results by name.
std::vector<result> parse_results(const std::vector<std::string>& names);

}  // namespace raydex::bench
