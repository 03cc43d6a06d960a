// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values as codes in the order of the keys, for minima over them. Maxima are minima of
/// codes in the opposite order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/aggregates/prefix_sums.hpp"
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

/// Has codes be values again.
template <class Code>
struct decode_values {
  const Code* codes;            ///< one a probe
  key_type type;                ///< of the values
  bool largest;                 ///< whether they are in the opposite order
  const std::uint32_t* places;  ///< where each belongs; null: in their order
  Code* out;                    ///< one a probe; without `places` it may be `codes`

  /// Decodes one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const Code code = largest ? static_cast<Code>(~codes[probe]) : codes[probe];
    Code* const place = out + (places == nullptr ? probe : load(places + probe));
    switch (type) {
      case key_type::int32:
      case key_type::int64:
        return put(place, decode<std::make_signed_t<Code>>(code));
      case key_type::float32:
      case key_type::float64:
        return put(place, decode<std::conditional_t<sizeof(Code) == 8, double, float>>(code));
      default:
        *place = code;
    }
  }

 private:
  template <class Value>
  RAYDEX_HD static void put(Code* place, const Value& value) {
    *reinterpret_cast<Value*>(place) = value;
  }
};

/// Which of the ranks of a probe.
enum class part_of_ranks : std::uint8_t { all, first, last };

/// Writes the ranks of the first and the last match of each probe, or one of them as both. Of none
/// the first is after the last.
template <class RowId>
struct put_rank_range {
  found_ranks<RowId> found;  ///< the matches
  part_of_ranks part;        ///< which of them
  RowId* firsts;             ///< one a probe
  RowId* lasts;              ///< one a probe

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const RowId count = found.counts[probe];
    RowId first = 1;
    RowId last = 0;
    if (count != 0) {
      first = found.begins[probe];
      last = static_cast<RowId>(first + (count - 1));
      if (part == part_of_ranks::first) last = first;
      if (part == part_of_ranks::last) first = last;
    }
    firsts[probe] = first;
    lasts[probe] = last;
  }
};

/// Writes the row of a match of each probe, or that there is none.
template <class RowId>
struct put_row_at {
  found_ranks<RowId> found;    ///< the matches
  const std::uint64_t* ranks;  ///< which of them, one a probe; null: the first or the last one
  bool last;                   ///< which of these
  const RowId* rows;           ///< by rank
  RowId* out;                  ///< one a probe

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const RowId count = found.counts[probe];
    auto row = static_cast<RowId>(-1);
    if (count != 0) {
      std::uint64_t rank = found.begins[probe];
      if (last) rank += count - 1;
      if (ranks != nullptr) rank = ranks[probe];
      row = load(rows + rank);
    }
    out[found.place(probe)] = row;
  }
};

}  // namespace raydex::core
