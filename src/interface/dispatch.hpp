// SPDX-License-Identifier: Apache-2.0
// From types known at run time to template arguments.
#pragma once

#include <cstdint>
#include <utility>

#include "raydex/column.hpp"
#include "raydex/core/minima/rmq.hpp"
#include "raydex/index.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

// Calls `make.template operator()<Key, RowId>()` with the encoded key type of `format`.
template <class Make>
auto dispatch(key_format format, row_id_type row_ids, Make&& make) {
  using std::uint32_t, std::uint64_t;
  const bool wide_key = format.encoded_bits() == 64;
  if (row_ids == row_id_type::uint32) {
    return wide_key ? make.template operator()<uint64_t, uint32_t>()
                    : make.template operator()<uint32_t, uint32_t>();
  }
  return wide_key ? make.template operator()<uint64_t, uint64_t>()
                  : make.template operator()<uint32_t, uint64_t>();
}

// Whether places of 32 bits suffice for an array.
inline bool has_narrow_places(std::uint64_t size) {
  return size <= core::most_narrow_values;
}

// Calls `make.template operator()<Value, Place>()` for an array: unsigned values are compared as
// signed ones, and floating ones by integers where maxima are asked for.
template <class Make>
auto dispatch_values(const column& values, rmq_extreme extreme, Make&& make) {
  const bool narrow = has_narrow_places(values.size);
  const auto with_place = [&]<class Value>() {
    return narrow ? make.template operator()<Value, std::uint32_t>()
                  : make.template operator()<Value, std::uint64_t>();
  };
  if (extreme == rmq_extreme::minimum) {
    if (values.format.type == key_type::float32) return with_place.template operator()<float>();
    if (values.format.type == key_type::float64) return with_place.template operator()<double>();
  }
  return values.format.width == 4 ? with_place.template operator()<std::int32_t>()
                                  : with_place.template operator()<std::int64_t>();
}

}  // namespace raydex
