// SPDX-License-Identifier: Apache-2.0
// What the probes of a join found, on any backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/joins/pairs.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"

namespace raydex {

inline core::joining joining_of(join_kind kind) {
  switch (kind) {
    case join_kind::left:
    case join_kind::full:
      return core::joining::matches_or_one;
    case join_kind::semi:
      return core::joining::once_if_any;
    case join_kind::anti:
      return core::joining::once_if_none;
    case join_kind::inner:
    case join_kind::right:
      break;
  }
  return core::joining::matches;
}

// What probes found of the build rows.
template <class RowId>
struct found_rows {
  buffer<RowId> probe_rows;    // of each probe; empty: their numbers
  std::uint64_t left_out = 0;  // probes that have no row of the join, beside these
  buffer<RowId> begins;
  buffer<RowId> counts;        // empty: no probe has more than one match
  buffer<std::byte> own_list;  // what `list` points to, unless the join has it
  const void* list = nullptr;
  buffer<std::uint64_t> tile_ends;  // for `row_tiles`; empty: not counted
  std::uint64_t rows = 0;           // of the join, if they are
  // If not 0 the sides changed places: so many probe rows were found by the build rows, and
  // `tile_ends` is there.
  std::uint64_t turned_probes = 0;

  // That were asked.
  std::uint64_t probes() const { return begins.size() + left_out; }
  core::located_probes<RowId> view(join_kind kind) const {
    return {begins.data(), counts.data(),    static_cast<const RowId*>(list),
            begins.size(), joining_of(kind), probe_rows.data()};
  }
};

}  // namespace raydex
