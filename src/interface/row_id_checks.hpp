// SPDX-License-Identifier: Apache-2.0
// Where row ids are written that a caller wants as they are or wider.
#pragma once

#include <cstdint>

#include "raydex/core/keys/column.hpp"
#include "raydex/index.hpp"

namespace raydex {

// Refuses an array of row ids that those of `of`, as `the index`, do not fit, or that is not there.
void check_row_ids(const row_id_span& out, row_id_type own, const char* owner);

// Writes narrow row ids as wide ones; see `row_id_widener`.
void widen_row_ids(const context& on, backend where, const buffer<std::uint32_t>& narrow,
                   const std::uint64_t* count, const row_id_span& out);

// Has `write(array)` write row ids of the type `own`, by way of scratch where `out` is wider.
// `count`: how many of `out` it writes, if not all.
template <class Write>
void write_row_ids(const context& on, backend where, row_id_type own, const row_id_span& out,
                   const Write& write, const std::uint64_t* count = nullptr) {
  if (out.type == own) return write(out.data);
  buffer<std::uint32_t> narrow(on, out.size);
  write(narrow.data());
  widen_row_ids(on, where, narrow, count, out);
}

// What a build needs to know of explicit row ids, gathered in one pass on any backend.
struct row_id_facts {
  std::uint64_t max = 0;       // the largest row id
  std::uint64_t descents = 0;  // how often a row id is smaller than the one before it

  template <class RowId>
  RAYDEX_HD void add(const core::encoded_column<RowId>& row_ids, std::uint64_t i) {
    const RowId id = row_ids[i];
    max = id > max ? id : max;
    if (i > 0 && id < row_ids[i - 1]) ++descents;
  }
  RAYDEX_HD void add(const row_id_facts& other) {
    max = other.max > max ? other.max : max;
    descents += other.descents;
  }

  // Throws if the value that means "no match" is among them.
  void check(std::uint64_t not_found) const;
};

// Throws `unsupported` where so many entries cannot be told apart by row ids of that type, which
// has one value, `not_found`, for none, and needs one to spare.
void check_room(std::uint64_t entries, std::uint64_t not_found);

}  // namespace raydex
