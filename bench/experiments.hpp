// SPDX-License-Identifier: Apache-2.0
/// @file
/// The papers' experiments as named runs of `raydex bench`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/answers.hpp"
#include "bench/sweep.hpp"
#include "bench/workload.hpp"
#include "raydex/index.hpp"

namespace raydex::bench {

/// A structure with its options.
struct candidate {
  std::string structure;
  option_map options{};

  friend bool operator==(const candidate&, const candidate&) = default;
};

/// Who is asked what on which workloads: all combinations.
struct trial {
  /// Each a structure and its options, `eytzinger k=3,9 layout=row`; all combinations of the values
  /// are candidates.
  std::vector<std::string> candidates;
  axes workloads{};
  std::vector<std::string> results{"first"};
};

/// Trials that answer one question together.
struct experiment {
  std::string name{};   ///< `paper/figure`; empty for a sweep out of options
  std::string title{};  ///< what varies
  std::string note{};   ///< where it differs from the paper; may be empty
  std::vector<trial> trials{};
  int repetitions = 3;
};

/// All experiments.
const std::vector<experiment>& experiments();

/// Those of the names; `lightweight/14*` is all that begin so. Throws `invalid_argument`.
std::vector<experiment> find_experiments(const std::vector<std::string>& names);

/// The candidates that a text stands for. Throws `invalid_argument`.
std::vector<candidate> parse_candidates(std::string_view text);

/// The options as `name=value`, separated by spaces.
std::string to_text(const option_map& options);

/// A measurement, and who wants it.
struct task {
  result asked;
  candidate who;
  std::vector<std::string> experiments{};  ///< names
};

/// A workload with all measurements on it.
struct scene {
  workload what;
  std::vector<task> tasks{};
};

/// The measurements of all experiments, each once, by workload, so that its data are generated
/// once. Throws `invalid_argument`.
std::vector<scene> plan(const std::vector<experiment>& chosen);

}  // namespace raydex::bench
