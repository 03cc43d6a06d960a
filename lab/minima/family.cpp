// SPDX-License-Identifier: Apache-2.0
// Range minima: from axes to workloads, and from measurements to rows.
#include "lab/minima/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "io/npy.hpp"
#include "io/sizes.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"
#include "raydex/rmq.hpp"

namespace raydex::bench {

// Found by `multiply` where it is instantiated, as a name of an unnamed namespace is not.
static void read(std::string_view option, std::string_view text, std::optional<array_file>& out) {
  const std::string name(text);
  const io::npy_array array = io::read_npy(name);
  if (array.shape.size() != 1 || array.dtype.type == key_type::bytes) {
    throw invalid_argument(
        fmt::format("{}: {}: it must hold numbers, in one dimension", option, name));
  }
  out = {.name = name, .value = array.dtype, .size = array.shape.front(), .cells = array.cells};
}

namespace {

// The time to read the array once, as fast as a copy reads and writes.
double read_ms(const rmq_workload& spec, double copy_bytes_per_s) {
  return ratio(static_cast<double>(spec.keys * spec.value.width) * 1e3, copy_bytes_per_s);
}

// Bytes that are read and written for each range in any case: its ends and its answer.
std::uint64_t bytes_per_range(const rmq_workload& spec, rmq_result kind) {
  const auto ends = static_cast<std::uint64_t>(2 * spec.position_bits / 8);
  return ends + (kind == rmq_result::argmin ? 8 : spec.value.width);
}

std::vector<field> axes_of(const rmq_workload& spec) {
  return {{"keys", spec.keys},
          {"probes", spec.probes},
          {"array", spec.file ? spec.file->name : to_string(spec.shape)},
          {"period", spec.shape == array_shape::sawtooth ? spec.period : 0},
          {"values", to_string(spec.value)},
          {"ranges", to_string(spec.ranges)},
          {"position_bits", spec.position_bits},
          {"changes", spec.changes}};
}

}  // namespace

std::vector<rmq_workload> minima_family::sweep(const axes& swept) {
  refuse(swept, axis_of::keys, "it is of keys, not of minima");
  if (!swept.array_file.empty()) {
    for (const axis generated : {&axes::array, &axes::period, &axes::values}) {
      refuse(swept, generated,
             "an array out of a file is as it is; leave it out, or leave --array-file out");
    }
  }
  std::vector<rmq_workload> all(1);
  multiply(all, &rmq_workload::shape, swept, &axes::array);
  multiply(all, &rmq_workload::file, swept, &axes::array_file);
  for (rmq_workload& spec : all) {
    if (!spec.file) continue;
    spec.shape = array_shape::file;
    spec.value = spec.file->value;
    spec.keys = spec.file->size;
  }
  multiply(all, &rmq_workload::period, swept, &axes::period);
  multiply(all, &rmq_workload::value, swept, &axes::values);
  multiply(all, &rmq_workload::ranges, swept, &axes::ranges);
  multiply(all, &rmq_workload::probes, swept, &axes::probes);
  multiply(all, &rmq_workload::keys, swept, &axes::keys);
  for (rmq_workload& spec : all)
    spec.position_bits = usual_position_bits(spec.keys);
  multiply(all, &rmq_workload::position_bits, swept, &axes::position_bits);
  multiply(all, &rmq_workload::changes, swept, &axes::changes);
  multiply(all, &rmq_workload::seed, swept, &axes::seed);
  for (const rmq_workload& spec : all)
    check(spec);
  return all;
}

std::vector<rmq_result> minima_family::parse_results(const std::vector<std::string>& names) {
  if (names.empty()) return {rmq_result::min};
  return read_all<rmq_result>("--result", names);
}

void minima_family::check_able(const io::structure_choice& who, backend where,
                               const rmq_workload& spec) {
  const auto extreme = who.options.find("extreme");
  if (extreme != who.options.end() && extreme->second != "minimum") {
    throw unsupported(
        fmt::format("--option extreme={}: answers are checked as minima", extreme->second));
  }
  const auto ties = who.options.find("ties");
  if (ties != who.options.end() && ties->second != "leftmost") {
    throw unsupported(
        fmt::format("--option ties={}: positions are checked as the leftmost ones", ties->second));
  }
  for (const rmq_capability& able : rmq_capabilities()) {
    if (able.structure != who.structure || able.where != where) continue;
    if (std::ranges::find(able.values, spec.value.type) == able.values.end()) {
      throw unsupported(fmt::format("{} does not take values of {}; rmq_scan does", who.structure,
                                    to_string(spec.value)));
    }
    if (spec.changes != 0 && !able.updates) {
      throw unsupported(fmt::format(
          "--changes: {} takes no changed values; rmq_cover and rmq_hierarchy do", who.structure));
    }
  }
}

minima_family::minima_family(const rmq_workload& spec, machine& target, floors& all)
    : machine_(&target), floors_(&all), data_(spec, target) {}

void minima_family::measure_floors() {
  const rmq_workload& spec = data_.description();
  references_ = floors_->minima(spec.keys * spec.value.width, spec.probes);
}

std::vector<report_row> minima_family::measure(rmq_result kind, const io::structure_choice& who,
                                               int repetitions) {
  return {row_of(bench::measure(*machine_, data_, kind, who.structure, who.options, repetitions),
                 data_.description(), kind, references_)};
}

report_row row_of(const rmq_measurement& found, const rmq_workload& spec, rmq_result kind,
                  const minima_references& references) {
  report_row row = begin_row(found, spec, kind);
  row.key = found.info.value;
  row.workload_axes = axes_of(spec);
  row.build_floor_ms = read_ms(spec, references.copy_bytes_per_s);
  row.floor = {
      .name = "ends read and answers written at copy bandwidth",
      .per_s = references.copy_bytes_per_s / static_cast<double>(bytes_per_range(spec, kind)),
      .copy_bytes_per_s = references.copy_bytes_per_s};
  row.more = {{"gather_per_s", references.gather_per_s},
              {"read_floor_ms", row.build_floor_ms},
              {"bytes_per_value", ratio(static_cast<double>(found.info.resident_bytes),
                                        static_cast<double>(found.info.n))}};
  if (found.refresh_ms) {
    row.more.emplace_back("refresh_ms", *found.refresh_ms);
    row.changes_text = fmt::format("; refreshed in {:.3f} ms", *found.refresh_ms);
  }
  return row;
}

std::string to_options(const rmq_workload& spec) {
  using io::size_text;
  std::string text =
      fmt::format("--keys {} --probes {}", size_text(spec.keys), size_text(spec.probes));
  if (spec.file) {
    text += fmt::format(" --array-file {}", spec.file->name);
  } else {
    text += fmt::format(" --array {} --values {}", to_string(spec.shape), to_string(spec.value));
  }
  if (spec.shape == array_shape::sawtooth) text += fmt::format(" --period {}", spec.period);
  text +=
      fmt::format(" --ranges {} --position-bits {}", to_string(spec.ranges), spec.position_bits);
  if (spec.changes != 0) text += fmt::format(" --changes {}", size_text(spec.changes));
  return text + fmt::format(" --seed {}", spec.seed);
}

}  // namespace raydex::bench
