// SPDX-License-Identifier: Apache-2.0
// The options of `raydex bench`, and the loop over workloads, structures and results.
#include "lab/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/backend_choice.hpp"
#include "io/file_arguments.hpp"
#include "io/known_words.hpp"
#include "io/output_file.hpp"
#include "io/sizes.hpp"
#include "io/speed_cache.hpp"
#include "lab/json_option.hpp"
#include "lab/lookups/family.hpp"
#include "lab/machine/floors.hpp"
#include "lab/machine/machine.hpp"
#include "lab/minima/family.hpp"
#include "lab/papers/experiments.hpp"
#include "lab/plan.hpp"
#include "lab/recorder.hpp"
#include "raydex/error.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::vector<std::string> experiments;
  bool list_experiments = false;
  axes swept;
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
  for (const auto& offers : {io::key_offers(), io::rmq_offers()}) {
    for (const io::backend_offer& offer : offers)
      if (offer.where == where) names.push_back(offer.structure);
  }
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
      return io::choose_backend(s.backend_name,
                                is_of_minima(first) ? io::rmq_offers() : io::key_offers(), first,
                                updates);
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
      replace(part.workloads, s.swept);
      if (!s.results.empty()) part.results = s.results;
    }
  }
  return chosen;
}

template <family Family>
std::size_t rows_of(const experiment& e) {
  std::size_t rows = 0;
  for (const auto& [spec, tasks] : plan<Family>({e}))
    rows += tasks.size() * Family::rows_each(spec);
  return rows;
}

void list_experiments() {
  for (const experiment& e : experiments()) {
    fmt::print("{:<16} {:>3} rows  {}{}\n", e.name,
               rows_of<lookup_family>(e) + rows_of<minima_family>(e), e.title,
               e.note.empty() ? "" : fmt::format(" ({})", e.note));
  }
}

// Refuses before any work what a structure cannot do; returns how many measurements there are.
template <family Family>
std::size_t check(const std::vector<measured_workload<Family>>& workloads, backend where,
                  const std::vector<io::backend_offer>& offers) {
  std::size_t total = 0;
  for (const auto& [spec, tasks] : workloads) {
    total += tasks.size();
    for (const auto& next : tasks) {
      io::check_structure(next.who.structure, offers);
      io::check_spelling(next.who.structure, next.who.options);
      Family::check_able(next.who, where, spec);
    }
  }
  return total;
}

// Replaces every `auto` by the structure that is the fastest there.
void decide(std::vector<measured_workload<lookup_family>>& workloads, const session& on) {
  const auto has_auto = [](const auto& one) {
    return std::ranges::any_of(one.tasks, [](const auto& t) { return t.who.structure == "auto"; });
  };
  const io::auto_choice choose_for(on, std::ranges::any_of(workloads, has_auto));
  for (auto& [spec, tasks] : workloads) {
    for (auto& next : tasks)
      next.who = choose_for(next.who, lookup_family::use_of(spec, on.where()));
  }
}

// What is said where memory does not suffice for something; nothing where it does.
template <class Function>
std::optional<std::string> shortage_of(const Function& something) {
  try {
    something();
  } catch (const out_of_memory& e) {
    return e.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
  return std::nullopt;
}

// Returns how many measurements were left out, since memory did not suffice for them.
template <family Family>
std::size_t measure_all(const std::vector<measured_workload<Family>>& workloads, machine& target,
                        floors& all_floors, int repetitions, recorder& record) {
  if (workloads.empty()) return 0;
  std::size_t left_out = 0;
  record.announce(table_head(Family::build_ratio));
  for (const measured_workload<Family>& workload : workloads) {
    const auto& spec = workload.spec;
    std::optional<Family> measured;
    const auto without_workload = shortage_of([&] {
      record.say(fmt::format("generating {}", describe(spec)));
      measured.emplace(spec, target, all_floors);
      record.say(fmt::format("measuring the floors of {}", describe(spec)));
      measured->measure_floors();
    });
    for (const task<Family>& next : workload.tasks) {
      const auto& who = next.who;
      const std::string options = to_text(who.options);
      const std::string line = fmt::format("{}{}{}: {}", who.structure, options.empty() ? "" : " ",
                                           options, describe(spec));
      record.measuring(line);
      std::string command =
          fmt::format("raydex bench --structure {} --backend {} --result {} {}", who.structure,
                      to_string(target.on().where()), to_string(next.kind), to_options(spec));
      for (const auto& [name, value] : who.options)
        command += fmt::format(" --option {}={}", name, value);
      command += fmt::format(" --repetitions {}", repetitions);
      const auto without = without_workload ? without_workload : shortage_of([&] {
        for (report_row& row : measured->measure(next.kind, who, repetitions)) {
          row.options = options;
          row.command = command;
          record.add(std::move(row), next.experiments);
        }
      });
      if (!without) continue;
      record.print(fmt::format("left out: {}: {}", line, *without));
      ++left_out;
    }
  }
  record.print(table_foot(Family::build_ratio, Family::build_floor));
  return left_out;
}

// Refuses before any work a file that cannot be written or is also read.
void check_output(const settings& s) {
  std::vector<io::file_argument> inputs;
  for (const std::string& name : s.swept.array_file)
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
  std::vector<measured_workload<lookup_family>> lookups = plan<lookup_family>(chosen);
  const std::vector<measured_workload<minima_family>> minima = plan<minima_family>(chosen);
  const int repetitions = std::ranges::max(chosen, {}, &experiment::repetitions).repetitions;
  if (repetitions < 1) {
    throw invalid_argument(fmt::format("--repetitions: {}: must be at least 1", repetitions));
  }
  const std::size_t total =
      check(lookups, where, io::key_offers()) + check(minima, where, io::rmq_offers());
  if (writes_file(s.json)) check_output(s);

  const session on(where);
  const std::unique_ptr<machine> bench = make_machine(on);
  floors all_floors(*bench, repetitions);
  const device_info device = on.device();
  recorder record(device, total, s.json);
  record.announce(fmt::format("{}: {}", to_string(where), device.name));
  if (!left_out.empty()) {
    record.announce(
        fmt::format("left out, as {} has none: {}", to_string(where), fmt::join(left_out, ", ")));
  }
  decide(lookups, on);
  const std::size_t without_room = measure_all(lookups, *bench, all_floors, repetitions, record) +
                                   measure_all(minima, *bench, all_floors, repetitions, record);
  record.finish();
  if (record.wrong() != 0) {
    throw error(fmt::format("bench: {} answers were wrong", record.wrong()));
  }
  if (without_room != 0) {
    throw error(fmt::format("bench: {} of {} measurements were left out, for want of memory",
                            without_room, total));
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
  for (const axis_option& option : axis_options())
    list(option.name, s->swept.*option.values, option.help, option.type);
  list("--result", s->results,
       "first, count, sum, rows, rank, or pairs: the rows of an inner join of the keys with the "
       "probes [first]; minima: min or argmin [min]",
       "RESULT[,...]");
  list("--structure", s->structures,
       "structures to measure [auto], those named rmq_ for minima; of an experiment's only these "
       "[all]",
       "S[,S...]");
  bench
      .add_option("--backend", s->backend_name,
                  "who does the work; auto: where the first structure is [auto]")
      ->type_name("cpu|cuda|optix|auto");
  bench
      .add_option("--option", s->options,
                  "an option of the structures, as `raydex structures NAME` lists them; repeatable")
      ->type_name("NAME=VALUE[,...]")
      ->allow_extra_args(false);
  bench
      .add_option("--repetitions", s->repetitions,
                  "measurements; the median counts; short lookups are measured until "
                  "they took 10 ms in all [5; 3]")
      ->type_name("N");
  add_json_option(bench, s->json,
                  "all figures, a list with an object for each line of the table, which then goes "
                  "to stderr; a file holds what was measured so far");
  bench.footer(
      "Lists are swept: all combinations are measured, but for those that memory does not suffice\n"
      "for: these are named, and the exit status is 1. Examples:\n"
      "  raydex bench --structure sorted_array --keys 2^20,2^24,2^26 --json points.json\n"
      "  raydex bench --hit-rate 100,50,10 --miss inside,outside --value-bits 31\n"
      "  raydex bench --probes 2^22 --range-hits 1,16,256,1024 --result sum\n"
      "  raydex bench --probes 2^20 --range-hits 16 --range-lengths even,zipf --result sum,rows\n"
      "  raydex bench --batches 10000 --probes 1e6 --threads 1,8\n"
      "  raydex bench --structure hash_open,pivot_tree --probes 2^26 --result pairs\n"
      "  raydex bench --structure rmq_scan --keys 2^24 --ranges small --result min,argmin\n"
      "  raydex bench --structure cgrx --key-bits 64 --waves 8 --growth 2.2\n"
      "  raydex bench --experiment lightweight/20 --json lightweight-20.json\n"
      "\n" +
      std::string(io::sizes_help));
  bench.callback([s] { run(*s); });
}

}  // namespace raydex::bench
