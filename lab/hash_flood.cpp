// SPDX-License-Identifier: Apache-2.0
// raydex_hash_flood: hash tables on keys that somebody chose to share a
// bucket, beside random ones: by the finaliser of MurmurHash3, which everybody knows, and by the
// seed that the table is given. Prints CSV, a line for each structure and kind of keys; the exit
// status is 1 where chosen keys take more than ten times what random ones do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "lab/machine/median.hpp"
#include "raydex/raydex.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::string where = "auto";
  std::uint32_t keys = 200'000;
  int repetitions = 3;
};

using keys = std::vector<std::uint64_t>;

keys chosen_keys(std::uint32_t count, const core::hash_function<std::uint64_t>& known) {
  keys all;
  for (std::uint32_t i = 0; i < count; ++i)
    all.push_back(core::key_of(known, std::uint64_t{i}));
  return all;
}

keys random_keys(std::uint32_t count) {
  std::mt19937_64 random(7);
  keys all(count);
  for (std::uint64_t& key : all)
    key = random();
  return all;
}

struct times {
  double build;
  double lookup;
};

// Nanoseconds a key.
template <class Work>
double time_of(const session& on, const settings& s, const Work& work) {
  return median_of(s.repetitions, [&] {
    const auto begin = std::chrono::steady_clock::now();
    work();
    on.synchronize();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() / s.keys;
  });
}

times measure(const session& on, const settings& s, const std::string& structure,
              const option_map& options, const keys& values) {
  const auto cells = on.upload(values);
  std::unique_ptr<index> built;
  times found{};
  found.build = time_of(on, s, [&] {
    built = build(structure, on.where(), on, column(cells), std::nullopt, options);
  });
  buffer<std::uint32_t> rows(on, s.keys);
  found.lookup = time_of(on, s, [&] { built->first(on, points(column(cells)), rows); });
  return found;
}

bool run(const settings& s) {
  const session on(parse_backend(s.where));
  const keys random = random_keys(s.keys);
  const keys by_murmur = chosen_keys(s.keys, {});
  const keys by_seed = chosen_keys(s.keys, core::hash_by<std::uint64_t>(7));
  const std::vector<std::pair<std::string, option_map>> tables{
      {"hash_open", {}},
      {"hash_open", {{"placement", "jumps"}}},
      {"hash_open", {{"placement", "choices"}}},
      {"hash_bucket", {}}};
  fmt::print("structure,placement,keys,build ns a key,lookup ns a key\n");
  bool good = true;
  for (const auto& [structure, options] : tables) {
    const auto placement = options.find("placement");
    const std::string placed = placement == options.end() ? "" : placement->second;
    const auto print = [&, structure = structure](const char* kind, const times& taken) {
      fmt::print("{},{},{},{:.1f},{:.1f}\n", structure, placed, kind, taken.build, taken.lookup);
    };
    const times usual = measure(on, s, structure, options, random);
    print("random", usual);
    option_map seeded = options;
    seeded["seed"] = "7";
    for (const auto& [kind, own, values] : {std::tuple("chosen", options, &by_murmur),
                                            std::tuple("chosen by seed", seeded, &by_seed)}) {
      const times taken = measure(on, s, structure, own, *values);
      print(kind, taken);
      good = good && taken.build <= 10 * usual.build && taken.lookup <= 10 * usual.lookup;
    }
  }
  return good;
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) try {
  raydex::bench::settings s;
  CLI::App app{"Hash tables on keys that were chosen to share a bucket."};
  app.add_option("--backend", s.where, "cpu, cuda, optix or auto");
  app.add_option("--keys", s.keys, "keys of a table, and as many lookups");
  app.add_option("--repetitions", s.repetitions, "the median of these is printed");
  CLI11_PARSE(app, argc, argv);
  return raydex::bench::run(s) ? 0 : 1;
} catch (const std::exception& problem) {
  fmt::print(stderr, "raydex_hash_flood: {}\n", problem.what());
  return 1;
}
