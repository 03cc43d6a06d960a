// SPDX-License-Identifier: Apache-2.0
// Lookups of keys: from axes to workloads, and from measurements to rows.
#include "lab/lookups/family.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/sizes.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {

namespace {

key_format key_of(const workload& spec) {
  return spec.key_bits == 32 ? format_of<std::uint32_t> : format_of<std::uint64_t>;
}

std::vector<field> axes_of(const workload& spec) {
  return {{"keys", spec.keys},
          {"probes", spec.probes},
          {"batches", spec.batches},
          {"key_bits", spec.key_bits},
          {"uniformity", spec.uniformity},
          {"distribution", to_string(spec.shape)},
          {"stride", spec.stride},
          {"value_bits", spec.value_bits == 0 ? spec.key_bits : spec.value_bits},
          {"multiplicity", spec.multiplicity},
          {"heavy_key", spec.heavy_key},
          {"insert_order", to_string(spec.insert_order)},
          {"probe_order", to_string(spec.probe_order)},
          {"hit_rate", spec.hit_rate},
          {"miss", to_string(spec.misses)},
          {"zipf", spec.zipf},
          {"range_hits", spec.range_hits},
          {"range_lengths", to_string(spec.range_lengths)},
          {"giant_range", spec.giant_range},
          {"aggregate", spec.aggregate},
          {"threads", spec.threads},
          {"waves", spec.waves},
          {"growth", spec.waves == 0 ? 1 : spec.growth}};
}

// What calls take where threads make them, and the same in words.
void add_calls(const workload& spec, report_row& row) {
  if (spec.threads == 0) return;
  const auto calls = static_cast<double>(spec.batches);
  const double per_s = ratio(calls * 1e3, row.lookup_ms);
  const double us = ratio(static_cast<double>(spec.threads) * 1e6, per_s);  // a thread, for each
  row.more.insert(row.more.end(), {{"calls_per_s", per_s}, {"call_us", us}});
  row.changes_text += fmt::format("; {:.0f} calls/s, {:.2f} us each", per_s, us);
}

// Figures that some workloads have none of, and the same in words.
void add_changes(const measurement& found, report_row& row) {
  if (!found.wave) return;
  const wave_times& wave = *found.wave;
  row.more.insert(row.more.end(), {{"wave", wave.number},
                                   {"edit_ms", wave.edit_ms},
                                   {"rebuild_ms", wave.rebuild_ms},
                                   {"rebuilt_lookup_ms", wave.rebuilt_lookup_ms}});
  row.changes_text +=
      fmt::format("; wave {}: edit {:.3f} ms, rebuild {:.3f} ms, lookups then {:.3f} ms",
                  wave.number, wave.edit_ms, wave.rebuild_ms, wave.rebuilt_lookup_ms);
}

// Likewise.
void add_comparisons(const reference_times& references, report_row& row) {
  if (references.sort_probes_ms) {
    const double ms = *references.sort_probes_ms;
    row.more.emplace_back("sort_probes_ms", ms);
    row.more.emplace_back("lookup_with_sort_ms", row.lookup_ms + ms);
    row.comparisons_text += fmt::format("; sorting them {:.3f} ms", ms);
  }
  if (references.lower_bound_ms) {
    const double ms = *references.lower_bound_ms;
    const double times = ratio(ms, row.lookup_ms);
    row.more.emplace_back("std_lower_bound_per_s",
                          ratio(static_cast<double>(row.probes) * 1e3, ms));
    row.more.emplace_back("std_lower_bound_ratio", times);
    row.comparisons_text += fmt::format("; {:.2f} x std::lower_bound", times);
  }
}

// Of a join, the build of its index included.
void add_join(const measurement& found, const reference_times& references, report_row& row) {
  if (!found.join_build_ms) return;
  const double join_ms = row.build_ms + *found.join_build_ms + row.lookup_ms;
  const double rows_per_s = ratio(static_cast<double>(found.matches) * 1e3, row.lookup_ms);
  row.more.insert(row.more.end(),
                  {{"join_build_ms", *found.join_build_ms},
                   {"join_bytes", found.join_bytes},
                   {"join_ms", join_ms},
                   {"join_floor_ms", join_floor_ms(references, row.floor, row.probes)},
                   {"output_rows_per_s", rows_per_s}});
  row.changes_text += fmt::format("; join {:.3f} ms; {:.1f} M rows/s", join_ms, rows_per_s / 1e6);
}

// Refuses what a workload has no expected answers for, or no meaning.
void check_asked(result kind, const workload& spec, bool is_dense) {
  if (kind == result::rank && (spec.range_hits != 0 || !is_dense)) {
    throw invalid_argument("--result rank: expected ranks need points and --uniformity 0");
  }
  if ((kind == result::rank || kind == result::pairs) && spec.aggregate != 0) {
    throw invalid_argument(fmt::format("--result {}: aggregates have none", to_string(kind)));
  }
  if (kind == result::pairs && spec.waves != 0) {
    throw invalid_argument(
        "--result pairs: joins are of an index as it was built, without --waves");
  }
}

}  // namespace

std::vector<workload> lookup_family::sweep(const axes& swept) {
  refuse(swept, axis_of::minima,
         "it is of minima; structures for these have names that begin with rmq_");
  std::vector<workload> all(1);
  multiply(all, &workload::range_hits, swept, &axes::range_hits);
  for (workload& spec : all) {
    if (spec.range_hits != 0) spec.uniformity = 0;
  }
  multiply(all, &workload::uniformity, swept, &axes::uniformity);
  multiply(all, &workload::shape, swept, &axes::distribution);
  multiply(all, &workload::stride, swept, &axes::stride);
  multiply(all, &workload::value_bits, swept, &axes::value_bits);
  multiply(all, &workload::range_lengths, swept, &axes::range_lengths);
  multiply(all, &workload::giant_range, swept, &axes::giant_range);
  multiply(all, &workload::multiplicity, swept, &axes::multiplicity);
  multiply(all, &workload::heavy_key, swept, &axes::heavy_key);
  multiply(all, &workload::insert_order, swept, &axes::insert_order);
  multiply(all, &workload::probe_order, swept, &axes::probe_order);
  multiply(all, &workload::hit_rate, swept, &axes::hit_rate);
  multiply(all, &workload::misses, swept, &axes::miss);
  multiply(all, &workload::zipf, swept, &axes::zipf);
  multiply(all, &workload::waves, swept, &axes::waves);
  multiply(all, &workload::growth, swept, &axes::growth);
  multiply(all, &workload::key_bits, swept, &axes::key_bits);
  multiply(all, &workload::aggregate, swept, &axes::aggregate);
  multiply(all, &workload::threads, swept, &axes::threads);
  multiply(all, &workload::batches, swept, &axes::batches);
  multiply(all, &workload::probes, swept, &axes::probes);
  multiply(all, &workload::keys, swept, &axes::keys);
  multiply(all, &workload::seed, swept, &axes::seed);
  for (const workload& spec : all)
    check(spec);
  return all;
}

std::vector<result> lookup_family::parse_results(const std::vector<std::string>& names) {
  if (names.empty()) return {result::first};
  return read_all<result>("--result", names);
}

void lookup_family::check_able(const io::structure_choice& who, backend where,
                               const workload& spec) {
  const std::string& structure = who.structure;
  const std::vector<capability> all = capabilities();
  const auto is_it = [&](const capability& able) { return able.structure == structure; };
  const auto is_here = [&](const capability& able) { return is_it(able) && able.where == where; };
  if (std::ranges::any_of(all, is_it) && std::ranges::none_of(all, is_here)) {
    throw unsupported(fmt::format("{} is not offered on backend {}", structure, to_string(where)));
  }
  for (const capability& able : all) {
    if (!is_here(able)) continue;
    const auto require = [&](bool holds, const char* missing) {
      if (!holds) throw unsupported(fmt::format("{} does not take {}", structure, missing));
    };
    require(spec.range_hits != 0 || able.points, "points");
    require(spec.range_hits == 0 || able.ranges, "ranges; sorted_array does");
    require((spec.multiplicity == 1 && spec.heavy_key == 0) || able.duplicates,
            "equal keys; sorted_array does");
    require(
        std::ranges::find(able.keys, key_of(spec).type) != able.keys.end(),
        spec.key_bits == 32 ? "32-bit keys; sorted_array does" : "64-bit keys; sorted_array does");
  }
}

std::size_t lookup_family::rows_each(const workload& spec) {
  return spec.waves == 0 ? 1 : 2 * spec.waves;
}

use_case lookup_family::use_of(const workload& spec, backend where) {
  const key_set keys = make_key_set(spec);
  const std::uint64_t distinct = keys.is_dense() ? keys.distinct : 0;
  return {.n = spec.keys,
          .key = key_of(spec),
          .where = where,
          .range_hits = spec.range_hits,
          .sorted_probes = spec.probe_order == order::sorted,
          .updates = spec.waves != 0,
          .span = distinct == 0 ? 0 : (distinct - 1) * keys.stride + 1};
}

lookup_family::lookup_family(const workload& spec, machine& target, floors& all)
    : machine_(&target), floors_(&all), data_(spec, target) {}

void lookup_family::measure_floors() {
  references_ = floors_->references(data_);
  // It would be of the first keys alone.
  if (data_.description().waves != 0) references_.lower_bound_ms.reset();
}

std::vector<report_row> lookup_family::measure(result kind, const io::structure_choice& who,
                                               int repetitions) {
  const workload& asked_of = data_.description();
  check_asked(kind, asked_of, data_.set().is_dense());
  std::vector<measurement> all;
  if (asked_of.waves != 0) {
    all = measure_waves(*machine_, data_, kind, who.structure, who.options, repetitions);
  } else {
    all.push_back(bench::measure(*machine_, data_, kind, who.structure, who.options, repetitions));
  }
  std::vector<report_row> rows;
  for (const measurement& found : all)
    rows.push_back(row_of(found, kind));
  return rows;
}

report_row lookup_family::row_of(const measurement& found, result kind) {
  const workload& spec = data_.description();
  workload held = spec;
  held.keys = found.info.n;
  report_row row = begin_row(found, spec, kind);
  row.key = found.info.key;
  row.workload_axes = axes_of(spec);
  row.build_floor_ms = references_.sort_ms;
  row.floor = floors_->lookups(held, found.matches, kind);
  row.more = {{"batches", spec.batches},
              {"matches", found.matches},
              {"sort_floor_ms", references_.sort_ms},
              {"lookup_peak_bytes", found.lookup_peak_bytes}};
  if (found.aggregate_ms) {
    row.more.insert(row.more.end(), {{"aggregate_ms", *found.aggregate_ms},
                                     {"aggregate_bytes", found.aggregate_bytes}});
  }
  add_calls(spec, row);
  add_changes(found, row);
  add_join(found, references_, row);
  add_comparisons(references_, row);
  return row;
}

std::string to_options(const workload& spec) {
  using io::size_text;
  std::string text = fmt::format(
      "--keys {} --probes {} --batches {} --key-bits {} --uniformity {} --distribution {} "
      "--stride {} --multiplicity {} --insert-order {} --probe-order {} --hit-rate {} --miss {} "
      "--zipf {}",
      size_text(spec.keys), size_text(spec.probes), size_text(spec.batches), spec.key_bits,
      spec.uniformity, to_string(spec.shape), spec.stride, spec.multiplicity,
      to_string(spec.insert_order), to_string(spec.probe_order), spec.hit_rate,
      to_string(spec.misses), spec.zipf);
  if (spec.value_bits != 0) text += fmt::format(" --value-bits {}", spec.value_bits);
  if (spec.heavy_key != 0) text += fmt::format(" --heavy-key {}", spec.heavy_key);
  if (spec.range_hits != 0) text += fmt::format(" --range-hits {}", spec.range_hits);
  if (spec.range_lengths != lengths::even) {
    text += fmt::format(" --range-lengths {}", to_string(spec.range_lengths));
  }
  if (spec.giant_range != 0) text += fmt::format(" --giant-range {}", spec.giant_range);
  if (spec.aggregate != 0) text += " --aggregate 1";
  if (spec.threads != 0) text += fmt::format(" --threads {}", spec.threads);
  if (spec.waves != 0) text += fmt::format(" --waves {} --growth {}", spec.waves, spec.growth);
  return text + fmt::format(" --seed {}", spec.seed);
}

}  // namespace raydex::bench
