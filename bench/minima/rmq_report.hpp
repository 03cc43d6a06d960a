// SPDX-License-Identifier: Apache-2.0
/// @file
/// What measurements of minima leave behind: a line of a table and a JSON object each.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/machine/floors.hpp"
#include "bench/minima/rmq_measure.hpp"
#include "bench/workloads/minima/rmq_answers.hpp"
#include "bench/workloads/minima/rmq_workload.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {

/// A measurement with all that is needed to judge and to repeat it.
struct rmq_row {
  rmq_measurement measured;
  rmq_workload what;
  rmq_result asked = rmq_result::min;
  lookup_floor floor;
  device_info device;
  std::string experiment;  ///< its name, or empty
  std::string options;     ///< those asked for, as `name=value` separated by spaces
  std::string command;     ///< measures this row again
};

/// The title of the table.
std::string rmq_table_head();
/// The row as a line under it.
std::string table_line(const rmq_row& row);
/// The row as a self-contained object.
nlohmann::ordered_json to_json(const rmq_row& row);
/// The options of `raydex bench` that make this workload.
std::string to_options(const rmq_workload& what);

}  // namespace raydex::bench
