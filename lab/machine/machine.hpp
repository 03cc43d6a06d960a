// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the benchmarks need of a backend besides its indexes: bulk generation where the data is
/// used, checking there, a clock, and the raw operations that floors are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "lab/workloads/keys/answers.hpp"
#include "lab/workloads/keys/key_span.hpp"
#include "lab/workloads/keys/probe_set.hpp"
#include "lab/workloads/minima/rmq_answers.hpp"
#include "lab/workloads/minima/rmq_ranges.hpp"
#include "lab/workloads/minima/rmq_values.hpp"
#include "raydex/index.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {

/// One backend's side of the benchmarks. All memory is the backend's; work is queued on the
/// session's stream unless a comment says that it is waited for.
class machine {
 public:
  explicit machine(const session& on) : on_(&on) {}
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  virtual ~machine() = default;

  /// The session that memory and stream come from.
  const session& on() const noexcept { return *on_; }

  /// @name Generation
  /// @{
  /// Writes the key of every row.
  virtual void fill_keys(const key_set& keys, const key_span& out) = 0;
  /// Writes the row of every slot in a column sorted by key; waits.
  virtual void fill_positions(const key_set& keys, int key_bits, std::uint64_t* out) = 0;
  /// Writes the points, or lower keys, of all probes.
  virtual void fill_lower(const probe_set& probes, const key_span& out) = 0;
  /// Writes the upper keys of ranges that begin at these keys: lower + span.
  virtual void fill_upper(const probe_set& probes, const key_span& lower, void* out) = 0;
  /// Writes 32-bit random numbers.
  virtual void fill_random(std::uint64_t seed, std::uint32_t* out, std::uint64_t size) = 0;
  /// Sorts ascending; waits.
  virtual void sort(const key_span& keys) = 0;
  /// Overwrites memory, so that answers left there by somebody else are not taken for new ones.
  virtual void poison(void* memory, std::size_t bytes) = 0;
  /// @}

  /// How many rows lie in all ranges together, or equal a point; waits.
  virtual std::uint64_t count_matches(const key_set& keys, const key_span& lower,
                                      const key_span& upper) = 0;
  /// How many probes of a batch were not answered as expected; waits.
  virtual std::uint64_t count_wrong(const key_set& keys, const answered_batch& batch) = 0;

  /// @name Minima
  /// @{
  /// Writes the value of every position. Precondition: the array is not somebody's.
  virtual void fill_values(const value_set& values, key_type type, void* out) = 0;
  /// Writes the ends of ranges, two each.
  virtual void fill_ranges(const range_set& ranges, const key_span& ends) = 0;
  /// Writes what the reference reads: where blocks have their minima, and the rows above.
  virtual void fill_reference(const rmq_reference& reference, std::uint64_t* minima,
                              std::uint32_t* rows) = 0;
  /// How many ranges of a batch were not answered as expected; waits.
  virtual std::uint64_t count_wrong(const rmq_reference& reference,
                                    const answered_ranges& batch) = 0;
  /// @}

  /// How long queued work takes once it starts; waits.
  virtual double milliseconds(const std::function<void()>& work) = 0;

  /// @name What floors are made of
  /// @{
  /// Copies bytes.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Reads a random slot of 8 bytes for each probe and writes 4 bytes: out[i] comes from
  /// table[probes[i] * slots / 2^32]. `size` is a multiple of 4.
  virtual void gather(const std::uint64_t* table, std::uint64_t slots, const std::uint32_t* probes,
                      std::uint32_t* out, std::uint64_t size) = 0;
  /// The median time to sort a copy of keys together with row ids; waits.
  virtual double sort_pairs_ms(const key_span& keys, row_id_type row_ids, int repetitions) = 0;
  /// The median time of the standard library's search for every probe among the sorted keys, in
  /// parallel; none where the backend is not the CPU.
  virtual std::optional<double> lower_bound_ms(const key_span& keys, const key_span& probes,
                                               int repetitions) = 0;
  /// @}

 private:
  const session* on_;
};

/// The machine of a session's backend.
std::unique_ptr<machine> make_machine(const session& on);

}  // namespace raydex::bench
