// SPDX-License-Identifier: Apache-2.0
// Measurements as text and as JSON.
#include "bench/lookups/report.hpp"

#include <fmt/format.h>

#include "bench/report_text.hpp"
#include "raydex/bench/commit.hpp"  // generated at build time

namespace raydex::bench {
namespace {

double lookups_per_s(const report_row& row) {
  return row.measured.lookup_ms == 0
             ? 0
             : static_cast<double>(row.what.probes) / row.measured.lookup_ms * 1e3;
}

nlohmann::ordered_json workload_json(const workload& what) {
  return {{"keys", what.keys},
          {"probes", what.probes},
          {"batches", what.batches},
          {"key_bits", what.key_bits},
          {"uniformity", what.uniformity},
          {"distribution", to_string(what.shape)},
          {"stride", what.stride},
          {"value_bits", what.value_bits == 0 ? what.key_bits : what.value_bits},
          {"multiplicity", what.multiplicity},
          {"insert_order", to_string(what.insert_order)},
          {"probe_order", to_string(what.probe_order)},
          {"hit_rate", what.hit_rate},
          {"miss", to_string(what.misses)},
          {"zipf", what.zipf},
          {"range_hits", what.range_hits},
          {"updated_from", to_string(what.updated_from)},
          {"waves", what.waves},
          {"growth", what.waves == 0 ? 1 : what.growth}};
}

}  // namespace

const char* to_string(result asked) {
  switch (asked) {
    case result::first:
      return "first";
    case result::count:
      return "count";
    case result::sum:
      return "sum";
    default:
      return "rows";
  }
}

std::string to_options(const workload& what) {
  std::string text = fmt::format(
      "--keys {} --probes {} --batches {} --key-bits {} --uniformity {} --distribution {} "
      "--stride {} --multiplicity {} --insert-order {} --probe-order {} --hit-rate {} --miss {} "
      "--zipf {}",
      size_text(what.keys), size_text(what.probes), size_text(what.batches), what.key_bits,
      what.uniformity, to_string(what.shape), what.stride, what.multiplicity,
      to_string(what.insert_order), to_string(what.probe_order), what.hit_rate,
      to_string(what.misses), what.zipf);
  if (what.value_bits != 0) text += fmt::format(" --value-bits {}", what.value_bits);
  if (what.range_hits != 0) text += fmt::format(" --range-hits {}", what.range_hits);
  if (what.updated_from) text += fmt::format(" --updated-from {}", to_string(what.updated_from));
  if (what.waves != 0) text += fmt::format(" --waves {} --growth {}", what.waves, what.growth);
  return text + fmt::format(" --seed {}", what.seed);
}

std::string table_head() {
  return table_head("x sort");
}

std::string table_line(const report_row& row) {
  const measurement& m = row.measured;
  const double rate = lookups_per_s(row);
  std::string text = table_line({.structure = m.info.structure,
                                 .result = to_string(row.asked),
                                 .build_ms = m.build_ms,
                                 .build_ratio = ratio(m.build_ms, row.references.sort_ms),
                                 .lookup_ms = m.lookup_ms,
                                 .per_s = rate,
                                 .ratio = ratio(rate, row.floor.per_s),
                                 .resident_bytes = m.info.resident_bytes,
                                 .build_peak_bytes = m.info.build_peak_bytes,
                                 .wrong = m.wrong,
                                 .workload = describe(row.what)});
  if (!row.options.empty()) text += "; " + row.options;
  if (m.update_ms) text += fmt::format("; update {:.3f} ms", *m.update_ms);
  if (m.wave) {
    text +=
        fmt::format("; wave {}: edit {:.3f} ms, rebuild {:.3f} ms, lookups then {:.3f} ms",
                    m.wave->number, m.wave->edit_ms, m.wave->rebuild_ms, m.wave->rebuilt_lookup_ms);
  }
  if (m.repairs != 0) text += fmt::format("; {} lookups repaired", m.repairs);
  if (row.references.sort_probes_ms) {
    text += fmt::format("; sorting them {:.3f} ms", *row.references.sort_probes_ms);
  }
  if (row.references.lower_bound_ms) {
    text += fmt::format("; {:.2f} x std::lower_bound",
                        ratio(*row.references.lower_bound_ms, m.lookup_ms));
  }
  return text;
}

nlohmann::ordered_json to_json(const report_row& row) {
  const measurement& m = row.measured;
  const double rate = lookups_per_s(row);
  nlohmann::ordered_json object = {
      {"experiment", nullptr},
      {"structure", m.info.structure},
      {"options", m.info.options},
      {"backend", std::string(to_string(m.info.where))},
      {"device", row.device.name},
      {"driver", row.device.driver},
      {"rt_core_version", row.device.rt_core_version},
      {"key", to_string(m.info.key)},
      {"n", m.info.n},
      {"probes", row.what.probes},
      {"batches", row.what.batches},
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
      {"sort_floor_ms", row.references.sort_ms},
      {"build_ratio", ratio(m.build_ms, row.references.sort_ms)},
      {"copy_bytes_per_s", row.floor.copy_bytes_per_s},
      {"resident_bytes", m.info.resident_bytes},
      {"build_peak_bytes", m.info.build_peak_bytes},
      {"lookup_peak_bytes", m.lookup_peak_bytes},
      {"repairs", m.repairs},
      {"correct", m.wrong == 0},
      {"wrong", m.wrong},
  };
  if (!row.experiment.empty()) object["experiment"] = row.experiment;
  if (m.update_ms) object["update_ms"] = *m.update_ms;
  if (m.wave) {
    object["wave"] = m.wave->number;
    object["edit_ms"] = m.wave->edit_ms;
    object["rebuild_ms"] = m.wave->rebuild_ms;
    object["rebuilt_lookup_ms"] = m.wave->rebuilt_lookup_ms;
  }
  if (row.references.sort_probes_ms) {
    object["sort_probes_ms"] = *row.references.sort_probes_ms;
    object["lookup_with_sort_ms"] = m.lookup_ms + *row.references.sort_probes_ms;
  }
  if (row.references.lower_bound_ms) {
    const double ms = *row.references.lower_bound_ms;
    object["std_lower_bound_per_s"] = ratio(static_cast<double>(row.what.probes) * 1e3, ms);
    object["std_lower_bound_ratio"] = ratio(ms, m.lookup_ms);
  }
  object["commit"] = commit;
  object["date"] = date_text();
  object["command"] = row.command;
  return object;
}

}  // namespace raydex::bench
