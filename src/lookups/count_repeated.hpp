// SPDX-License-Identifier: Apache-2.0
// Whether keys repeat.
#pragma once

#include <cstdint>

#include "raydex/core/keys/edits.hpp"
#include "raydex/memory.hpp"
#include "src/lookups/spread_counts.hpp"

namespace raydex {

// How many ascending keys are equal to the one before; synchronises.
template <class Executor, class Key>
std::uint64_t count_repeated(const context& on, const Key* keys, std::uint64_t size) {
  if (size == 0) return 0;
  spread_counts<1, Executor> repeats(on);
  Executor::for_each(on, core::count_repeated<Key>{keys, repeats[0]}, size);
  return repeats.sums(on)[0];
}

}  // namespace raydex
