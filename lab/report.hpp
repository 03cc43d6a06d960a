// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a measurement leaves behind: a line of a table and a JSON object.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lab/machine/floors.hpp"
#include "raydex/column.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {

/// A figure or a word with its name.
using field = std::pair<const char*, std::variant<int, std::uint64_t, double, std::string>>;

/// A measurement of any family with all that is needed to judge and to repeat it.
struct report_row {
  /// @name The structure
  /// @{
  std::string structure;
  std::string options_in_force;  ///< as `name=value` separated by spaces
  backend where = backend::cpu;
  key_format key{};     ///< of keys or values
  std::uint64_t n = 0;  ///< keys or values
  std::uint64_t resident_bytes = 0;
  std::uint64_t build_peak_bytes = 0;
  /// @}

  /// @name What was asked
  /// @{
  std::string result;
  std::string workload;
  std::vector<field> workload_axes;
  std::uint64_t probes = 0;
  std::uint64_t seed = 0;
  /// @}

  /// @name What was measured
  /// @{
  double build_ms = 0;
  double build_floor_ms = 0;  ///< the hardware's time for the like of a build
  double lookup_ms = 0;
  lookup_floor floor;
  std::uint64_t repairs = 0;  ///< lookups that rays did not answer rightly
  std::uint64_t wrong = 0;
  std::vector<field> more;   ///< figures of this family alone
  std::string changes_text;  ///< what came between build and lookups or about them, for the table
  std::string comparisons_text;  ///< what other means take, for the table
  /// @}

  /// @name The run
  /// @{
  device_info device;
  std::string experiment;  ///< its name, or empty
  std::string options;     ///< those asked for, as `name=value` separated by spaces
  std::string command;     ///< measures this row again
  std::string date;
  /// @}
};

/// A row of what measurements of all families have.
template <class Measurement, class Workload, class Result>
report_row begin_row(const Measurement& found, const Workload& spec, Result kind) {
  report_row row;
  row.structure = found.info.structure;
  row.options_in_force = found.info.options;
  row.where = found.info.where;
  row.n = found.info.n;
  row.resident_bytes = found.info.resident_bytes;
  row.build_peak_bytes = found.info.build_peak_bytes;
  row.result = to_string(kind);
  row.workload = describe(spec);
  row.probes = spec.probes;
  row.seed = spec.seed;
  row.build_ms = found.build_ms;
  row.lookup_ms = found.lookup_ms;
  row.repairs = found.repairs;
  row.wrong = found.wrong;
  return row;
}

/// The title of the table; `build_ratio` is that of the column of builds beside their floor.
std::string table_head(const char* build_ratio);
/// What its ratios are, for a line below.
std::string table_foot(const char* build_ratio, const char* build_floor);
/// The row as a line under the title.
std::string table_line(const report_row& row);
/// The rows as a list of self-contained objects.
std::string to_json(const std::vector<report_row>& rows);

/// A part of a whole; 0 where the whole is.
double ratio(double part, double whole);
/// The date and time, UTC.
std::string date_text();
/// What a table of a program other than `raydex bench` says of its machine, in lines above it.
std::string machine_lines(const session& on);

}  // namespace raydex::bench
