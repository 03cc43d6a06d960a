// SPDX-License-Identifier: Apache-2.0
// raydex_rmq_sdsl: positions of minima by a succinct structure, rmq_succinct_sct of SDSL, and by a
// structure of raydex, on the CPU, over the same workloads; prints both as JSON.
//
// SDSL, https://github.com/simongog/sdsl-lite, is under the GNU General Public License, version 3
// or later, and so is, as a whole, the program that is built from this file. It is built only with
// -DRAYDEX_SDSL=ON; the library and the program raydex contain nothing of SDSL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <sdsl/memory_management.hpp>
#include <sdsl/rmq_support.hpp>
#include <string>
#include <vector>

#include "bench/machine/floors.hpp"
#include "bench/machine/machine.hpp"
#include "bench/machine/median.hpp"
#include "bench/machine/parallel.hpp"
#include "bench/minima/family.hpp"
#include "bench/minima/measure.hpp"
#include "bench/report.hpp"
#include "bench/workloads/axes.hpp"
#include "bench/workloads/keys/answers.hpp"
#include "bench/workloads/minima/rmq_answers.hpp"
#include "bench/workloads/minima/rmq_generated.hpp"
#include "bench/workloads/minima/rmq_values.hpp"
#include "bench/workloads/minima/rmq_workload.hpp"
#include "files/program.hpp"
#include "files/wall_clock.hpp"
#include "raydex/error.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

struct settings {
  axes given{.probes = {"2^22"}};
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
rmq_measurement measure_sdsl(machine& here, const rmq_generated& data, int repetitions) {
  const session& on = here.on();
  const rmq_workload& what = data.description();
  std::optional<succinct> built;
  rmq_measurement found;
  found.build_ms = median_of(
      repetitions, [&] { return io::wall_milliseconds(on, [&] { build(built, data.array()); }); });
  found.info.structure = "sdsl::rmq_succinct_sct";
  found.info.where = backend::cpu;
  found.info.value = what.value;
  found.info.n = what.keys;
  found.info.resident_bytes = sdsl::size_in_bytes(*built);
  // Once more, and every allocation is looked at.
  built.reset();
  sdsl::memory_monitor::granularity(std::chrono::milliseconds(0));
  sdsl::memory_monitor::start();
  build(built, data.array());
  sdsl::memory_monitor::stop();
  found.info.build_peak_bytes = static_cast<std::uint64_t>(sdsl::memory_monitor::peak());

  std::vector<std::uint64_t> answers(what.probes);
  const void* const ends = data.ranges().lower.data;
  const int bits = what.position_bits;
  found.lookup_ms = median_of(repetitions, [&] {
    return here.milliseconds([&] {
      parallel_for(what.probes, [&](std::uint64_t i) {
        answers[i] = (*built)(number_at(ends, bits, 2 * i), number_at(ends, bits, 2 * i + 1));
      });
    });
  });
  found.wrong = here.count_wrong(data.reference(), {.asked = rmq_result::argmin,
                                                    .position_bits = bits,
                                                    .size = what.probes,
                                                    .ends = ends,
                                                    .answers = answers.data()});
  return found;
}

// Returns whether all answers are right.
bool run(const settings& s) {
  if (s.repetitions < 1) {
    throw invalid_argument(fmt::format("--repetitions: {}: must be at least 1", s.repetitions));
  }
  const session on(backend::cpu);
  const std::unique_ptr<machine> here = make_machine(on);
  floors all_floors(*here, s.repetitions);
  std::vector<report_row> rows;
  std::uint64_t wrong = 0;
  for (const rmq_workload& what : minima_family::sweep(s.given)) {
    const rmq_generated data(what, *here);
    const minima_references references =
        all_floors.minima(what.keys * what.value.width, what.probes);
    const auto add = [&](const rmq_measurement& found) {
      wrong += found.wrong;
      report_row& row = rows.emplace_back(row_of(found, what, rmq_result::argmin, references));
      row.device = on.device();
      row.command = fmt::format("raydex_rmq_sdsl --structure {} {} --repetitions {}", s.structure,
                                to_options(what), s.repetitions);
      row.date = date_text();
    };
    add(measure_sdsl(*here, data, s.repetitions));
    add(measure(*here, data, rmq_result::argmin, s.structure, {}, s.repetitions));
  }
  fmt::print("{}", to_json(rows));
  return wrong == 0;
}

int parse_and_run(int argc, char** argv) {
  settings s;
  CLI::App app(
      "Positions of minima by SDSL and by raydex on the CPU; the options of `raydex bench`.");
  for (const axis_option& option : axis_options()) {
    if (option.whose == axis_of::keys || option.values == &axes::changes) continue;
    app.add_option(option.name, s.given.*option.values, option.help)
        ->delimiter(',')
        ->capture_default_str();
  }
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
