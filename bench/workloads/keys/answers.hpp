// SPDX-License-Identifier: Apache-2.0
/// @file
/// Judges what an index wrote for one probe against what the key set expects.
#pragma once

#include <array>
#include <cstdint>

#include "bench/workloads/keys/key_set.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// What is asked of an index.
enum class result : std::uint8_t { first, count, sum, rows };
constexpr auto names_of(result) {
  return std::array{"first", "count", "sum", "rows"};
}

/// A batch with its answers, in the backend's memory.
struct answered_batch {
  result asked = result::first;
  int key_bits = 32;
  int row_id_bits = 32;
  std::uint64_t size = 0;                  ///< number of probes
  const void* lower = nullptr;             ///< points, or lower keys of ranges
  const void* upper = nullptr;             ///< upper keys; `lower` again for points
  const void* values = nullptr;            ///< one result a probe, or the row ids of `rows`
  const std::uint64_t* offsets = nullptr;  ///< `rows` only: size + 1 offsets into `values`
  std::uint64_t total = 0;                 ///< `rows` only: how many row ids there are
};

/// Reads element i of an array of 32- or 64-bit numbers.
RAYDEX_HD inline std::uint64_t number_at(const void* numbers, int bits, std::uint64_t i) {
  return bits == 32 ? static_cast<const std::uint32_t*>(numbers)[i]
                    : static_cast<const std::uint64_t*>(numbers)[i];
}

/// Whether probe i was answered as expected.
RAYDEX_HD inline bool is_right(const key_set& keys, const answered_batch& batch, std::uint64_t i) {
  const std::uint64_t lower = number_at(batch.lower, batch.key_bits, i);
  const std::uint64_t upper = number_at(batch.upper, batch.key_bits, i);
  if (batch.asked == result::count) {
    return number_at(batch.values, 64, i) == keys.expected_count(lower, upper);
  }
  const answer wanted = keys.expected(lower, upper);
  if (batch.asked == result::sum) return number_at(batch.values, 64, i) == wanted.sum;
  if (batch.asked == result::first) {
    const std::uint64_t not_found = none >> (64 - batch.row_id_bits);
    const std::uint64_t found = number_at(batch.values, batch.row_id_bits, i);
    return found == (wanted.count == 0 ? not_found : wanted.first);
  }
  const std::uint64_t begin = batch.offsets[i];
  const std::uint64_t end = batch.offsets[i + 1];
  if (end - begin != wanted.count || end > batch.total || (i == 0 && begin != 0)) return false;
  answer found;
  for (std::uint64_t at = begin; at != end; ++at) {
    const std::uint64_t id = number_at(batch.values, batch.row_id_bits, at);
    found.first = id < found.first ? id : found.first;
    found.sum += id;
    ++found.count;
  }
  return found == wanted;
}

}  // namespace raydex::bench
