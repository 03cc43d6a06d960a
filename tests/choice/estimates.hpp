// SPDX-License-Identifier: Apache-2.0
// What is tried where bytes are estimated, and how close estimates are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {

// A structure with options, and how close its figures are where all is known.
struct tried {
  std::string structure;
  option_map options = {};
  bool exact = true;      // else a bound: the keys decide, or Embree
  bool in_order = false;  // takes keys in order alone
};

inline std::string name_of(const tried& one) {
  std::string text = one.structure;
  for (const auto& [name, value] : one.options)
    text.append(" ").append(name).append("=").append(value);
  return text;
}

// 1 %, or what counts take, and on a GPU what roots of large trees differ by.
inline std::size_t tolerance(std::size_t bytes) {
  const bool on_gpu = test::tested_backend() != backend::cpu && !test::tested_by_emulation();
  return std::max<std::size_t>(bytes / 100, on_gpu ? 256 << 10 : 32 << 10);
}

// Compares what was measured with an estimate, or a bound; `more` may come on top.
inline void expect_near(std::size_t measured, std::uint64_t estimated, bool exact,
                        std::size_t more = 0) {
  EXPECT_LE(measured, estimated + tolerance(estimated) + more);
  if (exact) {
    EXPECT_GE(measured + tolerance(estimated), estimated);
  }
}

enum class spread { apart, dense, in_order, repeated, one_twice, equal };

template <class Key>
std::vector<Key> keys_of(spread how, std::size_t n) {
  auto random = test::generator(n);
  std::vector<Key> keys(n);
  std::iota(keys.begin(), keys.end(), Key{7});
  if (how == spread::apart) {
    for (Key& key : keys)
      key = static_cast<Key>(random());
    if (n > 1) {
      keys[0] = 0;
      keys[n - 1] = std::numeric_limits<Key>::max();
    }
  }
  if (how == spread::repeated)
    for (Key& key : keys)
      key = static_cast<Key>(test::below(random, n / 10 + 1));
  if (how == spread::equal) std::fill(keys.begin(), keys.end(), Key{7});
  if (how == spread::dense || how == spread::one_twice)
    std::shuffle(keys.begin(), keys.end(), random);
  if (how == spread::one_twice && n > 2) keys[n / 2] = keys[n / 3];
  return keys;
}

}  // namespace raydex
