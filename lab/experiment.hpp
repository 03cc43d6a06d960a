// SPDX-License-Identifier: Apache-2.0
/// @file
/// An experiment: which structures are asked what on which workloads, as texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/speed_cache.hpp"
#include "lab/workloads/axes.hpp"
#include "raydex/index.hpp"

namespace raydex::bench {

/// Whether a structure is asked for minima; others are for keys, also those that do not exist.
inline bool is_of_minima(std::string_view structure) {
  return structure.starts_with("rmq_");
}

/// Who is asked what on which workloads: all combinations.
struct trial {
  /// Each a structure and its options, `eytzinger k=3,9 layout=row`; all combinations of the values
  /// are candidates.
  std::vector<std::string> candidates;
  axes workloads{};
  std::vector<std::string> results{};  ///< empty: `first`; of minima, `min`
};

/// Trials that answer one question together.
struct experiment {
  std::string name{};   ///< `paper/figure`; empty for a sweep out of options
  std::string title{};  ///< what varies
  std::string note{};   ///< where it differs from the paper; may be empty
  std::vector<trial> trials{};
  int repetitions = 3;
};

/// The candidates that a text stands for. Throws `invalid_argument`.
std::vector<io::structure_choice> parse_candidates(std::string_view text);

/// The options as `name=value`, separated by spaces.
std::string to_text(const option_map& options);

}  // namespace raydex::bench
