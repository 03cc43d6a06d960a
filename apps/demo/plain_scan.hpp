// SPDX-License-Identifier: Apache-2.0
// The answers that an index must give, found by looking at every row. Shares nothing with raydex
// but the file reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/host_column.hpp"

namespace raydex::demo {

// Whether a row holds a value.
inline bool is_present(const io::host_column& column, std::size_t row) {
  return column.validity.empty() || (column.validity[row / 8] >> (row % 8) & 1) != 0;
}

// The cells of a column whose type is known.
template <class T>
const T* cells(const io::host_column& column) {
  return reinterpret_cast<const T*>(column.cells.get());
}

// The probes: points, or the ranges from `lower` to `upper`, both included.
template <class Key>
struct question {
  const char* text;
  std::vector<Key> lower;
  std::vector<Key> upper = {};  // empty for points

  bool is_points() const { return upper.empty(); }
  std::size_t size() const { return lower.size(); }
};

// The matching rows of each probe, in ascending order.
template <class Key>
std::vector<std::vector<std::uint32_t>> plain_scan(const io::host_column& column,
                                                   const question<Key>& query) {
  const Key* keys = cells<Key>(column);
  std::vector<std::vector<std::uint32_t>> found(query.size());
  for (std::size_t i = 0; i < query.size(); ++i) {
    const Key lower = query.lower[i];
    const auto collect = [&](const auto& matches) {
      for (std::size_t row = 0; row < column.size; ++row) {
        if (matches(keys[row]) && is_present(column, row)) {
          found[i].push_back(static_cast<std::uint32_t>(row));
        }
      }
    };
    if (query.is_points()) {
      collect([&](const Key& key) { return key == lower; });
    } else {
      collect([&](const Key& key) { return lower <= key && key <= query.upper[i]; });
    }
  }
  return found;
}

}  // namespace raydex::demo
