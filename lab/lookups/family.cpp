// SPDX-License-Identifier: Apache-2.0
// Lookups of keys: from axes to workloads, and from measurements to rows.
#include "lab/lookups/family.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/sizes.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {

namespace {

key_format key_of(const workload& what) {
  return what.key_bits == 32 ? format_of<std::uint32_t> : format_of<std::uint64_t>;
}

std::vector<field> axes_of(const workload& what) {
  return {{"keys", what.keys},
          {"probes", what.probes},
          {"batches", what.batches},
          {"key_bits", what.key_bits},
          {"uniformity", what.uniformity},
          {"distribution", to_string(what.shape)},
          {"stride", what.stride},
          {"value_bits", what.value_bits == 0 ? what.key_bits : what.value_bits},
          {"multiplicity", what.multiplicity},
          {"heavy_key", what.heavy_key},
          {"insert_order", to_string(what.insert_order)},
          {"probe_order", to_string(what.probe_order)},
          {"hit_rate", what.hit_rate},
          {"miss", to_string(what.misses)},
          {"zipf", what.zipf},
          {"range_hits", what.range_hits},
          {"range_lengths", to_string(what.range_lengths)},
          {"giant_range", what.giant_range},
          {"aggregate", what.aggregate},
          {"threads", what.threads},
          {"waves", what.waves},
          {"growth", what.waves == 0 ? 1 : what.growth}};
}

// What calls take where threads make them, and the same in words.
void add_calls(const workload& what, report_row& row) {
  if (what.threads == 0) return;
  const auto calls = static_cast<double>(what.batches);
  const double per_s = ratio(calls * 1e3, row.lookup_ms);
  const double us = ratio(static_cast<double>(what.threads) * 1e6, per_s);  // a thread, for each
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
void check_asked(result asked, const workload& what, bool is_dense) {
  if (asked == result::rank && (what.range_hits != 0 || !is_dense)) {
    throw invalid_argument("--result rank: expected ranks need points and --uniformity 0");
  }
  if ((asked == result::rank || asked == result::pairs) && what.aggregate != 0) {
    throw invalid_argument(fmt::format("--result {}: aggregates have none", to_string(asked)));
  }
  if (asked == result::pairs && what.waves != 0) {
    throw invalid_argument(
        "--result pairs: joins are of an index as it was built, without --waves");
  }
}

}  // namespace

std::vector<workload> lookup_family::sweep(const axes& given) {
  refuse(given, axis_of::minima,
         "it is of minima; structures for these have names that begin with rmq_");
  std::vector<workload> all(1);
  multiply(all, &workload::range_hits, given, &axes::range_hits);
  for (workload& what : all) {
    if (what.range_hits != 0) what.uniformity = 0;
  }
  multiply(all, &workload::uniformity, given, &axes::uniformity);
  multiply(all, &workload::shape, given, &axes::distribution);
  multiply(all, &workload::stride, given, &axes::stride);
  multiply(all, &workload::value_bits, given, &axes::value_bits);
  multiply(all, &workload::range_lengths, given, &axes::range_lengths);
  multiply(all, &workload::giant_range, given, &axes::giant_range);
  multiply(all, &workload::multiplicity, given, &axes::multiplicity);
  multiply(all, &workload::heavy_key, given, &axes::heavy_key);
  multiply(all, &workload::insert_order, given, &axes::insert_order);
  multiply(all, &workload::probe_order, given, &axes::probe_order);
  multiply(all, &workload::hit_rate, given, &axes::hit_rate);
  multiply(all, &workload::misses, given, &axes::miss);
  multiply(all, &workload::zipf, given, &axes::zipf);
  multiply(all, &workload::waves, given, &axes::waves);
  multiply(all, &workload::growth, given, &axes::growth);
  multiply(all, &workload::key_bits, given, &axes::key_bits);
  multiply(all, &workload::aggregate, given, &axes::aggregate);
  multiply(all, &workload::threads, given, &axes::threads);
  multiply(all, &workload::batches, given, &axes::batches);
  multiply(all, &workload::probes, given, &axes::probes);
  multiply(all, &workload::keys, given, &axes::keys);
  multiply(all, &workload::seed, given, &axes::seed);
  for (const workload& what : all)
    check(what);
  return all;
}

std::vector<result> lookup_family::parse_results(const std::vector<std::string>& names) {
  if (names.empty()) return {result::first};
  return read_all<result>("--result", names);
}

void lookup_family::check_able(const io::structure_choice& who, backend where,
                               const workload& what) {
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
    require(what.range_hits != 0 || able.points, "points");
    require(what.range_hits == 0 || able.ranges, "ranges; sorted_array does");
    require((what.multiplicity == 1 && what.heavy_key == 0) || able.duplicates,
            "equal keys; sorted_array does");
    require(
        std::ranges::find(able.keys, key_of(what).type) != able.keys.end(),
        what.key_bits == 32 ? "32-bit keys; sorted_array does" : "64-bit keys; sorted_array does");
  }
}

std::size_t lookup_family::rows_each(const workload& what) {
  return what.waves == 0 ? 1 : 2 * what.waves;
}

use_case lookup_family::use_of(const workload& what, backend where) {
  const key_set keys = make_key_set(what);
  const std::uint64_t distinct = keys.is_dense() ? keys.distinct : 0;
  return {.n = what.keys,
          .key = key_of(what),
          .where = where,
          .range_hits = what.range_hits,
          .sorted_probes = what.probe_order == order::sorted,
          .updates = what.waves != 0,
          .span = distinct == 0 ? 0 : (distinct - 1) * keys.stride + 1};
}

lookup_family::lookup_family(const workload& what, machine& here, floors& all)
    : machine_(&here), floors_(&all), data_(what, here) {}

void lookup_family::measure_floors() {
  references_ = floors_->references(data_);
  // It would be of the first keys alone.
  if (data_.description().waves != 0) references_.lower_bound_ms.reset();
}

std::vector<report_row> lookup_family::measure(result asked, const io::structure_choice& who,
                                               int repetitions) {
  const workload& asked_of = data_.description();
  check_asked(asked, asked_of, data_.set().is_dense());
  std::vector<measurement> all;
  if (asked_of.waves != 0) {
    all = measure_waves(*machine_, data_, asked, who.structure, who.options, repetitions);
  } else {
    all.push_back(bench::measure(*machine_, data_, asked, who.structure, who.options, repetitions));
  }
  std::vector<report_row> rows;
  for (const measurement& found : all)
    rows.push_back(row_of(found, asked));
  return rows;
}

report_row lookup_family::row_of(const measurement& found, result asked) {
  const workload& what = data_.description();
  workload held = what;
  held.keys = found.info.n;
  report_row row = begin_row(found, what, asked);
  row.key = found.info.key;
  row.workload_axes = axes_of(what);
  row.build_floor_ms = references_.sort_ms;
  row.floor = floors_->lookups(held, found.matches, asked);
  row.more = {{"batches", what.batches},
              {"matches", found.matches},
              {"sort_floor_ms", references_.sort_ms},
              {"lookup_peak_bytes", found.lookup_peak_bytes}};
  if (found.aggregate_ms) {
    row.more.insert(row.more.end(), {{"aggregate_ms", *found.aggregate_ms},
                                     {"aggregate_bytes", found.aggregate_bytes}});
  }
  add_calls(what, row);
  add_changes(found, row);
  add_join(found, references_, row);
  add_comparisons(references_, row);
  return row;
}

std::string to_options(const workload& what) {
  using io::size_text;
  std::string text = fmt::format(
      "--keys {} --probes {} --batches {} --key-bits {} --uniformity {} --distribution {} "
      "--stride {} --multiplicity {} --insert-order {} --probe-order {} --hit-rate {} --miss {} "
      "--zipf {}",
      size_text(what.keys), size_text(what.probes), size_text(what.batches), what.key_bits,
      what.uniformity, to_string(what.shape), what.stride, what.multiplicity,
      to_string(what.insert_order), to_string(what.probe_order), what.hit_rate,
      to_string(what.misses), what.zipf);
  if (what.value_bits != 0) text += fmt::format(" --value-bits {}", what.value_bits);
  if (what.heavy_key != 0) text += fmt::format(" --heavy-key {}", what.heavy_key);
  if (what.range_hits != 0) text += fmt::format(" --range-hits {}", what.range_hits);
  if (what.range_lengths != lengths::even) {
    text += fmt::format(" --range-lengths {}", to_string(what.range_lengths));
  }
  if (what.giant_range != 0) text += fmt::format(" --giant-range {}", what.giant_range);
  if (what.aggregate != 0) text += " --aggregate 1";
  if (what.threads != 0) text += fmt::format(" --threads {}", what.threads);
  if (what.waves != 0) text += fmt::format(" --waves {} --growth {}", what.waves, what.growth);
  return text + fmt::format(" --seed {}", what.seed);
}

}  // namespace raydex::bench
