// SPDX-License-Identifier: Apache-2.0
// Random numbers of a test run. The seed is new in every run, printed when a test fails, and taken
// from RAYDEX_TEST_SEED if that is set.
#pragma once

#include <cstdint>
#include <random>

namespace raydex::test {

// The seed of this run.
std::uint64_t seed();

// Whether tests should be small because a sanitizer or an emulation runs them
// (RAYDEX_TEST_SCALE=small).
bool small_scale();

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
