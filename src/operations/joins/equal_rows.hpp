// SPDX-License-Identifier: Apache-2.0
// Rows of equal keys of two columns, found without an index. Each machine has its own way.
#pragma once

#include <cstdint>
#include <optional>

#include "raydex/column.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/joins/pairs.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"
#include "src/operations/joins/found_rows.hpp"

namespace raydex {

// What two columns are to each other.
template <class RowId>
struct equal_rows {
  found_rows<RowId> rows;
  std::uint64_t entries = 0;  // build rows that can match
  bool confused = false;      // different keys have equal hashes; then the rows are of no meaning
};

// What is asked for, whatever the columns.
struct equality {
  std::uint64_t seed;  // of a hash
  // If the columns are hashes of keys, what is compared of keys whose hashes are equal.
  const core::composite_cells* build_keys = nullptr;
  const core::composite_cells* probe_keys = nullptr;
  join_order order = join_order::probe_rows;
  core::joining joining = core::joining::matches;  // which rows of the join a probe has
  // Whether sides may change places: wanted are pairs, and maybe probe rows without a match.
  bool may_turn = false;
  bool counted = true;  // whether anyone asks how many rows the join has

  bool hashed() const { return build_keys != nullptr; }
  // Whether a probe is to know that there is a build row, but not which.
  bool any_row() const { return core::is_once(joining); }
};

// Nothing if an index would be faster, or if too many build rows have one key.
// `Key` is as wide as the codes of both columns, and `RowId` can number their rows. May wait.
namespace cpu {
template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how);
}  // namespace cpu
namespace cuda {
template <class Key, class RowId>
std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                 const column& probe, const equality& how);
}  // namespace cuda

}  // namespace raydex
