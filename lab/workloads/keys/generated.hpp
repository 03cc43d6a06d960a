// SPDX-License-Identifier: Apache-2.0
/// @file
/// A workload's data, generated where it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/machine/machine.hpp"
#include "lab/workloads/keys/key_span.hpp"
#include "lab/workloads/keys/workload.hpp"
#include "raydex/column.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {

/// Keys in the memory of a backend, and the key set that knows the answers.
class generated_keys {
 public:
  /// Generates; waits.
  generated_keys(const workload& spec, machine& target);

  const key_set& set() const noexcept { return set_; }
  /// The column to build over.
  const key_span& column() const noexcept { return column_; }
  /// Has the set and the column be of the first so many keys of all that come with the waves.
  void hold(std::uint64_t keys);

 private:
  buffer<std::uint64_t> positions_;
  buffer<key_part> parts_;
  buffer<std::byte> memory_;
  key_set set_;
  key_span column_;
};

/// Keys and probes in the memory of a backend, and the key set that knows the answers.
class generated {
 public:
  /// Generates; waits.
  generated(const workload& spec, machine& target);

  const workload& description() const noexcept { return workload_; }
  const key_set& set() const noexcept { return keys_.set(); }
  /// Goes on to the keys that are held after a wave, and to probes among these; waits.
  void advance(machine& target, std::uint64_t wave);
  /// The column to build over.
  const key_span& keys() const noexcept { return keys_.column(); }
  /// The keys of rows [begin, begin + count), whether held or not.
  column rows(std::uint64_t begin, std::uint64_t count) const;
  /// All points, or all lower keys.
  const key_span& lower() const noexcept { return lower_; }
  /// All points, or all upper keys.
  const key_span& upper() const noexcept { return upper_; }
  /// How many rows all probes match.
  std::uint64_t matches() const noexcept { return matches_; }
  /// Writes the points, or lower keys, in the order in which they are drawn.
  void draw_lower(machine& target, const key_span& out) const { target.fill_lower(draw_, out); }
  /// Probes [begin, begin + count).
  probes batch(std::uint64_t begin, std::uint64_t count) const;

 private:
  void draw_probes(machine& target);

  workload workload_;
  generated_keys keys_;
  buffer<std::uint64_t> cumulative_;
  buffer<std::uint64_t> first_rank_;
  buffer<std::byte> lower_memory_;
  buffer<std::byte> upper_memory_;
  probe_set draw_;
  key_span lower_;
  key_span upper_;
  std::uint64_t matches_ = 0;
};

}  // namespace raydex::bench
