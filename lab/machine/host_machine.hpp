// SPDX-License-Identifier: Apache-2.0
/// @file
/// The CPU's side of the benchmarks.
#pragma once

#include "lab/machine/machine.hpp"

namespace raydex::bench {

/// Works with oneTBB and the standard library's parallel algorithms, and waits in every call.
class host_machine final : public machine {
 public:
  using machine::machine;
  void fill_keys(const key_set& keys, const key_span& out) override;
  void fill_positions(const key_set& keys, int key_bits, std::uint64_t* out) override;
  void fill_lower(const probe_set& probes, const key_span& out) override;
  void fill_upper(const probe_set& probes, const key_span& lower, void* out) override;
  void fill_random(std::uint64_t seed, std::uint32_t* out, std::uint64_t size) override;
  void sort(const key_span& keys) override;
  void poison(void* memory, std::size_t bytes) override;
  std::uint64_t count_matches(const key_set& keys, const key_span& lower,
                              const key_span& upper) override;
  std::uint64_t count_wrong(const key_set& keys, const answered_batch& batch) override;
  void fill_values(const value_set& values, key_type type, void* out) override;
  void fill_ranges(const range_set& ranges, const key_span& ends) override;
  void fill_reference(const rmq_reference& reference, std::uint64_t* minima,
                      std::uint32_t* rows) override;
  std::uint64_t count_wrong(const rmq_reference& reference, const answered_ranges& batch) override;
  double milliseconds(const std::function<void()>& work) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void gather(const std::uint64_t* table, std::uint64_t slots, const std::uint32_t* probes,
              std::uint32_t* out, std::uint64_t size) override;
  double sort_pairs_ms(const key_span& keys, row_id_type row_ids, int repetitions) override;
  std::optional<double> lower_bound_ms(const key_span& keys, const key_span& probes,
                                       int repetitions) override;
};

}  // namespace raydex::bench
