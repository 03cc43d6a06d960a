// SPDX-License-Identifier: Apache-2.0
// raydex_string_views: ranks of strings by raydex on the CPU, and by std::lower_bound in a sorted
// array of std::string_view, asked by all cores. Answers are compared. Prints a CSV table.
#include <fmt/format.h>
#include <tbb/parallel_sort.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lab/machine/parallel.hpp"
#include "raydex/raydex.hpp"

namespace raydex::bench {
namespace {

struct strings {
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};

  void push_back(std::string_view one) {
    bytes += one;
    offsets.push_back(bytes.size());
  }
  std::uint64_t size() const { return offsets.size() - 1; }
  std::string_view operator[](std::uint64_t i) const {
    return std::string_view(bytes).substr(offsets[i], offsets[i + 1] - offsets[i]);
  }
  string_column column() const { return {bytes.data(), offsets.data(), true, size(), {}}; }
};

std::string letters(std::mt19937_64& random, std::uint64_t least, std::uint64_t most) {
  std::string word(least + random() % (most - least + 1), ' ');
  for (char& letter : word)
    letter = static_cast<char>('a' + random() % 26);
  return word;
}

std::string one_of(const std::string& shape, std::mt19937_64& random) {
  if (shape == "words") return letters(random, 12, 40);
  if (shape == "common")  // 64 bytes
    return "https://www.example.com/a/path/that/all/of/them/have/in/common/?" +
           letters(random, 8, 24);
  if (shape == "hosts")
    return fmt::format("https://host{:03}.example.org/products/{:09}", random() % 1000,
                       random() % 1'000'000'000);
  std::string bytes(16, ' ');  // a UUID
  for (char& byte : bytes)
    byte = static_cast<char>(random());
  return bytes;
}

template <class Call>
double seconds(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct measured {
  std::vector<double> build;
  std::vector<double> ranks;
  std::vector<std::uint64_t> answers;
};

void ask_raydex(const session& at, const strings& keys, const strings& probes, measured& of) {
  std::unique_ptr<key_dictionary> words;
  std::unique_ptr<index> over;
  of.build.push_back(seconds([&] {
    packed_keys numbers;
    words = std::make_unique<key_dictionary>(backend::cpu, at, keys.column(), &numbers);
    over = build("auto", backend::cpu, at, numbers.view());
  }));
  of.answers.resize(probes.size());
  of.ranks.push_back(seconds([&] {
    const packed_keys numbers = words->numbers(at, probes.column());
    over->rank(at, points(numbers.view()), of.answers);
  }));
}

void ask_views(const strings& keys, const strings& probes, measured& of) {
  std::vector<std::string_view> sorted(keys.size());
  of.build.push_back(seconds([&] {
    for (std::uint64_t i = 0; i < sorted.size(); ++i)
      sorted[i] = keys[i];
    tbb::parallel_sort(sorted.begin(), sorted.end());
  }));
  of.answers.resize(probes.size());
  of.ranks.push_back(seconds([&] {
    parallel_for(probes.size(), [&](std::uint64_t i) {
      const auto at = std::lower_bound(sorted.begin(), sorted.end(), probes[i]);
      of.answers[i] = static_cast<std::uint64_t>(at - sorted.begin());
    });
  }));
}

int run(const std::vector<std::string>& shapes, std::uint64_t size, int repetitions) {
  const session at(backend::cpu);
  fmt::print("shape,peer,keys,probes,build_ms,ranks_ms\n");
  for (const std::string& shape : shapes) {
    std::mt19937_64 random(1);
    strings keys;
    for (std::uint64_t i = 0; i < size; ++i)
      keys.push_back(one_of(shape, random));
    strings probes;  // every other one is a key
    for (std::uint64_t i = 0; i < size; ++i)
      i % 2 == 0 ? probes.push_back(keys[random() % size])
                 : probes.push_back(one_of(shape, random));
    measured own;
    measured views;
    for (int i = 0; i < repetitions; ++i) {
      ask_raydex(at, keys, probes, own);
      ask_views(keys, probes, views);
    }
    if (own.answers != views.answers) {
      fmt::print(stderr, "{}: the answers differ\n", shape);
      return 1;
    }
    for (const auto& [peer, of] :
         {std::pair("raydex", &own), std::pair("std::string_view", &views)})
      fmt::print("{},{},{},{},{:.1f},{:.1f}\n", shape, peer, size, size, 1e3 * median(of->build),
                 1e3 * median(of->ranks));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace raydex::bench

int main(int argc, char** argv) try {
  CLI::App app("Ranks of strings on the CPU, by raydex and by std::lower_bound");
  std::vector<std::string> shapes{"words", "common", "hosts", "uuids"};
  std::uint64_t size = std::uint64_t{1} << 22;
  int repetitions = 3;
  app.add_option("--shapes", shapes, "words, common, hosts, uuids")->delimiter(',');
  app.add_option("--size", size, "keys, and as many probes");
  app.add_option("--repetitions", repetitions, "whose median counts");
  CLI11_PARSE(app, argc, argv);
  return raydex::bench::run(shapes, size, repetitions);
} catch (const std::exception& e) {
  fmt::print(stderr, "raydex_string_views: {}\n", e.what());
  return 1;
}
