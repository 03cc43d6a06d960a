// SPDX-License-Identifier: Apache-2.0
// Measurements as text and as JSON.
#include "lab/report.hpp"

#include <fmt/format.h>

#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lab/commit.hpp"  // generated at build time

namespace raydex::bench {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(units)) {
    amount /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", amount, amount < 10 && unit != 0 ? 2 : 0, units[unit]);
}

constexpr const char* line_format =
    "{:<16} {:<6} {:>10} {:>7} {:>10} {:>9} {:>6} {:>9} {:>9}  {:<7}  {}";

double lookups_per_s(const report_row& row) {
  return ratio(static_cast<double>(row.probes) * 1e3, row.lookup_ms);
}

void add(nlohmann::ordered_json& object, const std::vector<field>& fields) {
  for (const auto& [name, value] : fields)
    std::visit([&, key = name](const auto& figure) { object[key] = figure; }, value);
}

nlohmann::ordered_json object_of(const report_row& row) {
  auto axes = nlohmann::ordered_json::object();
  add(axes, row.workload_axes);
  nlohmann::ordered_json object = {
      {"experiment", nullptr},
      {"structure", row.structure},
      {"options", row.options_in_force},
      {"backend", to_string(row.where)},
      {"device", row.device.name},
      {"driver", row.device.driver},
      {"rt_core_version", row.device.rt_core_version},
      {"key", to_string(row.key)},
      {"n", row.n},
      {"probes", row.probes},
      {"result", row.result},
      {"workload", row.workload},
      {"workload_axes", axes},
      {"seed", row.seed},
      {"build_ms", row.build_ms},
      {"lookup_ms", row.lookup_ms},
      {"lookups_per_s", lookups_per_s(row)},
      {"floor", row.floor.name},
      {"floor_per_s", row.floor.per_s},
      {"ratio", ratio(lookups_per_s(row), row.floor.per_s)},
      {"build_ratio", ratio(row.build_ms, row.build_floor_ms)},
      {"copy_bytes_per_s", row.floor.copy_bytes_per_s},
      {"resident_bytes", row.resident_bytes},
      {"build_peak_bytes", row.build_peak_bytes},
      {"repairs", row.repairs},
      {"correct", row.wrong == 0},
      {"wrong", row.wrong},
  };
  if (!row.experiment.empty()) object["experiment"] = row.experiment;
  add(object, row.more);
  object["commit"] = commit;
  object["date"] = row.date;
  object["command"] = row.command;
  return object;
}

}  // namespace

std::string table_head(const char* build_ratio) {
  return fmt::format(line_format, "structure", "result", "build ms", build_ratio, "lookup ms",
                     "M/s", "ratio", "resident", "peak", "answers", "workload");
}

std::string table_foot(const char* build_ratio, const char* build_floor) {
  return fmt::format(
      "ratio: lookups a second in parts of what memory here gives at best; {}: the time of the "
      "build "
      "in times of {}",
      build_ratio, build_floor);
}

std::string table_line(const report_row& row) {
  const double rate = lookups_per_s(row);
  std::string text = fmt::format(
      line_format, row.structure, row.result, fmt::format("{:.3f}", row.build_ms),
      fmt::format("{:.2f}", ratio(row.build_ms, row.build_floor_ms)),
      fmt::format("{:.3f}", row.lookup_ms), fmt::format("{:.1f}", rate / 1e6),
      fmt::format("{:.3f}", ratio(rate, row.floor.per_s)), bytes_text(row.resident_bytes),
      bytes_text(row.build_peak_bytes), row.wrong == 0 ? "correct" : "WRONG", row.workload);
  if (row.wrong != 0) text += fmt::format(" ({} wrong)", row.wrong);
  if (!row.options.empty()) text += "; " + row.options;
  text += row.changes_text;
  if (row.repairs != 0) text += fmt::format("; {} lookups repaired", row.repairs);
  return text + row.comparisons_text;
}

std::string to_json(const std::vector<report_row>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const report_row& row : rows)
    list.push_back(object_of(row));
  return list.dump(1) + "\n";
}

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

std::string date_text() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[sizeof "2000-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string machine_lines(const session& on) {
  return fmt::format("# device: {}\n# driver: {}\n# date: {}\n", on.device().name,
                     on.device().driver, date_text());
}

}  // namespace raydex::bench
