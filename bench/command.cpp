// SPDX-License-Identifier: Apache-2.0
// The options of `raydex bench`, and the loop over workloads, structures and results.
#include "bench/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/lookups/measure.hpp"
#include "bench/lookups/report.hpp"
#include "bench/machine/floors.hpp"
#include "bench/machine/machine.hpp"
#include "bench/minima/rmq_command.hpp"
#include "bench/papers/experiments.hpp"
#include "bench/recorder.hpp"
#include "bench/workloads/keys/generated.hpp"
#include "files/backend_choice.hpp"
#include "files/file_arguments.hpp"
#include "files/output_file.hpp"
#include "files/speed_cache.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/rmq.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::vector<std::string> experiments;
  bool list_experiments = false;
  axes given;
  std::vector<std::string> structures;
  std::vector<std::string> results;
  std::string backend_name = "auto";
  std::vector<std::string> options;
  std::optional<int> repetitions;
  std::string json;
};

// A sweep out of options is an experiment without a name.
experiment anonymous(const settings& s) {
  trial only;
  for (std::string who : s.structures.empty() ? std::vector<std::string>{"auto"} : s.structures) {
    for (const std::string& option : s.options)
      who += " " + option;
    only.candidates.push_back(who);
  }
  return {.trials = {only}, .repetitions = 5};
}

std::string structure_of(const std::string& candidate) {
  return candidate.substr(0, candidate.find(' '));
}

// Of named experiments only what is measured on these structures; returns the others.
std::set<std::string> keep(std::vector<experiment>& chosen,
                           const std::vector<std::string>& structures, const char* option) {
  bool any = false;
  std::set<std::string> others;
  for (experiment& e : chosen) {
    for (trial& part : e.trials) {
      std::erase_if(part.candidates, [&](const std::string& text) {
        const std::string structure = structure_of(text);
        const bool is_other = std::ranges::find(structures, structure) == structures.end();
        if (is_other) others.insert(structure);
        return is_other;
      });
      any = any || !part.candidates.empty();
    }
  }
  if (!any) throw invalid_argument(fmt::format("{}: the experiments measure others", option));
  return others;
}

// The structures that a backend has: an experiment may compare those of several.
std::vector<std::string> structures_of(backend where) {
  std::vector<std::string> names;
  for (const capability& able : capabilities())
    if (able.where == where) names.push_back(able.structure);
  for (const rmq_capability& able : rmq_capabilities())
    if (able.where == where) names.push_back(able.structure);
  return names;
}

// The backend that is named, or where the structure is that comes first: an experiment on rays
// compares them with what is on another one.
backend backend_of(const settings& s, const std::vector<experiment>& chosen) {
  for (const experiment& e : chosen) {
    for (const trial& part : e.trials) {
      if (part.candidates.empty()) continue;
      const std::string first = structure_of(part.candidates.front());
      const bool updates =
          std::ranges::any_of(part.workloads.waves, [](const auto& n) { return n != "0"; });
      return choose_backend(s.backend_name, first.starts_with("rmq_") ? rmq_offers() : key_offers(),
                            first, updates);
    }
  }
  return parse_backend(s.backend_name);
}

std::vector<experiment> choose(const settings& s) {
  std::vector<experiment> chosen;
  if (s.experiments.empty()) {
    chosen.push_back(anonymous(s));
  } else {
    if (!s.options.empty()) {
      throw invalid_argument("--option: experiments have their own; name structures instead");
    }
    chosen = find_experiments(s.experiments);
    if (!s.structures.empty()) keep(chosen, s.structures, "--structure");
  }
  for (experiment& e : chosen) {
    if (s.repetitions) e.repetitions = *s.repetitions;
    for (trial& part : e.trials) {
      replace(part.workloads, s.given);
      if (!s.results.empty()) part.results = s.results;
    }
  }
  return chosen;
}

void list_experiments() {
  for (const experiment& e : experiments()) {
    std::size_t rows = 0;
    for (const scene& part : plan({e}))
      rows += part.tasks.size() * std::max<std::size_t>(2 * part.what.waves, 1);
    for (const rmq_scene& part : rmq_plan({e}))
      rows += part.tasks.size();
    fmt::print("{:<16} {:>3} rows  {}{}\n", e.name, rows, e.title,
               e.note.empty() ? "" : fmt::format(" ({})", e.note));
  }
}

// Refuses before any work what a structure cannot do. Unknown names are left to `build`, which
// knows what to say about them; `auto` is one that can.
void check_able(const std::string& structure, backend where, const workload& what) {
  if (what.updated_from && structure != "rx") {
    throw unsupported(fmt::format("--updated-from: {} takes no other column; rx does", structure));
  }
  if (structure == "auto" && what.waves != 0) {
    const auto updates = [&](const capability& able) {
      return able.where == where && able.updates;
    };
    if (std::ranges::none_of(capabilities(), updates)) {
      throw unsupported(
          fmt::format("--waves: no structure takes updates on {}; cgrx does on cpu and optix",
                      to_string(where)));
    }
  }
  const std::vector<capability> all = capabilities();
  const auto is_it = [&](const capability& able) { return able.structure == structure; };
  const auto is_here = [&](const capability& able) { return is_it(able) && able.where == where; };
  if (std::ranges::any_of(all, is_it) && std::ranges::none_of(all, is_here)) {
    throw unsupported(fmt::format("{} is not offered on backend {}", structure, to_string(where)));
  }
  for (const capability& able : all) {
    if (!is_here(able)) continue;
    const key_type key = what.key_bits == 32 ? key_type::uint32 : key_type::uint64;
    const auto require = [&](bool holds, const char* missing) {
      if (!holds) throw unsupported(fmt::format("{} does not take {}", structure, missing));
    };
    require(what.range_hits != 0 || able.points, "points");
    require(what.range_hits == 0 || able.ranges, "ranges; sorted_array does");
    require(what.waves == 0 || able.updates, "updates; cgrx does");
    require(what.multiplicity == 1 || able.duplicates, "equal keys; sorted_array does");
    require(
        std::ranges::find(able.keys, key) != able.keys.end(),
        what.key_bits == 32 ? "32-bit keys; sorted_array does" : "64-bit keys; sorted_array does");
  }
}

use_case use_of(const workload& what, backend where) {
  return {.n = what.keys,
          .key = what.key_bits == 32 ? format_of<std::uint32_t> : format_of<std::uint64_t>,
          .where = where,
          .range_hits = what.range_hits,
          .sorted_probes = what.probe_order == order::sorted,
          .updates = what.waves != 0};
}

std::string command_of(const report_row& row, const structure_choice& who, int repetitions) {
  std::string text =
      fmt::format("raydex bench --structure {} --backend {} --result {} {}", who.structure,
                  to_string(row.measured.info.where), to_string(row.asked), to_options(row.what));
  for (const auto& [name, value] : who.options)
    text += fmt::format(" --option {}={}", name, value);
  return text + fmt::format(" --repetitions {}", repetitions);
}

// One measurement, or one for each wave.
std::vector<measurement> measure_all(machine& where, generated& data, result asked,
                                     const structure_choice& who, int repetitions) {
  if (data.description().waves != 0)
    return measure_waves(where, data, asked, who.structure, who.options, repetitions);
  return {measure(where, data, asked, who.structure, who.options, repetitions)};
}

void measure_all(const std::vector<scene>& scenes, machine& bench, floors& all_floors,
                 const device_info& device, int repetitions, recorder& record) {
  const backend where = bench.where().where();
  const bool any_auto = std::ranges::any_of(scenes, [](const scene& here) {
    return std::ranges::any_of(here.tasks, [](const task& t) { return t.who.structure == "auto"; });
  });
  const auto_choice resolve(bench.where(), any_auto);
  if (!scenes.empty()) record.print(table_head());
  for (const auto& [what, tasks] : scenes) {
    record.say(fmt::format("generating {}", describe(what)));
    generated data(what, bench);
    record.say(fmt::format("measuring the floors of {}", describe(what)));
    reference_times references = all_floors.references(data);
    if (what.waves != 0) references.lower_bound_ms.reset();  // of the first keys alone
    for (const auto& [asked, named, wanted_by] : tasks) {
      const structure_choice who = resolve({named.structure, named.options}, use_of(what, where));
      record.measuring(
          fmt::format("{} {}: {}", who.structure, to_text(who.options), describe(what)));
      for (const measurement& found : measure_all(bench, data, asked, who, repetitions)) {
        workload held = what;
        held.keys = found.info.n;
        report_row row{found,      what,   asked, all_floors.lookups(held, asked),
                       references, device, {},    to_text(who.options),
                       {}};
        row.command = command_of(row, who, repetitions);
        record.add(row, wanted_by);
      }
    }
  }
}

// Refuses before any work a file that cannot be written or is also read.
void check_output(const settings& s) {
  std::vector<io::file_argument> inputs;
  for (const std::string& name : s.given.array_file)
    inputs.push_back({"--array-file", name});
  io::check_outputs(std::array{io::file_argument{"--json", s.json}}, inputs);
  const io::output_file attempt(s.json);
}

void run(const settings& s) {
  if (s.list_experiments) return list_experiments();
  std::vector<experiment> chosen = choose(s);
  const backend where = backend_of(s, chosen);
  std::set<std::string> left_out;
  if (!s.experiments.empty()) left_out = keep(chosen, structures_of(where), "--backend");
  const std::vector<scene> scenes = plan(chosen);
  const std::vector<rmq_scene> rmq_scenes = rmq_plan(chosen);
  const int repetitions = std::ranges::max(chosen, {}, &experiment::repetitions).repetitions;
  if (repetitions < 1) {
    throw invalid_argument(fmt::format("--repetitions: {}: must be at least 1", repetitions));
  }
  std::size_t total = 0;
  for (const scene& here : scenes) {
    total += here.tasks.size();
    for (const task& next : here.tasks)
      check_able(next.who.structure, where, here.what);
  }
  for (const rmq_scene& here : rmq_scenes)
    total += here.tasks.size();
  check_able(rmq_scenes, where);
  if (!s.json.empty()) check_output(s);

  const session here(where);
  const std::unique_ptr<machine> bench = make_machine(here);
  floors all_floors(*bench, repetitions);
  const device_info device = here.device();
  recorder record(total, s.json);
  record.print(fmt::format("{}: {}", to_string(where), device.name));
  if (!left_out.empty()) {
    record.print(
        fmt::format("left out, as {} has none: {}", to_string(where), fmt::join(left_out, ", ")));
  }
  measure_all(scenes, *bench, all_floors, device, repetitions, record);
  measure_all(rmq_scenes, *bench, all_floors, device, repetitions, record);
  if (record.wrong() != 0) {
    throw error(fmt::format("bench: {} answers were wrong", record.wrong()));
  }
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto s = std::make_shared<settings>();
  CLI::App& bench = *app.add_subcommand(
      "bench",
      "Measures structures on generated workloads, checks every answer, and compares with "
      "what the hardware can do");
  const auto list = [&bench](const char* name, std::vector<std::string>& texts, const char* text,
                             const char* type) {
    bench.add_option(name, texts, text)->delimiter(',')->type_name(type)->allow_extra_args(false);
  };
  list(
      "--experiment", s->experiments,
      "named experiments; options beside it replace their own; 'lightweight/14*' is all that begin "
      "so",
      "NAME[,NAME...]");
  bench.add_flag("--list-experiments", s->list_experiments, "show the names and end");
  axes& given = s->given;
  const char* const number = "N[,N...]";
  list("--keys", given.keys,
       "rows of the column, or values of the array, such as 1000 or 2^20 [2^26]", number);
  list("--probes", given.probes, "points or ranges in all [2^27; minima: 2^26]", number);
  list("--batches", given.batches, "calls that the probes are split into [1]", number);
  list("--key-bits", given.key_bits, "32 or 64 [32]", number);
  list("--uniformity", given.uniformity,
       "per cent of the keys drawn from the value range, the rest dense from 0 [100; ranges: 0]",
       number);
  list("--distribution", given.distribution,
       "how drawn keys lie: uniform, clumped, skewed, lognormal or steps [uniform]", "D[,D...]");
  list("--stride", given.stride, "all keys are multiples of it [1]", number);
  list("--value-bits", given.value_bits, "keys lie below 2 to this power [the key bits]", number);
  list("--multiplicity", given.multiplicity, "how often every key comes [1]", number);
  list("--insert-order", given.insert_order, "unsorted or sorted rows [unsorted]", "ORDER[,...]");
  list("--probe-order", given.probe_order, "unsorted or sorted probes [unsorted]", "ORDER[,...]");
  list("--hit-rate", given.hit_rate, "per cent of the points that match [100]", number);
  list("--miss", given.miss, "other points: inside or outside the value range [inside]",
       "PLACE[,...]");
  list("--zipf", given.zipf, "skew of the popularity of keys [0]", number);
  list("--range-hits", given.range_hits, "probe with ranges of so many rows [0: points]", number);
  list("--updated-from", given.updated_from,
       "build over other keys, which lie so, and update to these; none for no update [none]",
       "D[,D...]");
  list("--waves", given.waves,
       "insert keys in so many waves, erase them in as many, and measure after each [0]", number);
  list("--growth", given.growth, "how many times as many keys the waves lead to [2.2]", number);
  list("--array", given.array,
       "minima: how values lie: random, distinct, ascending, descending, sawtooth, constant, few, "
       "mountain or lcp [random]",
       "A[,A...]");
  list("--array-file", given.array_file, "minima: the values, or the first of them, out of a file",
       "FILE.npy[,...]");
  list("--period", given.period, "minima: of a sawtooth [1024]", number);
  list("--values", given.values, "minima: float, double, int32, uint32, int64 or uint64 [float]",
       "TYPE[,...]");
  list("--ranges", given.ranges, "minima: large, medium, small or mixed [mixed]", "R[,R...]");
  list("--position-bits", given.position_bits,
       "minima: of the ends of ranges, 32 or 64 [32 below 2^31 values]", number);
  list(
      "--changes", given.changes,
      "minima: so many positions, where the first ranges begin, are said to have changed after the "
      "build [0]",
      number);
  list("--seed", given.seed, "of all that is random [1]", number);
  list("--result", s->results, "first, count, sum or rows [first]; minima: min or argmin [min]",
       "RESULT[,...]");
  list("--structure", s->structures,
       "structures to measure [auto], those named rmq_ for minima; of an experiment's only these "
       "[all]",
       "S[,S...]");
  bench
      .add_option("--backend", s->backend_name,
                  "cpu, cuda, optix, or auto: where the first structure is [auto]")
      ->type_name("BACKEND");
  bench.add_option("--option", s->options, "an option of the structures; repeatable")
      ->type_name("NAME=VALUE[,...]")
      ->allow_extra_args(false);
  bench
      .add_option("--repetitions", s->repetitions,
                  "measurements, of which the median counts [5; 3]")
      ->type_name("N");
  bench
      .add_option(
          "--json", s->json,
          "file for all figures: a list, one object per table line; holds what was measured so far")
      ->type_name("FILE");
  bench.footer(
      "Lists are swept: all combinations are measured. Examples:\n"
      "  raydex bench --structure sorted_array --keys 2^20,2^24,2^26 --json points.json\n"
      "  raydex bench --hit-rate 100,50,10 --miss inside,outside --value-bits 31\n"
      "  raydex bench --probes 2^22 --range-hits 1,16,256,1024 --result sum\n"
      "  raydex bench --structure rmq_scan --keys 2^24 --ranges small --result min,argmin\n"
      "  raydex bench --structure cgrx --key-bits 64 --waves 8 --growth 2.2\n"
      "  raydex bench --experiment lightweight/20 --json lightweight-20.json");
  bench.callback([s] { run(*s); });
}

}  // namespace raydex::bench
