// SPDX-License-Identifier: Apache-2.0
// A part of a column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/column.hpp"

namespace raydex {

// Cells from `first` on.
inline column slice(column cells, std::uint64_t first, std::uint64_t size) {
  if (first != 0) cells.data = static_cast<const std::byte*>(cells.data) + first * cells.step();
  cells.validity = cells.validity.from(first);
  cells.size = size;
  return cells;
}

}  // namespace raydex
