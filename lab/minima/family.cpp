// SPDX-License-Identifier: Apache-2.0
// Range minima: from axes to workloads, and from measurements to rows.
#include "lab/minima/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "files/npy.hpp"
#include "files/sizes.hpp"
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
double read_ms(const rmq_workload& what, double copy_bytes_per_s) {
  return ratio(static_cast<double>(what.keys * what.value.width) * 1e3, copy_bytes_per_s);
}

// Bytes that are read and written for each range in any case: its ends and its answer.
std::uint64_t bytes_per_range(const rmq_workload& what, rmq_result asked) {
  const auto ends = static_cast<std::uint64_t>(2 * what.position_bits / 8);
  return ends + (asked == rmq_result::argmin ? 8 : what.value.width);
}

std::vector<field> axes_of(const rmq_workload& what) {
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

std::vector<rmq_workload> minima_family::sweep(const axes& given) {
  refuse(given, axis_of::keys, "it is of keys, not of minima");
  if (!given.array_file.empty()) {
    for (const axis generated : {&axes::array, &axes::period, &axes::values}) {
      refuse(given, generated,
             "an array out of a file is as it is; leave it out, or leave --array-file out");
    }
  }
  std::vector<rmq_workload> all(1);
  multiply(all, &rmq_workload::shape, given, &axes::array);
  multiply(all, &rmq_workload::file, given, &axes::array_file);
  for (rmq_workload& what : all) {
    if (!what.file) continue;
    what.shape = array_shape::file;
    what.value = what.file->value;
    what.keys = what.file->size;
  }
  multiply(all, &rmq_workload::period, given, &axes::period);
  multiply(all, &rmq_workload::value, given, &axes::values);
  multiply(all, &rmq_workload::ranges, given, &axes::ranges);
  multiply(all, &rmq_workload::probes, given, &axes::probes);
  multiply(all, &rmq_workload::keys, given, &axes::keys);
  for (rmq_workload& what : all)
    what.position_bits = usual_position_bits(what.keys);
  multiply(all, &rmq_workload::position_bits, given, &axes::position_bits);
  multiply(all, &rmq_workload::changes, given, &axes::changes);
  multiply(all, &rmq_workload::seed, given, &axes::seed);
  for (const rmq_workload& what : all)
    check(what);
  return all;
}

std::vector<rmq_result> minima_family::parse_results(const std::vector<std::string>& names) {
  if (names.empty()) return {rmq_result::min};
  return read_all<rmq_result>("--result", names);
}

void minima_family::check_able(const io::structure_choice& who, backend where,
                               const rmq_workload& what) {
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
    if (std::ranges::find(able.values, what.value.type) == able.values.end()) {
      throw unsupported(fmt::format("{} does not take values of {}; rmq_scan does", who.structure,
                                    to_string(what.value)));
    }
    if (what.changes != 0 && !able.updates) {
      throw unsupported(fmt::format(
          "--changes: {} takes no changed values; rmq_cover and rmq_hierarchy do", who.structure));
    }
  }
}

minima_family::minima_family(const rmq_workload& what, machine& here, floors& all)
    : machine_(&here), floors_(&all), data_(what, here) {}

void minima_family::measure_floors() {
  const rmq_workload& what = data_.description();
  references_ = floors_->minima(what.keys * what.value.width, what.probes);
}

std::vector<report_row> minima_family::measure(rmq_result asked, const io::structure_choice& who,
                                               int repetitions) {
  return {row_of(bench::measure(*machine_, data_, asked, who.structure, who.options, repetitions),
                 data_.description(), asked, references_)};
}

report_row row_of(const rmq_measurement& found, const rmq_workload& what, rmq_result asked,
                  const minima_references& references) {
  report_row row = begin_row(found, what, asked);
  row.key = found.info.value;
  row.workload_axes = axes_of(what);
  row.build_floor_ms = read_ms(what, references.copy_bytes_per_s);
  row.floor = {
      .name = "ends read and answers written at copy bandwidth",
      .per_s = references.copy_bytes_per_s / static_cast<double>(bytes_per_range(what, asked)),
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

std::string to_options(const rmq_workload& what) {
  using io::size_text;
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

}  // namespace raydex::bench
