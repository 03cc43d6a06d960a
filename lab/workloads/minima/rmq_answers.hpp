// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where minima are, by other means than those of any structure, and a judge of answers by it.
#pragma once

#include <array>
#include <cstdint>

#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/minima/rmq_values.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::bench {

/// What is asked of a structure for minima.
enum class rmq_result : std::uint8_t { min, argmin };
constexpr auto names_of(rmq_result) {
  return std::array{"min", "argmin"};
}

/// The encoded value at position i of an array of numbers.
RAYDEX_HD inline std::uint64_t code_at(const void* values, key_type type, std::uint64_t i) {
  std::uint64_t code = 0;
  with_value(type,
             [&](auto zero) { code = encode(static_cast<const decltype(zero)*>(values)[i]); });
  return code;
}

/// A table over the minima of blocks: row k says in which block the minimum of 2^k blocks is. What
/// a range has of the blocks at its ends is scanned. Of equal values the leftmost counts.
///
/// Takes about (4 log2(n / 64) + 8) / 64 bytes a value. Trivially copyable; kernels take it by
/// value.
struct rmq_reference {
  static constexpr std::uint64_t block_size = 64;

  const void* values = nullptr;              ///< the array
  key_type type = key_type::float32;         ///< of the values
  std::uint64_t n = 0;                       ///< values
  const std::uint64_t* minima = nullptr;     ///< where each block has its minimum
  const std::uint32_t* row_above = nullptr;  ///< rows 1, 2, ..., a number a block each

  /// How many blocks there are, the last one perhaps not full.
  RAYDEX_HD std::uint64_t blocks() const { return (n + block_size - 1) / block_size; }
  /// How many rows there are above the minima of single blocks.
  RAYDEX_HD unsigned rows() const { return blocks() == 0 ? 0 : core::floor_log2(blocks()); }

  /// Where the minimum of the values in [lower, upper] is. Precondition: lower <= upper < n.
  RAYDEX_HD std::uint64_t position(std::uint64_t lower, std::uint64_t upper) const {
    const std::uint64_t first = lower / block_size;
    const std::uint64_t last = upper / block_size;
    if (first == last) return scan(lower, upper);
    std::uint64_t found = scan(lower, first * block_size + block_size - 1);
    if (last - first > 1) {
      const unsigned row = core::floor_log2(last - first - 1);
      found = better(found, minima[block_of(row, first + 1)]);
      found = better(found, minima[block_of(row, last - (std::uint64_t{1} << row))]);
    }
    return better(found, scan(last * block_size, upper));
  }

  /// Where block b has its minimum, by a scan.
  RAYDEX_HD std::uint64_t block_minimum(std::uint64_t b) const {
    const std::uint64_t end = (b + 1) * block_size;
    return scan(b * block_size, (end < n ? end : n) - 1);
  }

  /// What row k says of block b, by the row below. Precondition: there are 2^k blocks from b on.
  RAYDEX_HD std::uint32_t joined(unsigned row, std::uint64_t b) const {
    const std::uint32_t left = block_of(row - 1, b);
    const std::uint32_t right = block_of(row - 1, b + (std::uint64_t{1} << (row - 1)));
    return better(minima[left], minima[right]) == minima[left] ? left : right;
  }

 private:
  RAYDEX_HD std::uint32_t block_of(unsigned row, std::uint64_t b) const {
    return row == 0 ? static_cast<std::uint32_t>(b) : row_above[(row - 1) * blocks() + b];
  }
  // Of two positions in order.
  RAYDEX_HD std::uint64_t better(std::uint64_t a, std::uint64_t b) const {
    return code_at(values, type, b) < code_at(values, type, a) ? b : a;
  }
  RAYDEX_HD std::uint64_t scan(std::uint64_t lower, std::uint64_t upper) const {
    std::uint64_t found = lower;
    std::uint64_t least = code_at(values, type, lower);
    for (std::uint64_t i = lower + 1; i <= upper; ++i) {
      const std::uint64_t code = code_at(values, type, i);
      if (code >= least) continue;
      found = i;
      least = code;
    }
    return found;
  }
};

/// Writes where a block has its minimum.
struct write_block_minimum {
  rmq_reference reference;
  std::uint64_t* out;
  RAYDEX_HD void operator()(std::uint64_t b) const { out[b] = reference.block_minimum(b); }
};

/// Writes what a row says of a block, where it says anything.
struct write_joined {
  rmq_reference reference;
  unsigned row;
  std::uint32_t* out;
  RAYDEX_HD void operator()(std::uint64_t b) const {
    if (b + (std::uint64_t{1} << row) <= reference.blocks()) out[b] = reference.joined(row, b);
  }
};

/// Ranges with their answers, in the backend's memory.
struct answered_ranges {
  rmq_result kind = rmq_result::min;
  int position_bits = 32;         ///< of the ends
  std::uint64_t size = 0;         ///< number of ranges
  const void* ends = nullptr;     ///< two a range
  const void* answers = nullptr;  ///< values of the array's type, or 64-bit positions
};

/// Whether range i was answered as expected.
RAYDEX_HD inline bool is_right(const rmq_reference& reference, const answered_ranges& batch,
                               std::uint64_t i) {
  const std::uint64_t wanted =
      reference.position(number_at(batch.ends, batch.position_bits, 2 * i),
                         number_at(batch.ends, batch.position_bits, 2 * i + 1));
  if (batch.kind == rmq_result::argmin) return number_at(batch.answers, 64, i) == wanted;
  return code_at(batch.answers, reference.type, i) ==
         code_at(reference.values, reference.type, wanted);
}

}  // namespace raydex::bench
