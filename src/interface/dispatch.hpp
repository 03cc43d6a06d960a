// SPDX-License-Identifier: Apache-2.0
// From types known at run time to template arguments.
#pragma once

#include <cstdint>
#include <utility>

#include "raydex/column.hpp"
#include "raydex/index.hpp"

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

}  // namespace raydex
