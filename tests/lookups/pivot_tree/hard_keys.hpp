// SPDX-License-Identifier: Apache-2.0
// Ascending key sets made to defeat guesses about how keys are spread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::test {

template <class Key>
using named_keys = std::vector<std::pair<std::string, std::vector<Key>>>;

template <class Key>
named_keys<Key> hard_keys(std::size_t size, std::mt19937_64& random) {
  constexpr Key most = std::numeric_limits<Key>::max();
  constexpr unsigned bits = 8 * sizeof(Key);
  named_keys<Key> sets;
  const auto add = [&](const std::string& name, auto&& key_of) {
    std::vector<Key> keys(size);
    for (std::size_t i = 0; i < size; ++i)
      keys[i] = static_cast<Key>(key_of(i));
    std::sort(keys.begin(), keys.end());
    sets.emplace_back(name, std::move(keys));
  };
  const auto draw = [&] { return static_cast<Key>(random() >> (64 - bits)); };
  const Key offset = draw() / 2;
  add("uniform", [&](std::size_t) { return draw(); });
  add("dense", [&](std::size_t i) { return offset + i; });
  add("few distinct", [&](std::size_t) { return offset + below(random, 1 + size / 40); });
  add("all 0", [](std::size_t) { return 0; });
  add("all equal", [&](std::size_t) { return offset; });
  add("all the largest", [&](std::size_t) { return most; });
  add("the two ends", [&](std::size_t i) { return i % 2 == 0 ? 0 : most; });
  add("the first 0, then the largest", [&](std::size_t i) { return i == 0 ? 0 : most; });
  add("dense at both ends", [&](std::size_t i) { return i % 2 == 0 ? i : most - i; });
  add("dense, one far above", [&](std::size_t i) { return i == 0 ? most : i; });
  add("dense, one far below", [&](std::size_t i) { return i == 0 ? 0 : most - i; });
  // Clumps about as large as leaves and nodes, with gaps as wide as the keys allow.
  for (const std::size_t clump : {2UL, 7UL, 8UL, 9UL, 100UL, 120UL, 121UL, 400UL}) {
    const auto gap = static_cast<Key>(most / (size / clump + 2));
    add("clumps of " + std::to_string(clump),
        [&](std::size_t i) { return i / clump * gap + i % clump; });
  }
  std::vector<Key> starts(1 + size / 200);
  for (Key& start : starts)
    start = draw();
  add("clumps anywhere",
      [&](std::size_t) { return starts[below(random, starts.size())] + below(random, 300); });
  add("gaps that double", [&](std::size_t i) { return (Key{1} << (i % bits)) + i / bits; });
  add("gaps that halve", [&](std::size_t i) { return most - (Key{1} << (i % bits)) + i / bits; });
  add("any magnitude", [&](std::size_t) { return draw() >> below(random, bits); });
  return sets;
}

// Probes for ascending keys: the keys, their neighbours, the ends of the type, and others.
template <class Key>
std::vector<Key> hard_probes(const std::vector<Key>& keys, std::size_t size,
                             std::mt19937_64& random) {
  constexpr Key most = std::numeric_limits<Key>::max();
  std::vector<Key> probes{0, 1, static_cast<Key>(most - 1), most};
  while (probes.size() < size) {
    const Key key = keys[below(random, keys.size())];
    probes.push_back(key);
    probes.push_back(static_cast<Key>(key - 1));
    probes.push_back(static_cast<Key>(key + 1));
    probes.push_back(static_cast<Key>(random()));
  }
  return probes;
}

}  // namespace raydex::test
