// SPDX-License-Identifier: Apache-2.0
/// @file
/// Range minima as a family that `raydex bench` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/machine/floors.hpp"
#include "bench/machine/machine.hpp"
#include "bench/minima/measure.hpp"
#include "bench/report.hpp"
#include "bench/workloads/axes.hpp"
#include "bench/workloads/minima/rmq_answers.hpp"
#include "bench/workloads/minima/rmq_generated.hpp"
#include "bench/workloads/minima/rmq_workload.hpp"
#include "files/speed_cache.hpp"

namespace raydex::bench {

/// A workload on minima, ready to be measured on, and what is known of all of them.
class minima_family {
 public:
  using workload = rmq_workload;
  using result = rmq_result;
  /// What a build is compared with: the time to read the array.
  static constexpr const char* build_ratio = "x read";

  /// Whether a structure belongs to it, by its name.
  static bool has(std::string_view structure) { return structure.starts_with("rmq_"); }
  /// All combinations, each checked; reads the files that are named. Throws `invalid_argument`
  /// naming the option, also where it is one of keys.
  static std::vector<workload> sweep(const axes& given);
  /// The results by name; without any, the usual one.
  static std::vector<result> parse_results(const std::vector<std::string>& names);
  /// Refuses what a structure cannot do. Unknown names are left to `build_rmq`, which knows what to
  /// say about them.
  static void check_able(const io::structure_choice& who, backend where, const workload& what);
  /// How many rows a measurement makes.
  static std::size_t rows_each(const workload&) { return 1; }

  /// Generates the data.
  minima_family(const workload& what, machine& where, floors& all);
  /// Measures what all structures are compared with.
  void measure_floors();
  /// One measurement.
  std::vector<report_row> measure(result asked, const io::structure_choice& who, int repetitions);

 private:
  machine* machine_;
  floors* floors_;
  rmq_generated data_;
  lookup_floor floor_;
};

/// A measurement as a row, whoever made it.
report_row row_of(const rmq_measurement& found, const rmq_workload& what, rmq_result asked,
                  const lookup_floor& floor);

/// `min` or `argmin`.
const char* to_string(rmq_result asked);
/// The options of `raydex bench` that make this workload.
std::string to_options(const rmq_workload& what);

}  // namespace raydex::bench
