// SPDX-License-Identifier: Apache-2.0
// From types known at run time to template arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "raydex/column.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/minima/rmq.hpp"
#include "raydex/index.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

// Calls `make.template operator()<Key>()` with the encoded key type of `format`.
template <class Make>
auto dispatch_key(key_format format, Make&& make) {
  return format.encoded_bits() == 64 ? make.template operator()<std::uint64_t>()
                                     : make.template operator()<std::uint32_t>();
}

// Calls `make.template operator()<Key, RowId>()`, with row ids of 32 bits: structures know no
// others, see `src/operations/lookups/wide_index.hpp`.
template <class Make>
auto dispatch(key_format format, Make&& make) {
  return dispatch_key(format,
                      [&]<class Key>() { return make.template operator()<Key, std::uint32_t>(); });
}

// The same for what is done with columns of any size.
template <class Make>
auto dispatch(key_format format, row_id_type row_ids, Make&& make) {
  return dispatch_key(format, [&]<class Key>() {
    return row_ids == row_id_type::uint32 ? make.template operator()<Key, std::uint32_t>()
                                          : make.template operator()<Key, std::uint64_t>();
  });
}

// Whether places of 32 bits suffice for an array.
inline bool has_narrow_places(std::uint64_t size) {
  return size <= core::most_narrow_values;
}

// Calls `make.template operator()<Value, Place>()` with the places that an array needs.
template <class Value, class Make>
auto dispatch_places(const column& values, Make&& make) {
  return has_narrow_places(values.size) ? make.template operator()<Value, std::uint32_t>()
                                        : make.template operator()<Value, std::uint64_t>();
}

// The same with the type that an array's values are compared as: signed integers, as which unsigned
// and floating ones are read.
template <class Make>
auto dispatch_coded(const column& values, Make&& make) {
  return values.format.width == 4 ? dispatch_places<std::int32_t>(values, make)
                                  : dispatch_places<std::int64_t>(values, make);
}

// The same, but floating values are compared as they are for minima.
template <class Make>
auto dispatch_values(const column& values, rmq_extreme extreme, Make&& make) {
  if (extreme == rmq_extreme::minimum) {
    if (values.format.type == key_type::float32) return dispatch_places<float>(values, make);
    if (values.format.type == key_type::float64) return dispatch_places<double>(values, make);
  }
  return dispatch_coded(values, make);
}

// A column as core reads it.
inline core::cells cells_of(const column& c) {
  return {static_cast<const std::byte*>(c.data), c.step(), c.validity.first_byte(), c.format,
          c.validity.first_bit()};
}

}  // namespace raydex
