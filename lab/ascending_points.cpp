// SPDX-License-Identifier: Apache-2.0
// raydex_ascending_points: how long `first` of ascending points takes by how many there are, as the
// library answers them, merged with the entries or not, and searched for: where validity bits are
// given, nothing is merged. Prints CSV; the exit status is 1 where a batch takes more than 5 %
// longer than a larger one. What `ascending_searches` of src/machines/cuda/lookups/merge.cuh is
// set by.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <execution>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lab/machine/median.hpp"
#include "raydex/raydex.hpp"

namespace raydex::bench {
namespace {

struct settings {
  std::uint32_t keys = 50'000'000;
  std::uint32_t most_probes = 1 << 26;
  int repetitions = 15;
  std::vector<int> key_bits = {32, 64};
  std::vector<std::string> structures = {"pivot_tree", "sorted_array", "btree", "eytzinger"};
};

// Builds what is written as `pivot_tree`, or `pivot_tree:layout=keys`.
std::unique_ptr<index> built(const session& on, const std::string& text, const column& keys) {
  const std::size_t name = text.find(':');
  option_map options;
  if (name != std::string::npos) {
    const std::size_t equals = text.find('=', name);
    options[text.substr(name + 1, equals - name - 1)] = text.substr(equals + 1);
  }
  return build(text.substr(0, name), on.where(), on, keys, std::nullopt, options);
}

// Random keys; each slice of the type's values is drawn from and sorted by itself, on all cores.
template <class Key>
std::vector<Key> ascending(std::uint64_t count, std::uint64_t seed) {
  constexpr std::uint64_t slice = 4096;
  std::vector<Key> all(count);
  std::vector<std::uint64_t> begins((count + slice - 1) / slice);
  for (std::size_t i = 0; i < begins.size(); ++i)
    begins[i] = i * slice;
  std::for_each(std::execution::par, begins.begin(), begins.end(), [&](std::uint64_t begin) {
    const std::uint64_t end = std::min(begin + slice, count);
    const double end_of_keys = std::ldexp(1.0, 8 * sizeof(Key));
    const double each = end_of_keys / static_cast<double>(count);
    std::mt19937_64 random(seed + begin);
    std::uniform_real_distribution<double> one(each * static_cast<double>(begin),
                                               each * static_cast<double>(end));
    for (std::uint64_t i = begin; i < end; ++i)
      all[i] = static_cast<Key>(std::min(one(random), std::nextafter(end_of_keys, 0.0)));
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin),
              all.begin() + static_cast<std::ptrdiff_t>(end));
  });
  return all;
}

double time_of(const session& on, const settings& s, const index& one, const probes& batch,
               const row_id_span& out) {
  constexpr int calls = 8;  // one after the other, so that launches overlap
  return median_of(s.repetitions, [&] {
    on.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      one.first(on, batch, out);
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
  std::vector<std::unique_ptr<index>> indexes;
  for (const std::string& structure : s.structures)
    indexes.push_back(built(on, structure, column(keys)));
  std::vector<std::vector<double>> all(indexes.size());  // by structure and batch
  for (const std::uint32_t size : sizes) {
    const auto points_there = on.upload(ascending<Key>(size, 2));
    const auto bits = on.upload(std::vector<std::uint8_t>((size + 7) / 8, 0xff));
    buffer<std::uint32_t> out(on, size);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const double usual = time_of(on, s, *indexes[i], points(column(points_there)), out);
      const double searched =
          time_of(on, s, *indexes[i], points(column(points_there, bits.data())), out);
      fmt::print("{},{},{},{},{:.2f},{:.4f},{:.4f}\n", s.structures[i], 8 * sizeof(Key), s.keys,
                 size, static_cast<double>(s.keys) / size, usual, searched);
      std::fflush(stdout);
      all[i].push_back(usual);
    }
  }
  bool good = true;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      const double least_of_larger =
          *std::min_element(all[i].begin() + static_cast<std::ptrdiff_t>(j), all[i].end());
      if (all[i][j] <= 1.05 * least_of_larger) continue;
      good = false;
      fmt::print(stderr, "{}: {} probes of {} bits take {:.4f} ms, a larger batch {:.4f}\n",
                 s.structures[i], sizes[j], 8 * sizeof(Key), all[i][j], least_of_larger);
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
  app.add_option("--repetitions", s.repetitions, "the median of these is printed");
  app.add_option("--key-bits", s.key_bits, "32, 64")
      ->delimiter(',')
      ->check(CLI::IsMember({32, 64}));
  app.add_option("--structures", s.structures,
                 "what answers, with an option each: pivot_tree:layout=keys")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  const session on(backend::cuda);
  fmt::print("structure,key_bits,keys,probes,keys_a_probe,ms,searched_ms\n");
  bool good = true;
  for (const int bits : s.key_bits)
    good =
        (bits == 32 ? bench::run<std::uint32_t>(on, s) : bench::run<std::uint64_t>(on, s)) && good;
  return good ? 0 : 1;
} catch (const std::exception& problem) {
  fmt::print(stderr, "raydex_ascending_points: {}\n", problem.what());
  return 1;
}
