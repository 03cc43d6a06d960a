// SPDX-License-Identifier: Apache-2.0
// Measurements of minima as text and as JSON.
#include "bench/minima/rmq_report.hpp"

#include <fmt/format.h>

#include "bench/minima/rmq_sweep.hpp"
#include "bench/report_text.hpp"
#include "bench/workloads/keys/workload.hpp"
#include "raydex/bench/commit.hpp"  // generated at build time

namespace raydex::bench {
namespace {

double lookups_per_s(const rmq_row& row) {
  return ratio(static_cast<double>(row.what.probes) * 1e3, row.measured.lookup_ms);
}

// The time to read the array once, as fast as a copy reads and writes.
double read_ms(const rmq_row& row) {
  return ratio(static_cast<double>(row.what.keys * row.what.value.width) * 1e3,
               row.floor.copy_bytes_per_s);
}

// Bytes that are read and written for each range in any case: its ends and its answer.
std::uint64_t bytes_per_range(const rmq_row& row) {
  const auto ends = static_cast<std::uint64_t>(2 * row.what.position_bits / 8);
  return ends + (row.asked == rmq_result::argmin ? 8 : row.what.value.width);
}

nlohmann::ordered_json workload_json(const rmq_workload& what) {
  return {{"keys", what.keys},
          {"probes", what.probes},
          {"array", what.file ? what.file->name : to_string(what.shape)},
          {"period", what.shape == array_shape::sawtooth ? what.period : 0},
          {"values", to_string(what.value)},
          {"ranges", to_string(what.ranges)},
          {"position_bits", what.position_bits},
          {"changes", what.changes}};
}

}  // namespace

std::string to_options(const rmq_workload& what) {
  std::string text =
      fmt::format("--keys {} --probes {}", size_text(what.keys), size_text(what.probes));
  if (what.file) {
    text += fmt::format(" --array-file {}", what.file->name);
  } else {
    text += fmt::format(" --array {} --values {}", to_string(what.shape), to_string(what.value));
  }
  if (what.shape == array_shape::sawtooth) text += fmt::format(" --period {}", what.period);
  text +=
      fmt::format(" --ranges {} --position-bits {}", to_string(what.ranges), what.position_bits);
  if (what.changes != 0) text += fmt::format(" --changes {}", size_text(what.changes));
  return text + fmt::format(" --seed {}", what.seed);
}

std::string rmq_table_head() {
  return table_head("x read");
}

std::string table_line(const rmq_row& row) {
  const rmq_measurement& m = row.measured;
  const double rate = lookups_per_s(row);
  std::string text = table_line({.structure = m.info.structure,
                                 .result = to_string(row.asked),
                                 .build_ms = m.build_ms,
                                 .build_ratio = ratio(m.build_ms, read_ms(row)),
                                 .lookup_ms = m.lookup_ms,
                                 .per_s = rate,
                                 .ratio = ratio(rate, row.floor.per_s),
                                 .resident_bytes = m.info.resident_bytes,
                                 .build_peak_bytes = m.info.build_peak_bytes,
                                 .wrong = m.wrong,
                                 .workload = describe(row.what)});
  if (!row.options.empty()) text += "; " + row.options;
  if (m.refresh_ms) text += fmt::format("; refreshed in {:.3f} ms", *m.refresh_ms);
  if (m.repairs != 0) text += fmt::format("; {} lookups repaired", m.repairs);
  return text;
}

nlohmann::ordered_json to_json(const rmq_row& row) {
  const rmq_measurement& m = row.measured;
  const double rate = lookups_per_s(row);
  nlohmann::ordered_json object = {
      {"experiment", nullptr},
      {"structure", m.info.structure},
      {"options", m.info.options},
      {"backend", std::string(to_string(m.info.where))},
      {"device", row.device.name},
      {"driver", row.device.driver},
      {"rt_core_version", row.device.rt_core_version},
      {"key", to_string(m.info.value)},
      {"n", m.info.n},
      {"probes", row.what.probes},
      {"result", to_string(row.asked)},
      {"workload", describe(row.what)},
      {"workload_axes", workload_json(row.what)},
      {"seed", row.what.seed},
      {"build_ms", m.build_ms},
      {"lookup_ms", m.lookup_ms},
      {"lookups_per_s", rate},
      {"floor", row.floor.name},
      {"floor_per_s", row.floor.per_s},
      {"ratio", ratio(rate, row.floor.per_s)},
      {"batch_floor_per_s", row.floor.copy_bytes_per_s / static_cast<double>(bytes_per_range(row))},
      {"read_floor_ms", read_ms(row)},
      {"build_ratio", ratio(m.build_ms, read_ms(row))},
      {"copy_bytes_per_s", row.floor.copy_bytes_per_s},
      {"resident_bytes", m.info.resident_bytes},
      {"build_peak_bytes", m.info.build_peak_bytes},
      {"bytes_per_value",
       ratio(static_cast<double>(m.info.resident_bytes), static_cast<double>(m.info.n))},
      {"repairs", m.repairs},
      {"correct", m.wrong == 0},
      {"wrong", m.wrong},
  };
  if (m.refresh_ms) object["refresh_ms"] = *m.refresh_ms;
  if (!row.experiment.empty()) object["experiment"] = row.experiment;
  object["commit"] = commit;
  object["date"] = date_text();
  object["command"] = row.command;
  return object;
}

}  // namespace raydex::bench
