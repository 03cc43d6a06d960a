// SPDX-License-Identifier: Apache-2.0
// raydex_divide_cub: how long a batch takes to be divided among shards, beside one pass of
// cub::DeviceRadixSort over as many pairs, which moves as much and knows no splitters. Prints a
// table as CSV.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "lab/machine/machine.hpp"
#include "lab/machine/median.hpp"
#include "lab/machine/sort_device.hpp"
#include "lab/report.hpp"
#include "raydex/partition.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::vector<std::uint64_t> probes{1 << 20, 1 << 24, 1 << 27};
  std::vector<std::uint64_t> shards{2, 4, 8, 64, 1024};
  int repetitions = 5;
};

template <class Key>
void measure(const settings& s, const session& on, machine& target) {
  constexpr int bits = 8 * static_cast<int>(sizeof(Key));
  for (const std::uint64_t size : s.probes) {
    const context at = on;
    buffer<Key> keys(at, size);
    buffer<Key> cells(at, size);
    buffer<std::uint32_t> numbers(at, size);
    buffer<std::uint32_t> sources(at, size);
    target.fill_random(1, reinterpret_cast<std::uint32_t*>(keys.data()), size * sizeof(Key) / 4);
    target.fill_random(2, numbers.data(), size);
    const probes batch = points(column(keys));

    std::size_t scratch_bytes = 0;
    const auto pass = [&](void* scratch) {
      sort_pairs(scratch, scratch_bytes, {keys.data(), size, bits}, cells.data(),
                 {numbers.data(), size, 32}, sources.data(), at.stream, bits - 8);
    };
    pass(nullptr);
    buffer<std::byte> scratch(at, scratch_bytes);
    const double pass_ms = median_call_of(
        s.repetitions, [&] { return target.milliseconds([&] { pass(scratch.data()); }); });

    for (const std::uint64_t shards : s.shards) {
      buffer<Key> splitters(at, shards - 1);
      choose_splitters(backend::cuda, at, column(keys), value_span(splitters));
      std::unique_ptr<partition> parts;
      const double divide_ms = median_call_of(s.repetitions, [&] {
        parts.reset();
        return target.milliseconds(
            [&] { parts = divide(backend::cuda, at, batch, column(splitters)); });
      });
      const double write_ms = median_call_of(s.repetitions, [&] {
        target.poison(sources.data(), sources.bytes());
        return target.milliseconds([&] {
          parts->write(at, batch, {sources, cells.data(), nullptr});
        });
      });
      fmt::print("{},{},{},{:.4f},{:.4f},{:.4f},{:.2f}\n", bits, size, shards, divide_ms, write_ms,
                 pass_ms, (divide_ms + write_ms) / pass_ms);
      std::fflush(stdout);
    }
  }
}

int run(int argc, char** argv) {
  settings s;
  CLI::App app("Batches of points divided among shards, beside a pass of a radix sort.");
  app.add_option("--probes", s.probes, "Points of a batch")->delimiter(',')->capture_default_str();
  app.add_option("--shards", s.shards, "Shards")
      ->delimiter(',')
      ->check(CLI::Range(std::uint64_t{1}, most_shards))
      ->capture_default_str();
  app.add_option("--repetitions", s.repetitions, "Medians are of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const session on(backend::cuda);
  const std::unique_ptr<machine> target = make_machine(on);
  fmt::print("{}", machine_lines(on));
  fmt::print("key_bits,probes,shards,divide_ms,write_ms,radix_pass_ms,ratio\n");
  measure<std::uint32_t>(s, on, *target);
  measure<std::uint64_t>(s, on, *target);
  return 0;
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) {
  try {
    return raydex::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("raydex_divide_cub: {}\n", error.what()).c_str(), stderr);
    return 2;
  }
}
