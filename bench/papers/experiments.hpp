// SPDX-License-Identifier: Apache-2.0
/// @file
/// The papers' experiments as named runs of `raydex bench`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/lookups/sweep.hpp"
#include "bench/workloads/keys/answers.hpp"
#include "bench/workloads/keys/workload.hpp"
#include "bench/workloads/minima/rmq_answers.hpp"
#include "bench/workloads/minima/rmq_workload.hpp"
#include "raydex/index.hpp"

namespace raydex::bench {

/// A structure with its options.
struct candidate {
  std::string structure;
  option_map options{};

  friend bool operator==(const candidate&, const candidate&) = default;
};

/// Who is asked what on which workloads: all combinations. Structures whose names begin with `rmq_`
/// are asked for minima, the others for keys.
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

/// Those of the GPU-RMQ paper.
std::vector<experiment> rmq_experiments();

/// All experiments.
const std::vector<experiment>& experiments();

/// Those of the names; `lightweight/14*` is all that begin so. Throws `invalid_argument`.
std::vector<experiment> find_experiments(const std::vector<std::string>& names);

/// The candidates that a text stands for. Throws `invalid_argument`.
std::vector<candidate> parse_candidates(std::string_view text);

/// The options as `name=value`, separated by spaces.
std::string to_text(const option_map& options);

/// A measurement, and who wants it.
template <class Result>
struct basic_task {
  Result asked;
  candidate who;
  std::vector<std::string> experiments{};  ///< names
};

/// A workload with all measurements on it.
template <class Workload, class Result>
struct basic_scene {
  Workload what;
  std::vector<basic_task<Result>> tasks{};
};

using task = basic_task<result>;                          ///< of keys
using scene = basic_scene<workload, result>;              ///< of keys
using rmq_scene = basic_scene<rmq_workload, rmq_result>;  ///< of minima

/// The measurements of keys of all experiments, each once, by workload, so that its data are
/// generated once. Throws `invalid_argument`.
std::vector<scene> plan(const std::vector<experiment>& chosen);

/// The same of minima.
std::vector<rmq_scene> rmq_plan(const std::vector<experiment>& chosen);

}  // namespace raydex::bench
