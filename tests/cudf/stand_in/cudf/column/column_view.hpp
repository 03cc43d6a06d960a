// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of cuDF, as far as raydex/cudf.hpp uses it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "cudf/types.hpp"

namespace cudf {

class column_view {
 public:
  column_view(data_type type, size_type size, const void* data, const bitmask_type* null_mask,
              size_type null_count, size_type offset = 0, std::vector<column_view> children = {})
      : type_(type),
        size_(size),
        data_(data),
        null_mask_(null_mask),
        null_count_(null_count),
        offset_(offset),
        children_(std::move(children)) {}
  data_type type() const { return type_; }
  size_type size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  const void* head() const { return data_; }
  const bitmask_type* null_mask() const { return null_mask_; }
  bool has_nulls() const { return null_count_ > 0; }
  size_type offset() const { return offset_; }
  column_view child(size_type i) const { return children_[static_cast<std::size_t>(i)]; }

 private:
  data_type type_;
  size_type size_;
  const void* data_;
  const bitmask_type* null_mask_;
  size_type null_count_;
  size_type offset_;
  std::vector<column_view> children_;
};

}  // namespace cudf
