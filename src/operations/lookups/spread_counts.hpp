// SPDX-License-Identifier: Apache-2.0
// Counts that many threads add to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "raydex/core/keys/edits.hpp"
#include "raydex/memory.hpp"

namespace raydex {

// Spread counts in the backend's memory.
template <std::size_t N, class Executor>
class spread_counts {
  static constexpr std::size_t size = core::spread_count::size;

 public:
  explicit spread_counts(const context& on) : numbers_(on, N * size) {
    Executor::clear(on, numbers_.data(), numbers_.size());
  }
  core::spread_count operator[](std::size_t i) { return {numbers_.data() + i * size}; }

  // What each adds up to; synchronises, and allocates nothing.
  std::array<std::uint64_t, N> sums(const context& on) const {
    std::array<std::uint64_t, N * size> host;
    Executor::copy_out(on, host.data(), numbers_.data(), numbers_.bytes());
    std::array<std::uint64_t, N> sums;
    for (std::size_t i = 0; i < N; ++i)
      sums[i] = std::accumulate(&host[i * size], &host[i * size] + size, std::uint64_t{0});
    return sums;
  }

 private:
  buffer<std::uint64_t> numbers_;
};

}  // namespace raydex
