// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the texts of options to workloads: every axis takes a list, and all combinations are made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workloads/keys/answers.hpp"
#include "bench/workloads/keys/workload.hpp"

namespace raydex::bench {

/// The values of each axis as given, of keys or of minima. Empty: the workload's default; for
/// uniformity, 0 where probes are ranges; for keys, all values of an array out of a file.
struct axes {
  std::vector<std::string> keys{}, probes{}, batches{}, key_bits{}, uniformity{}, distribution{},
      stride{}, value_bits{}, multiplicity{}, insert_order{}, probe_order{}, hit_rate{}, miss{},
      zipf{}, range_hits{}, updated_from{}, waves{}, growth{}, array{}, array_file{}, period{},
      values{}, ranges{}, position_bits{}, changes{}, seed{};
};

/// Replaces the values of each axis that is given.
void replace(axes& all, const axes& given);

/// All combinations, each checked. Throws `invalid_argument` naming the option, also where it is
/// one of minima.
std::vector<workload> sweep(const axes& given);

/// A whole number such as 1000 or 2^26. Throws `invalid_argument` naming the option.
std::uint64_t parse_number(std::string_view option, std::string_view text);

/// The results by name.
std::vector<result> parse_results(const std::vector<std::string>& names);

}  // namespace raydex::bench
