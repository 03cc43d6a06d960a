// SPDX-License-Identifier: Apache-2.0
// raydex_group_loads: how long loads of neighbours take by the size of groups, figure 7 of the
// lightweight paper, and where all of a group load one value, figure 4 of GPU-RMQ. Prints a table
// as CSV.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "lab/machine/group_loads.hpp"
#include "lab/machine/machine.hpp"
#include "lab/machine/median.hpp"
#include "lab/report.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::uint32_t array_bits = 28;
  std::uint32_t largest_bits = 10;
  int repetitions = 5;
};

// Whether sums are those of the loads: of some threads, since the host takes long.
void check(const group_loads& loads, const std::vector<std::uint32_t>& values,
           const std::vector<std::uint32_t>& sums) {
  for (std::uint32_t thread = 0; thread < loads.threads; thread += 997) {
    std::uint32_t sum = 0;
    for (std::uint32_t step = 0; step < loads.steps; ++step)
      sum += values[loads.place(thread, step)];
    if (sums[thread] != sum) {
      throw error(
          fmt::format("thread {} of groups of 2^{} has a wrong sum", thread, loads.group_bits));
    }
  }
}

void measure(const settings& s, const session& on, machine& target) {
  group_loads loads{.threads = 1 << 16,
                    .steps = 1024,
                    .array_bits = s.array_bits,
                    .group_bits = 0,
                    .reads = group_reads::neighbours};
  const context at = on;
  buffer<std::uint32_t> array(at, std::uint64_t{1} << s.array_bits);
  buffer<std::uint32_t> sums(at, loads.threads);
  target.fill_random(1, array.data(), array.size());
  std::vector<std::uint32_t> values(array.size());
  on.copy_out(values.data(), array.data(), array.bytes());
  std::vector<std::uint32_t> found(loads.threads);
  for (const group_reads reads : {group_reads::neighbours, group_reads::one}) {
    loads.reads = reads;
    double alone_ms = 0;
    for (loads.group_bits = 0; loads.group_bits <= s.largest_bits; ++loads.group_bits) {
      const double ms = median_call_of(s.repetitions, [&] {
        target.poison(sums.data(), sums.bytes());
        return target.milliseconds([&] { load_in_groups(at, loads, array.data(), sums.data()); });
      });
      on.copy_out(found.data(), sums.data(), sums.bytes());
      check(loads, values, found);
      if (loads.group_bits == 0) alone_ms = ms;
      fmt::print("{},{},{:.4f},{:.3f}\n", 1U << loads.group_bits,
                 reads == group_reads::one ? "one value" : "neighbours", ms, ms / alone_ms);
      std::fflush(stdout);
    }
  }
}

int run(int argc, char** argv) {
  settings s;
  CLI::App app("2^16 threads in groups that load 1024 times each from an array of 32-bit values.");
  app.add_option("--array-bits", s.array_bits, "The array has 2^N values")
      ->check(CLI::Range(1, 32))
      ->capture_default_str();
  app.add_option("--largest-bits", s.largest_bits, "Groups have up to 2^N threads")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  app.add_option("--repetitions", s.repetitions, "Medians are of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const session on(backend::cuda);
  const std::unique_ptr<machine> target = make_machine(on);
  fmt::print("# command: raydex_group_loads --array-bits {} --largest-bits {} --repetitions {}\n",
             s.array_bits, s.largest_bits, s.repetitions);
  fmt::print("{}", machine_lines(on));
  fmt::print("group,reads,ms,of_single_threads\n");
  measure(s, on, *target);
  return 0;
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) {
  try {
    return raydex::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("raydex_group_loads: {}\n", error.what()).c_str(), stderr);
    return 2;
  }
}
