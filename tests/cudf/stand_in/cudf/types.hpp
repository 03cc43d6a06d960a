// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of cuDF, as far as raydex/cudf.hpp uses it.
#pragma once

#include <cstdint>

namespace cudf {

using size_type = std::int32_t;
using bitmask_type = std::uint32_t;

enum class type_id : std::int32_t {
  EMPTY,
  INT8,
  INT16,
  INT32,
  INT64,
  UINT8,
  UINT16,
  UINT32,
  UINT64,
  FLOAT32,
  FLOAT64,
  BOOL8,
  TIMESTAMP_DAYS,
  TIMESTAMP_SECONDS,
  TIMESTAMP_MILLISECONDS,
  TIMESTAMP_MICROSECONDS,
  TIMESTAMP_NANOSECONDS,
  DURATION_DAYS,
  DURATION_SECONDS,
  DURATION_MILLISECONDS,
  DURATION_MICROSECONDS,
  DURATION_NANOSECONDS,
  DICTIONARY32,
  STRING,
  LIST,
  DECIMAL32,
  DECIMAL64,
  DECIMAL128,
  STRUCT
};

enum class null_equality : bool { EQUAL, UNEQUAL };

class data_type {
 public:
  explicit data_type(type_id id, std::int32_t scale = 0) : id_(id), scale_(scale) {}
  type_id id() const { return id_; }
  friend bool operator==(const data_type&, const data_type&) = default;

 private:
  type_id id_;
  std::int32_t scale_;
};

}  // namespace cudf
