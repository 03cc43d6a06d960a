// SPDX-License-Identifier: Apache-2.0
/// @file
/// A workload on minima: an array and ranges of its positions, and the functions that generate
/// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lab/workloads/minima/rmq_ranges.hpp"
#include "lab/workloads/minima/rmq_values.hpp"
#include "lab/workloads/names.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::bench {

/// An array out of a file; its name stands for it.
struct array_file {
  std::string name;
  key_format value;                        ///< of the values
  std::uint64_t size = 0;                  ///< how many
  std::shared_ptr<const std::byte> cells;  ///< the first one

  friend bool operator==(const array_file& a, const array_file& b) { return a.name == b.name; }
};

/// The axes.
struct rmq_workload {
  std::uint64_t keys = std::uint64_t{1} << 26;    ///< values of the array
  std::uint64_t probes = std::uint64_t{1} << 26;  ///< ranges, in one batch
  array_shape shape = array_shape::random;        ///< how the values lie
  std::optional<array_file> file{};               ///< the array begins this one, if given
  std::uint64_t period = 1024;                    ///< of a sawtooth
  key_format value = format_of<float>;            ///< the type of the values
  range_kind ranges = range_kind::mixed;          ///< how long the ranges are
  int position_bits = 32;                         ///< of the ends of ranges
  std::uint64_t changes = 0;  ///< positions that a refresh is told of: where the
                              ///< first ranges begin
  std::uint64_t seed = 1;     ///< of everything

  friend bool operator==(const rmq_workload&, const rmq_workload&) = default;
};

/// Throws `invalid_argument` where no such workload can be made; says why and what would be legal.
void check(const rmq_workload& spec);

/// The bits that positions in so many values have, if nothing else is said (GPU-RMQ paper, 5.1).
int usual_position_bits(std::uint64_t keys);

/// The values. Precondition: they are not of a file. Checks as `check` does.
value_set make_value_set(const rmq_workload& spec);

/// A line for people.
std::string describe(const rmq_workload& spec);

}  // namespace raydex::bench
