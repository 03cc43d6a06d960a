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

#include "lab/machine/machine.hpp"
#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/keys/generated.hpp"

namespace raydex::bench {

/// The floor of a workload's lookups.
struct lookup_floor {
  std::string name;             ///< what `per_s` is
  double per_s = 0;             ///< probes per second that the hardware could answer
  double copy_bytes_per_s = 0;  ///< bytes read plus bytes written
};

/// What the minima of a workload are compared with.
struct minima_references {
  double copy_bytes_per_s = 0;  ///< bytes read plus bytes written
  double gather_per_s = 0;  ///< streamed gathers, one a range, from a table as large as the array
};

/// What the backend's own algorithms take on a workload's data.
struct reference_times {
  double sort_ms = 0;                    ///< sort of n (key, row id) pairs
  std::optional<double> sort_probes_ms;  ///< sorted probes: of (probe, number) pairs
  std::optional<double> lower_bound_ms;  ///< CPU, points: std::lower_bound in parallel
};

/// The floor of a join of all probes, the build of its index included: the sort of the keys with
/// their row ids, and the floor of the probes.
double join_floor_ms(const reference_times& references, const lookup_floor& of_probes,
                     std::uint64_t probes);

/// Measures floors.
class floors {
 public:
  floors(machine& target, int repetitions) : machine_(&target), repetitions_(repetitions) {}

  /// The floor of lookups. For points: the streamed gather from a table as large as keys and row
  /// ids, in order where the probes are. Where probes match more than one row on average, the
  /// reading of the row ids (for `rows` also their writing) at copy bandwidth is added, unless the
  /// rows are only counted or the first of a point is asked for. For `pairs` it is the same gather
  /// and the writing of two row numbers for each row of the join, and reading its row id where
  /// probes match more than one on average. Each gather and the copy are measured once and
  /// remembered.
  lookup_floor lookups(const workload& spec, std::uint64_t matches, result kind);

  /// What minima over an array of so many bytes are compared with. A gather is no floor of theirs:
  /// answers of long ranges may come from a few lines that stay in the caches.
  minima_references minima(std::uint64_t array_bytes, std::uint64_t ranges);

  /// Sorts and searches the data by other means.
  reference_times references(const generated& data);

 private:
  double copy_bytes_per_s();
  double gather_per_s(std::uint64_t table_bytes, std::uint64_t probes, bool sorted);

  machine* machine_;
  int repetitions_;
  double copy_bytes_per_s_ = 0;
  std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, double> gathers_;
};

}  // namespace raydex::bench
