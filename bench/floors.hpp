// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hardware floors: what the machine can do at best, measured in the same run as the indexes. Every
/// rate of an index is also given as a ratio to one of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "bench/answers.hpp"
#include "bench/generated.hpp"
#include "bench/machine.hpp"

namespace raydex::bench {

/// The floors of one workload.
struct floor_figures {
  std::string name;              ///< what `per_s` is
  double per_s = 0;              ///< probes per second that the hardware could answer
  double copy_bytes_per_s = 0;   ///< bytes read plus bytes written
  double sort_ms = 0;            ///< radix sort of n (key, row id) pairs
  std::optional<double> sort_probes_ms;     ///< sorted probes: of (probe, number) pairs
  std::optional<double> lower_bound_per_s;  ///< CPU, points: std::lower_bound in parallel
};

/// Measures floors, each once: runs that need the same one share it.
class floors {
 public:
  floors(machine& where, int repetitions) : machine_(&where), repetitions_(repetitions) {}

  /// Those of a workload. Point lookups: the streamed gather from a table as large as keys and row
  /// ids, probes in order where the workload's are. Where a probe matches more than one row, the
  /// reading of the row ids (for `rows` also their writing) at copy bandwidth is added.
  floor_figures of(const generated& data, result asked);

 private:
  double copy_bytes_per_s();
  double gather_per_s(std::uint64_t table_bytes, std::uint64_t probes, bool sorted);

  machine* machine_;
  int repetitions_;
  double copy_bytes_per_s_ = 0;
  std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, double> gathers_;
  const generated* sorted_data_ = nullptr;  // what the sorts below were measured on
  double sort_ms_ = 0;
  std::optional<double> sort_probes_ms_;
  std::optional<double> lower_bound_per_s_;
};

}  // namespace raydex::bench
