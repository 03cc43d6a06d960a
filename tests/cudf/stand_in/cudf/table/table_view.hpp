// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of cuDF, as far as raydex/cudf.hpp uses it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cudf/column/column_view.hpp"

namespace cudf {

class table_view {
 public:
  table_view() = default;
  explicit table_view(std::vector<column_view> columns) : columns_(std::move(columns)) {}
  size_type num_columns() const { return static_cast<size_type>(columns_.size()); }
  const column_view& column(size_type i) const { return columns_[static_cast<std::size_t>(i)]; }
  auto begin() const { return columns_.begin(); }
  auto end() const { return columns_.end(); }

 private:
  std::vector<column_view> columns_;
};

}  // namespace cudf
