// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lookups of keys as a family that `raydex bench` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/lookups/measure.hpp"
#include "bench/machine/floors.hpp"
#include "bench/machine/machine.hpp"
#include "bench/report.hpp"
#include "bench/workloads/axes.hpp"
#include "bench/workloads/keys/answers.hpp"
#include "bench/workloads/keys/generated.hpp"
#include "bench/workloads/keys/workload.hpp"
#include "files/speed_cache.hpp"
#include "raydex/advise.hpp"

namespace raydex::bench {

/// A workload on keys, ready to be measured on, and what is known of all of them.
class lookup_family {
 public:
  using workload = bench::workload;
  using result = bench::result;
  /// What a build is compared with: the sort of its pairs.
  static constexpr const char* build_ratio = "x sort";

  /// Whether a structure belongs to it; `auto` does.
  static bool has(std::string_view structure);
  /// All combinations, each checked. Throws `invalid_argument` naming the option, also where it is
  /// one of minima.
  static std::vector<workload> sweep(const axes& given);
  /// The results by name; without any, the usual one.
  static std::vector<result> parse_results(const std::vector<std::string>& names);
  /// Refuses what a structure cannot do. Unknown names are left to `build`, which knows what to say
  /// about them; `auto` is one that can.
  static void check_able(const io::structure_choice& who, backend where, const workload& what);
  /// How many rows a measurement makes.
  static std::size_t rows_each(const workload& what);
  /// What a structure is chosen for.
  static use_case use_of(const workload& what, backend where);

  /// Generates the data.
  lookup_family(const workload& what, machine& where, floors& all);
  /// Measures what all structures are compared with.
  void measure_floors();
  /// One measurement, or one for each wave.
  std::vector<report_row> measure(result asked, const io::structure_choice& who, int repetitions);

 private:
  report_row row_of(const measurement& found, result asked);

  machine* machine_;
  floors* floors_;
  generated data_;
  reference_times references_;
};

/// `first`, `count`, `sum` or `rows`.
const char* to_string(result asked);
/// The options of `raydex bench` that make this workload.
std::string to_options(const workload& what);

}  // namespace raydex::bench
