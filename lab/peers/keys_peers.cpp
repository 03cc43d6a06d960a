// SPDX-License-Identifier: Apache-2.0
#include "lab/peers/keys_peers.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "io/program.hpp"
#include "io/wall_clock.hpp"
#include "lab/lookups/family.hpp"
#include "lab/lookups/measure.hpp"
#include "lab/machine/machine.hpp"
#include "lab/machine/median.hpp"
#include "lab/workloads/axes.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "lab/workloads/keys/workload.hpp"
#include "raydex/error.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

struct settings {
  axes swept{.keys = {"2^20", "2^24", "2^26"}, .probes = {"2^26"}};
  std::vector<std::string> structures;
  int repetitions = 5;
};

struct times {
  double build_ms;
  double lookup_ms;
  std::uint64_t wrong;
};

std::optional<times> measure_peer(machine& target, const generated& data, const keys_peers& all,
                                  const keys_peer_entry& peer, int repetitions) {
  const session& on = target.on();
  const workload& spec = data.description();
  const bool ascending = spec.probe_order == order::sorted;
  std::unique_ptr<keys_peer> built;
  times found{};
  found.build_ms = median_of(repetitions, [&] {
    built.reset();
    return io::wall_milliseconds(on, [&] { built = peer.build(on, data.keys(), ascending); });
  });
  if (built == nullptr) return std::nullopt;
  const bool wide = all.kind == result::rank;
  buffer<std::byte> out(on, spec.probes * (wide ? 8 : 4));
  target.poison(out.data(), out.bytes());
  found.lookup_ms = median_call_of(repetitions, [&] {
    return target.milliseconds([&] { built->ask(on, data.lower(), out.data()); });
  });
  found.wrong = target.count_wrong(data.set(), {.kind = all.kind,
                                                .key_bits = spec.key_bits,
                                                .row_id_bits = 32,
                                                .size = spec.probes,
                                                .lower = data.lower().data,
                                                .upper = data.lower().data,
                                                .values = out.data()});
  return found;
}

void print(const std::string& name, const workload& spec, const times& found) {
  fmt::print("{},{},{},{},{},{},{:.4g},{:.4g},{:.4g}\n", name, spec.keys, spec.key_bits,
             spec.probes, to_string(spec.probe_order), spec.hit_rate, found.build_ms,
             found.lookup_ms, static_cast<double>(spec.probes) / found.lookup_ms * 1e3);
  std::fflush(stdout);
}

// Returns whether all answers are right.
bool run(const keys_peers& all, const settings& s) {
  const session on(all.where);
  const std::unique_ptr<machine> target = make_machine(on);
  std::uint64_t wrong = 0;
  fmt::print("peer,keys,key_bits,probes,probe_order,hit_rate,build_ms,ms,lookups_per_s\n");
  for (const workload& spec : lookup_family::sweep(s.swept)) {
    if (spec.range_hits != 0) throw invalid_argument("--range-hits: these programs ask points");
    const generated data(spec, *target);
    if (all.kind == result::rank && !data.set().is_dense()) {
      throw invalid_argument("--uniformity: expected ranks need 0");
    }
    for (const keys_peer_entry& peer : all.peers) {
      const auto found = measure_peer(*target, data, all, peer, s.repetitions);
      if (!found) continue;
      print(peer.name, spec, *found);
      wrong += found->wrong;
    }
    for (const std::string& structure : s.structures) {
      const measurement found = measure(*target, data, all.kind, structure, {}, s.repetitions);
      print("raydex " + structure, spec, {found.build_ms, found.lookup_ms, found.wrong});
      wrong += found.wrong;
    }
  }
  if (wrong != 0) fmt::print(stderr, "{}: {} answers are wrong\n", all.program, wrong);
  return wrong == 0;
}

}  // namespace

int run_keys_peers(int argc, char** argv, const keys_peers& all) try {
  io::begin_program();
  settings s;
  s.structures = {all.structures};
  if (all.kind == result::rank) s.swept.uniformity = {"0"};
  CLI::App app(all.description);
  for (const axis_option& option : axis_options()) {
    if (option.whose == axis_of::minima) continue;
    app.add_option(option.name, s.swept.*option.values, option.help)
        ->delimiter(',')
        ->capture_default_str();
  }
  app.add_option("--structure", s.structures, "Of raydex")->delimiter(',')->capture_default_str();
  app.add_option("--repetitions", s.repetitions, "Medians are of so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return run(all, s) ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(fmt::format("{}: {}\n", all.program, error.what()).c_str(), stderr);
  return 2;
}

}  // namespace raydex::bench
