// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `raydex bench` leaves behind: a line of a table and a JSON object per measurement.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/lookups/measure.hpp"
#include "bench/machine/floors.hpp"
#include "bench/workloads/keys/answers.hpp"
#include "bench/workloads/keys/workload.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {

/// A measurement with all that is needed to judge and to repeat it.
struct report_row {
  measurement measured;
  workload what;
  result asked = result::first;
  lookup_floor floor;
  reference_times references;
  device_info device;
  std::string experiment;  ///< its name, or empty
  std::string options;     ///< those asked for, as `name=value` separated by spaces
  std::string command;     ///< measures this row again
};

/// `first`, `count`, `sum` or `rows`.
const char* to_string(result asked);

/// The title of the table.
std::string table_head();
/// The row as a line under it.
std::string table_line(const report_row& row);
/// The row as a self-contained object.
nlohmann::ordered_json to_json(const report_row& row);
/// The options of `raydex bench` that make this workload.
std::string to_options(const workload& what);

}  // namespace raydex::bench
