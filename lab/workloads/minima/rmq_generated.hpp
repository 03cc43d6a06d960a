// SPDX-License-Identifier: Apache-2.0
/// @file
/// The data of a workload on minima, generated where they are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/machine/machine.hpp"
#include "lab/workloads/minima/rmq_answers.hpp"
#include "lab/workloads/minima/rmq_workload.hpp"
#include "raydex/column.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {

/// An array and ranges in the memory of a backend, and what knows the answers.
class rmq_generated {
 public:
  /// Generates; waits.
  rmq_generated(const rmq_workload& spec, machine& target);

  const rmq_workload& description() const noexcept { return workload_; }
  /// The array.
  column array() const;
  /// All ranges, the two ends of each side by side.
  probes ranges() const;
  /// What knows where the minima are.
  const rmq_reference& reference() const noexcept { return reference_; }

 private:
  rmq_workload workload_;
  buffer<std::byte> values_;
  buffer<std::byte> ends_;
  buffer<std::uint64_t> minima_;
  buffer<std::uint32_t> rows_;
  rmq_reference reference_;
};

}  // namespace raydex::bench
