// SPDX-License-Identifier: Apache-2.0
/// @file
/// A keyed bijection on [0, m) for any m, with its inverse: shuffles, and draws without repetition.
#pragma once

#include <bit>
#include <cstdint>

#include "lab/workloads/random.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// A Feistel network on the fewest bits that hold m - 1; values of m or more are sent through again
/// until one falls below m, less than twice on average.
class bijection {
 public:
  /// The identity on {0}.
  bijection() = default;

  /// On [0, last]; naming the last element rather than the size admits all 64-bit numbers.
  bijection(std::uint64_t last, std::uint64_t key) : last_(last) {
    const int width = static_cast<int>(std::bit_width(last));
    low_bits_ = (width + 1) / 2;
    low_mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << low_bits_) - 1);
    high_mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << (width - low_bits_)) - 1);
    for (int round = 0; round < rounds; ++round) {
      keys_[round] = static_cast<std::uint32_t>(mix(key + static_cast<std::uint64_t>(round) + 1));
    }
  }

  /// Where x <= last goes.
  RAYDEX_HD std::uint64_t operator()(std::uint64_t x) const {
    do {
      auto low = static_cast<std::uint32_t>(x) & low_mask_;
      auto high = static_cast<std::uint32_t>(x >> low_bits_);
      for (int round = 0; round < rounds; round += 2) {
        high ^= mix(low ^ keys_[round]) & high_mask_;
        low ^= mix(high ^ keys_[round + 1]) & low_mask_;
      }
      x = (std::uint64_t{high} << low_bits_) | low;
    } while (x > last_);
    return x;
  }

  /// Where x <= last comes from.
  RAYDEX_HD std::uint64_t inverse(std::uint64_t x) const {
    do {
      auto low = static_cast<std::uint32_t>(x) & low_mask_;
      auto high = static_cast<std::uint32_t>(x >> low_bits_);
      for (int round = rounds - 2; round >= 0; round -= 2) {
        low ^= mix(high ^ keys_[round + 1]) & low_mask_;
        high ^= mix(low ^ keys_[round]) & high_mask_;
      }
      x = (std::uint64_t{high} << low_bits_) | low;
    } while (x > last_);
    return x;
  }

 private:
  static constexpr int rounds = 6;

  std::uint64_t last_ = 0;
  int low_bits_ = 0;
  std::uint32_t low_mask_ = 0;
  std::uint32_t high_mask_ = 0;
  std::uint32_t keys_[rounds] = {};
};

}  // namespace raydex::bench
