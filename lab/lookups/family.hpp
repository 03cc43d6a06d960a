// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lookups of keys as a family that `raydex bench` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/speed_cache.hpp"
#include "lab/experiment.hpp"
#include "lab/lookups/measure.hpp"
#include "lab/machine/floors.hpp"
#include "lab/machine/machine.hpp"
#include "lab/report.hpp"
#include "lab/workloads/axes.hpp"
#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "lab/workloads/keys/workload.hpp"
#include "raydex/advise.hpp"

namespace raydex::bench {

/// See `family`. A structure `auto` is of this one.
class lookup_family {
 public:
  using workload = bench::workload;
  using result = bench::result;
  static constexpr const char* build_ratio = "x sort";
  static constexpr const char* build_floor = "a sort of the keys with their row ids";

  static bool has(std::string_view structure) { return !is_of_minima(structure); }
  static std::vector<workload> sweep(const axes& swept);
  static std::vector<result> parse_results(const std::vector<std::string>& names);
  static void check_able(const io::structure_choice& who, backend where, const workload& spec);
  static std::size_t rows_each(const workload& spec);
  /// What `auto` chooses a structure for.
  static use_case use_of(const workload& spec, backend where);

  lookup_family(const workload& spec, machine& target, floors& all);
  void measure_floors();
  std::vector<report_row> measure(result kind, const io::structure_choice& who, int repetitions);

 private:
  report_row row_of(const measurement& found, result kind);

  machine* machine_;
  floors* floors_;
  generated data_;
  reference_times references_;
};

/// The options of `raydex bench` that make this workload.
std::string to_options(const workload& spec);

}  // namespace raydex::bench
