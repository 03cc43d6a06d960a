// SPDX-License-Identifier: Apache-2.0
// Random numbers of a test run, and what it draws of suites with many cases. The seed is new in
// every run, printed when a test fails, and taken from RAYDEX_TEST_SEED if that is set.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace raydex::test {

// The seed of this run.
std::uint64_t seed();

// Whether tests should be small because a sanitizer or an emulation runs them
// (RAYDEX_TEST_SCALE=small).
bool small_scale();

// Of suites with many cases a run draws one of so many: 4 if RAYDEX_TEST_SHARE=1/4, all unless set.
// Which ones follows from the seed, so that over many runs each is drawn.
std::uint64_t share_divisor();

// Whether this run draws the case of this name.
bool is_drawn(std::string_view name);

// A generator for one test: the same for the same seed and salt.
inline std::mt19937_64 generator(std::uint64_t salt = 0) {
  std::seed_seq sequence{seed(), salt};
  return std::mt19937_64(sequence);
}

// A number from 0 to bound - 1.
inline std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(random);
}

}  // namespace raydex::test
