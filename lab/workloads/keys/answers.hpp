// SPDX-License-Identifier: Apache-2.0
/// @file
/// Judges what an index wrote for one probe against what the key set expects.
#pragma once

#include <array>
#include <cstdint>

#include "lab/workloads/keys/key_set.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// What is asked of an index; `pairs`: the rows of a join of its keys with the probes.
enum class result : std::uint8_t { first, count, sum, rows, rank, pairs };
constexpr auto names_of(result) {
  return std::array{"first", "count", "sum", "rows", "rank", "pairs"};
}

/// Whether the answer to a probe is a list of rows.
RAYDEX_HD constexpr bool has_lists(result kind) {
  return kind == result::rows || kind == result::pairs;
}

/// A batch with its answers, in the backend's memory.
struct answered_batch {
  result kind = result::first;
  int key_bits = 32;
  int row_id_bits = 32;
  std::uint64_t size = 0;                  ///< number of probes
  const void* lower = nullptr;             ///< points, or lower keys of ranges
  const void* upper = nullptr;             ///< upper keys; `lower` again for points
  const void* values = nullptr;            ///< one result a probe, or the row ids of lists
  const void* probe_rows = nullptr;        ///< `pairs` only: a probe beside each row id, likewise
  const std::uint64_t* offsets = nullptr;  ///< lists only: size + 1 offsets into `values`
  std::uint64_t total = 0;                 ///< lists only: how many row ids there are
};

/// Reads element i of an array of 32- or 64-bit numbers.
RAYDEX_HD inline std::uint64_t number_at(const void* numbers, int bits, std::uint64_t i) {
  return bits == 32 ? static_cast<const std::uint32_t*>(numbers)[i]
                    : static_cast<const std::uint64_t*>(numbers)[i];
}

/// The number of rows that probe i must be answered with.
RAYDEX_HD inline std::uint64_t count_for(const key_set& keys, const answered_batch& batch,
                                         std::uint64_t i) {
  return keys.expected_count(number_at(batch.lower, batch.key_bits, i),
                             number_at(batch.upper, batch.key_bits, i));
}

/// What probe i must be answered with; or what one of `shares` finds, see `expected`.
RAYDEX_HD inline answer answer_for(const key_set& keys, const answered_batch& batch,
                                   std::uint64_t i, std::uint64_t share = 0,
                                   std::uint64_t shares = 1) {
  return keys.expected(number_at(batch.lower, batch.key_bits, i),
                       number_at(batch.upper, batch.key_bits, i), share, shares);
}

/// Lists only: whether what was written for probe i is so many row ids, all of them there.
RAYDEX_HD inline bool has_rows(const answered_batch& batch, std::uint64_t i, std::uint64_t count) {
  const std::uint64_t begin = batch.offsets[i];
  const std::uint64_t end = batch.offsets[i + 1];
  return end - begin == count && end <= batch.total && (i != 0 || begin == 0);
}

/// Lists only: the row ids that were written for probe i, or share `share` of `shares`; those
/// beside another probe are none. Precondition: they are there.
RAYDEX_HD inline answer written_for(const answered_batch& batch, std::uint64_t i,
                                    std::uint64_t share = 0, std::uint64_t shares = 1) {
  answer found;
  for (std::uint64_t at = batch.offsets[i] + share; at < batch.offsets[i + 1]; at += shares) {
    if (batch.kind == result::pairs && number_at(batch.probe_rows, batch.row_id_bits, at) != i) {
      continue;
    }
    found.add(number_at(batch.values, batch.row_id_bits, at));
  }
  return found;
}

/// Whether probe i has the value that is wanted. Not for lists.
RAYDEX_HD inline bool has_value(const answered_batch& batch, std::uint64_t i,
                                const answer& wanted) {
  if (batch.kind == result::count) return number_at(batch.values, 64, i) == wanted.count;
  if (batch.kind == result::sum) return number_at(batch.values, 64, i) == wanted.sum;
  const std::uint64_t not_found = none >> (64 - batch.row_id_bits);
  const std::uint64_t found = number_at(batch.values, batch.row_id_bits, i);
  return found == (wanted.count == 0 ? not_found : wanted.first);
}

/// Whether probe i was answered as expected.
RAYDEX_HD inline bool is_right(const key_set& keys, const answered_batch& batch, std::uint64_t i) {
  if (batch.kind == result::count) {
    answer wanted;
    wanted.count = count_for(keys, batch, i);
    return has_value(batch, i, wanted);
  }
  if (batch.kind == result::rank) {
    const std::uint64_t point = number_at(batch.lower, batch.key_bits, i);
    return number_at(batch.values, 64, i) == keys.rank(point);
  }
  const answer wanted = answer_for(keys, batch, i);
  if (!has_lists(batch.kind)) return has_value(batch, i, wanted);
  return has_rows(batch, i, wanted.count) && written_for(batch, i) == wanted;
}

}  // namespace raydex::bench
