// SPDX-License-Identifier: Apache-2.0
// Row ids that a caller gives: which a build takes, and how many fit.
#pragma once

#include <cstdint>
#include <string>

#include "raydex/core/keys/column.hpp"
#include "raydex/error.hpp"

namespace raydex {

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
  void check(std::uint64_t not_found) const {
    if (max < not_found) return;
    throw invalid_argument("row ids: " + std::to_string(not_found) +
                           " means not found and is not legal; the largest legal one is " +
                           std::to_string(not_found - 1));
  }
};

// Throws `unsupported` where so many entries cannot be told apart by row ids of that type, which
// has one value, `not_found`, for none, and needs one to spare.
inline void check_room(std::uint64_t entries, std::uint64_t not_found) {
  if (entries < not_found - 1) return;
  throw unsupported("insert: there would be " + std::to_string(entries) +
                    " entries, more than row ids below " + std::to_string(not_found) +
                    " can number; build an index with uint64 row ids");
}

}  // namespace raydex
