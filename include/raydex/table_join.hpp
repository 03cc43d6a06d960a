// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins of two tables that are made once.
#pragma once

#include <memory>

#include "raydex/export.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// Joins two tables by equal keys, once. The rows, and their order, are those of `build_join` and
/// `join::match`, whose arguments and errors these are; but what it returns needs nothing else: the
/// tables need not outlive it.
///
/// *Method*: on `cpu`, where the structure is `auto` and has no options, both sides are divided by
/// a hash of the key, so that the build rows of a part and a table of them fit the second-level
/// cache, and what the probe rows of a part found is put back in their order. Build rows that none
/// of few probe rows asks for are left out first. Elsewhere an index is built. *Cost* of the first:
/// two passes over the keys of the build side, three over those of the probe side, and two over
/// what either becomes; of keys of several columns or strings a pass that packs or hashes them, and
/// for each build row whose key repeats, and each probe row with a match, a look at another row of
/// the build columns. *Scratch*: of a build row 8 bytes, or 12 if keys have more than 32 bits, of a
/// probe row 4 or 8; where build keys repeat 4 more of either; 8 of either where keys are packed or
/// hashed. It holds 4 bytes a probe row, and where build keys repeat 8, and 4 a build row. Twice as
/// much for 4 with 64-bit row ids.
RAYDEX_EXPORT std::unique_ptr<joined> match_tables(backend where, const context& on,
                                                   const key_parts& build, const key_parts& probe,
                                                   join_kind kind = join_kind::inner,
                                                   const join_options& options = {});

}  // namespace raydex
