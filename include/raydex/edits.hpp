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
/// Deletions come first, so that erasing a key and inserting it with other row ids replaces what
/// was there. What is erased need not be there.
///
/// *Without row ids to erase*, an erased key takes all entries of that key with it, and what is
/// inserted comes after that, also under the same key.
///
/// *With row ids*, an erased pair of a key and a row id takes all entries that are equal to it. A
/// pair that is both inserted and erased cancels, however often it stands on either side: nothing
/// of it is inserted, and entries like it that the index already has stay.
///
/// *Repeated pairs*: an index may hold copies of an entry. Each insertion adds one more; a deletion
/// that is named again does no more than once.
struct edits {
  column insert = {};                     ///< keys to insert
  column insert_rows = {};                ///< their row ids, of the row-id type of the index
  column erase = {};                      ///< keys to erase
  std::optional<column> erase_rows = {};  ///< row ids of the entries to erase; without, all
};

}  // namespace raydex
