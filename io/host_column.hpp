// SPDX-License-Identifier: Apache-2.0
// Columns in host memory that own their cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "raydex/column.hpp"
#include "raydex/join.hpp"

namespace raydex::io {

// What integers count.
enum class time_kind : std::uint8_t {
  none,   // no times
  local,  // nanoseconds since 1970, of a clock on a wall
  zoned   // the same of the world
};

// What cells are, in words.
std::string type_name(key_format format, time_kind times = time_kind::none);

// A column as a reader returns it.
struct host_column {
  key_format format;
  std::uint64_t size = 0;
  std::uint64_t stride = 0;                // bytes from one cell to the next; 0: adjacent
  std::shared_ptr<const std::byte> cells;  // the first one; the ends of ranges may share an array
  std::vector<std::uint8_t> validity;      // Arrow bitmap; empty if no cell is missing
  time_kind times = time_kind::none;

  // The column as the library takes it, valid as long as this one.
  column view() const;
  // Whether a row has a value.
  bool has_value(std::uint64_t row) const {
    return validity.empty() || (validity[row / 8] >> row % 8 & 1) != 0;
  }
};

// Strings of any length as a reader returns them.
struct host_strings {
  std::uint64_t size = 0;
  std::shared_ptr<const char> bytes;   // all strings, one after the other
  std::vector<std::uint64_t> offsets;  // where each begins, and where the last one ends
  std::vector<std::uint8_t> validity;  // Arrow bitmap; empty if no string is missing

  // The column as the library takes it, valid as long as this one.
  string_column view() const;
  // A string; empty where it is missing.
  std::string_view at(std::uint64_t i) const;
  // Whether a row has a value.
  bool has_value(std::uint64_t row) const {
    return validity.empty() || (validity[row / 8] >> row % 8 & 1) != 0;
  }
};

// A column of a key.
using host_key_part = std::variant<host_column, host_strings>;

// How many rows it has.
std::uint64_t size_of(const host_key_part& part);
// The column as the library takes it, valid as long as this one.
key_part view_of(const host_key_part& part);

// The two ends of ranges, of equal size and format.
struct host_ranges {
  host_column lower;
  host_column upper;
};

}  // namespace raydex::io
