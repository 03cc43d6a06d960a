// SPDX-License-Identifier: Apache-2.0
// raydex_rmq_sdsl: minima by a succinct structure, rmq_succinct_sct of SDSL, and by a structure of
// raydex, on the CPU, over the same workloads; prints both as JSON. SDSL knows positions, where the
// array is read for minima.
//
// SDSL, https://github.com/simongog/sdsl-lite, is under the GNU General Public License, version 3
// or later, and so is, as a whole, the program that is built from this file. It is built only with
// -DRAYDEX_SDSL=ON; the library and the program raydex contain nothing of SDSL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <sdsl/memory_management.hpp>
#include <sdsl/rmq_support.hpp>
#include <string>
#include <vector>

#include "io/program.hpp"
#include "io/wall_clock.hpp"
#include "lab/experiment.hpp"
#include "lab/machine/floors.hpp"
#include "lab/machine/machine.hpp"
#include "lab/machine/median.hpp"
#include "lab/machine/parallel.hpp"
#include "lab/minima/family.hpp"
#include "lab/minima/measure.hpp"
#include "lab/papers/experiments.hpp"
#include "lab/plan.hpp"
#include "lab/report.hpp"
#include "lab/workloads/axes.hpp"
#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/minima/rmq_answers.hpp"
#include "lab/workloads/minima/rmq_generated.hpp"
#include "lab/workloads/minima/rmq_values.hpp"
#include "lab/workloads/minima/rmq_workload.hpp"
#include "raydex/error.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

struct settings {
  axes swept{.probes = {"2^22"}};
  std::vector<std::string> experiments;
  std::vector<std::string> results{"argmin"};
  std::string structure = "auto";
  int repetitions = 3;
};

using succinct = sdsl::rmq_succinct_sct<>;

// An array as SDSL takes it: integers in the order of the values.
template <class Value>
struct code_array {
  using size_type = std::uint64_t;

  const Value* values;
  size_type length;

  auto operator[](size_type i) const { return encode(values[i]); }
  size_type size() const { return length; }
};

void build(std::optional<succinct>& built, const column& array) {
  built.reset();
  with_value(array.format.type, [&](auto zero) {
    using value = decltype(zero);
    const code_array<value> codes{static_cast<const value*>(array.data), array.size};
    built.emplace(&codes);
  });
}

// As raydex is measured: all cores ask; the build of SDSL has a single thread.
rmq_measurement measure_sdsl(machine& target, const rmq_generated& data, rmq_result kind,
                             int repetitions) {
  const session& on = target.on();
  const rmq_workload& spec = data.description();
  std::optional<succinct> built;
  rmq_measurement found;
  found.build_ms = median_of(
      repetitions, [&] { return io::wall_milliseconds(on, [&] { build(built, data.array()); }); });
  found.info.structure = "sdsl::rmq_succinct_sct";
  found.info.where = backend::cpu;
  found.info.value = spec.value;
  found.info.n = spec.keys;
  found.info.resident_bytes = sdsl::size_in_bytes(*built);
  // Once more, and every allocation is looked at.
  built.reset();
  sdsl::memory_monitor::granularity(std::chrono::milliseconds(0));
  sdsl::memory_monitor::start();
  build(built, data.array());
  sdsl::memory_monitor::stop();
  found.info.build_peak_bytes = static_cast<std::uint64_t>(sdsl::memory_monitor::peak());

  const void* const ends = data.ranges().lower.data;
  const int bits = spec.position_bits;
  const auto position = [&](std::uint64_t i) {
    return (*built)(number_at(ends, bits, 2 * i), number_at(ends, bits, 2 * i + 1));
  };
  const auto answer = [&](auto& answers, const auto& answer_to) {
    found.lookup_ms = median_of(repetitions, [&] {
      return target.milliseconds(
          [&] { parallel_for(spec.probes, [&](std::uint64_t i) { answers[i] = answer_to(i); }); });
    });
    found.wrong = target.count_wrong(data.reference(), {.kind = kind,
                                                        .position_bits = bits,
                                                        .size = spec.probes,
                                                        .ends = ends,
                                                        .answers = answers.data()});
  };
  if (kind == rmq_result::argmin) {
    std::vector<std::uint64_t> answers(spec.probes);
    answer(answers, position);
    return found;
  }
  with_value(spec.value.type, [&](auto zero) {
    using value = decltype(zero);
    const auto* const values = static_cast<const value*>(data.array().data);
    std::vector<value> answers(spec.probes);
    answer(answers, [&](std::uint64_t i) { return values[position(i)]; });
  });
  return found;
}

// What is to be measured: the options as they are, or on the workloads of experiments.
std::vector<measured_workload<minima_family>> choose(const settings& s) {
  if (!s.experiments.empty()) {
    std::vector<experiment> chosen = find_experiments(s.experiments);
    for (experiment& e : chosen) {
      for (trial& part : e.trials) {
        replace(part.workloads, s.swept);
        part.results = s.results;
      }
    }
    return plan<minima_family>(chosen);
  }
  std::vector<measured_workload<minima_family>> all;
  for (const rmq_workload& spec : minima_family::sweep(s.swept)) {
    measured_workload<minima_family>& entry = all.emplace_back(spec);
    for (const rmq_result kind : minima_family::parse_results(s.results))
      entry.tasks.push_back({kind, {s.structure}, {""}});
  }
  return all;
}

// Returns whether all answers are right.
bool run(const settings& s) {
  if (s.repetitions < 1) {
    throw invalid_argument(fmt::format("--repetitions: {}: must be at least 1", s.repetitions));
  }
  const session on(backend::cpu);
  const std::unique_ptr<machine> target = make_machine(on);
  floors all_floors(*target, s.repetitions);
  std::vector<report_row> rows;
  std::uint64_t wrong = 0;
  for (const auto& [spec, tasks] : choose(s)) {
    const rmq_generated data(spec, *target);
    const minima_references references =
        all_floors.minima(spec.keys * spec.value.width, spec.probes);
    const auto add = [&](const rmq_measurement& found, rmq_result kind,
                         const std::vector<std::string>& names) {
      wrong += found.wrong;
      report_row row = row_of(found, spec, kind, references);
      row.device = on.device();
      row.command = fmt::format("raydex_rmq_sdsl --structure {} --result {} {} --repetitions {}",
                                s.structure, to_string(kind), to_options(spec), s.repetitions);
      row.date = date_text();
      for (const std::string& name : names) {
        row.experiment = name;
        rows.push_back(row);
      }
    };
    for (const rmq_result kind : minima_family::parse_results(s.results)) {
      std::vector<std::string> names;
      for (const auto& wanted : tasks) {
        std::ranges::copy_if(wanted.experiments, std::back_inserter(names), [&](const auto& name) {
          return wanted.kind == kind && std::ranges::find(names, name) == names.end();
        });
      }
      add(measure_sdsl(*target, data, kind, s.repetitions), kind, names);
      if (!s.experiments.empty()) continue;  // raydex bench measures those of raydex
      add(measure(*target, data, kind, s.structure, {}, s.repetitions), kind, names);
    }
  }
  fmt::print("{}", to_json(rows));
  return wrong == 0;
}

int parse_and_run(int argc, char** argv) {
  settings s;
  CLI::App app("Minima by SDSL and by raydex on the CPU; the options of `raydex bench`.");
  for (const axis_option& option : axis_options()) {
    if (option.whose == axis_of::keys || option.values == &axes::changes) continue;
    app.add_option(option.name, s.swept.*option.values, option.help)
        ->delimiter(',')
        ->capture_default_str();
  }
  app.add_option("--experiment", s.experiments, "SDSL alone, on the workloads of these")
      ->delimiter(',');
  app.add_option("--result", s.results, "min or argmin")->delimiter(',')->capture_default_str();
  app.add_option("--structure", s.structure, "Of raydex")->capture_default_str();
  app.add_option("--repetitions", s.repetitions, "Medians are of so many")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return run(s) ? 0 : 1;
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) {
  try {
    raydex::io::begin_program();
    return raydex::bench::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("raydex_rmq_sdsl: {}\n", error.what()).c_str(), stderr);
    return 2;
  }
}
