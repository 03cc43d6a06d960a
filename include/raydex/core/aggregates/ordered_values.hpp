// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values as codes in the order of the keys, over which minima are asked. Maxima are minima of
/// codes in the opposite order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::core {

/// Writes the code of the value of the row at each rank; the last of all codes for a missing one.
template <class Code, class RowId>
struct put_value_code {
  const RowId* row_ids;         ///< by rank
  encoded_column<Code> values;  ///< by row
  bool largest;                 ///< whether the order is to be the opposite one
  Code* codes;                  ///< by rank

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    const std::uint64_t row = row_ids[rank];
    auto code = static_cast<Code>(-1);
    if (values.valid(row)) code = largest ? static_cast<Code>(~values[row]) : values[row];
    codes[rank] = code;
  }
};

/// Has codes be values again, where they are.
template <class Value>
struct decode_values {
  encoded_t<Value>* codes;  ///< one a probe
  bool largest;             ///< whether they are in the opposite order

  /// Decodes one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const encoded_t<Value> code = codes[probe];
    const auto value = decode<Value>(largest ? static_cast<encoded_t<Value>>(~code) : code);
    *reinterpret_cast<Value*>(codes + probe) = value;
  }
};

/// Turns where matches begin, and their number, into the ranks of the first and the last of them.
/// Of none the first is after the last.
template <class RowId>
struct put_rank_range {
  RowId* begins;        ///< of each probe; then the first
  const RowId* counts;  ///< of each probe
  RowId* lasts;         ///< the last

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const RowId count = counts[probe];
    lasts[probe] = count != 0 ? static_cast<RowId>(begins[probe] + (count - 1)) : RowId{0};
    if (count == 0) begins[probe] = 1;
  }
};

}  // namespace raydex::core
