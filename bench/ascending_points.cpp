// SPDX-License-Identifier: Apache-2.0
// raydex_ascending_points: how long `first` of ascending points takes by how many there are, as the
// library answers them, merged with the entries or not, and searched for: where validity bits are
// given, nothing is merged. Prints CSV; the exit status is 1 where a batch takes more than 5 %
// longer than a larger one. What `most_entries_per_probe` of src/cuda/keys/merge.cuh is set by.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/machine/median.hpp"
#include "raydex/raydex.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::uint32_t keys = 50'000'000;
  std::uint32_t most_probes = 1 << 26;
  int repetitions = 15;
};

template <class Key>
std::vector<Key> ascending(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Key> all(count);
  for (Key& key : all)
    key = static_cast<Key>(random());
  std::sort(all.begin(), all.end());
  return all;
}

double time_of(const session& on, const settings& s, const index& asked, const probes& batch,
               const row_id_span& out) {
  constexpr int calls = 8;  // one after the other, so that launches overlap
  return median_of(s.repetitions, [&] {
    on.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      asked.first(on, batch, out);
    on.synchronize();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    return taken.count() / calls;
  });
}

template <class Key>
bool run(const session& on, const settings& s) {
  const auto keys = on.upload(ascending<Key>(s.keys, 1));
  // A point more or less changes little: from a batch to the next, an eighth to a quarter.
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t octave = 1 << 20; octave < s.most_probes; octave *= 2)
    for (std::uint32_t eighths = 8; eighths < 16; eighths += octave < (1 << 22) ? 4 : 1)
      sizes.push_back(octave / 8 * eighths);
  sizes.push_back(s.most_probes);
  bool good = true;
  for (const char* structure : {"pivot_tree", "sorted_array", "btree", "eytzinger"}) {
    const auto asked = build(structure, on.where(), on, column(keys));
    std::vector<double> all;
    for (const std::uint32_t size : sizes) {
      const auto points_there = on.upload(ascending<Key>(size, 2));
      const auto bits = on.upload(std::vector<std::uint8_t>((size + 7) / 8, 0xff));
      buffer<std::uint32_t> out(on, size);
      const double usual = time_of(on, s, *asked, points(column(points_there)), out);
      const double searched =
          time_of(on, s, *asked, points(column(points_there, bits.data())), out);
      fmt::print("{},{},{},{},{:.2f},{:.4f},{:.4f}\n", structure, 8 * sizeof(Key), s.keys, size,
                 static_cast<double>(s.keys) / size, usual, searched);
      all.push_back(usual);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double least_of_larger =
          *std::min_element(all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
      if (all[i] <= 1.05 * least_of_larger) continue;
      good = false;
      fmt::print(stderr, "{}: {} probes of {} bits take {:.4f} ms, a larger batch {:.4f}\n",
                 structure, sizes[i], 8 * sizeof(Key), all[i], least_of_larger);
    }
  }
  return good;
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) try {
  using namespace raydex;
  bench::settings s;
  CLI::App app{"Ascending points, by how many there are."};
  app.add_option("--keys", s.keys, "entries of an index");
  app.add_option("--most-probes", s.most_probes, "of the largest batch, a power of 2");
  app.add_option("--repetitions", s.repetitions, "of which the median is printed");
  CLI11_PARSE(app, argc, argv);
  const session on(backend::cuda);
  fmt::print("structure,key_bits,keys,probes,keys_a_probe,ms,searched_ms\n");
  const bool narrow = bench::run<std::uint32_t>(on, s);
  const bool wide = bench::run<std::uint64_t>(on, s);
  return narrow && wide ? 0 : 1;
} catch (const std::exception& problem) {
  fmt::print(stderr, "raydex_ascending_points: {}\n", problem.what());
  return 1;
}
