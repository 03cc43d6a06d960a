// SPDX-License-Identifier: Apache-2.0
/// @file
/// Batches of insertions and deletions.
#pragma once

#include <optional>

#include "raydex/column.hpp"

namespace raydex {

/// What to insert into an index, and what to erase from it. A column that is left empty says
/// nothing. Missing keys are passed over.
///
/// An erased key takes all entries of that key with it; with row ids, only those of that key and
/// row id. What is erased need not be there. Where the same pair of a key and a row id is both
/// inserted and erased, the two cancel: neither is done. Otherwise deletions come first, so that
/// erasing a key and inserting it with other row ids replaces what was there.
struct edits {
  column insert = {};                     ///< keys to insert
  column insert_rows = {};                ///< their row ids, of the row-id type of the index
  column erase = {};                      ///< keys to erase
  std::optional<column> erase_rows = {};  ///< row ids of the entries to erase; without, all
};

}  // namespace raydex
