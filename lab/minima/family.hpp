// SPDX-License-Identifier: Apache-2.0
/// @file
/// Range minima as a family that `raydex bench` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/speed_cache.hpp"
#include "lab/experiment.hpp"
#include "lab/machine/floors.hpp"
#include "lab/machine/machine.hpp"
#include "lab/minima/measure.hpp"
#include "lab/report.hpp"
#include "lab/workloads/axes.hpp"
#include "lab/workloads/minima/rmq_answers.hpp"
#include "lab/workloads/minima/rmq_generated.hpp"
#include "lab/workloads/minima/rmq_workload.hpp"

namespace raydex::bench {

/// See `family`.
class minima_family {
 public:
  using workload = rmq_workload;
  using result = rmq_result;
  static constexpr const char* build_ratio = "x read";
  static constexpr const char* build_floor = "reading the array once";

  static bool has(std::string_view structure) { return is_of_minima(structure); }
  static std::vector<workload> sweep(const axes& swept);
  static std::vector<result> parse_results(const std::vector<std::string>& names);
  static void check_able(const io::structure_choice& who, backend where, const workload& spec);
  static std::size_t rows_each(const workload&) { return 1; }

  minima_family(const workload& spec, machine& target, floors& all);
  void measure_floors();
  std::vector<report_row> measure(result kind, const io::structure_choice& who, int repetitions);

 private:
  machine* machine_;
  floors* floors_;
  rmq_generated data_;
  minima_references references_;
};

/// A measurement as a row, whoever made it.
report_row row_of(const rmq_measurement& found, const rmq_workload& spec, rmq_result kind,
                  const minima_references& references);

/// The options of `raydex bench` that make this workload.
std::string to_options(const rmq_workload& spec);

}  // namespace raydex::bench
