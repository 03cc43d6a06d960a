// SPDX-License-Identifier: Apache-2.0
// Columns in host memory that own their cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "raydex/column.hpp"

namespace raydex::io {

// A column as a reader returns it.
struct host_column {
  key_format format;
  std::uint64_t size = 0;
  std::uint64_t stride = 0;                // bytes from one cell to the next; 0: adjacent
  std::shared_ptr<const std::byte> cells;  // the first one; the ends of ranges may share an array
  std::vector<std::uint8_t> validity;      // Arrow bitmap; empty if no cell is missing

  // The column as the library takes it, valid as long as this one.
  column view() const;
};

// The two ends of ranges, of equal size and format.
struct host_ranges {
  host_column lower;
  host_column upper;
};

}  // namespace raydex::io
