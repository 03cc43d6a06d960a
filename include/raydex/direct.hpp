// SPDX-License-Identifier: Apache-2.0
/// @file
/// `direct`: a place for each key between the smallest and the largest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/direct.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// Options of `direct`; by name as `options_of` and `raydex structures direct` list them.
struct direct_options {
  unsigned limit = 4;         ///< places that there may be for each key: 1 to 1024
  batch_schedule batch = {};  ///< how batches run on `cuda`
};

/// An array with a place for each key between the smallest and the largest one, for integers that
/// are dense: primary keys, codes of a dictionary. A place holds the smallest row id of its key. If
/// each of these keys is there once, that is all; otherwise it holds the rank of its first entry as
/// well, and the row ids lie in a second array, by key.
///
/// Takes integers; for other keys it throws `unsupported`, and so it does where there would be more
/// than `limit` places for each entry, naming the span. Answers all that an ordered structure does.
///
/// *Cost*: build: the sort of `sorted_array`; unless each key is there once, a pass over what it
/// sorted and three over the places, all in order. A point: one read, and none if each key is there
/// once and they ascend in the order of row ids from 0 on; all else two reads of
/// neighbouring places, and the row ids. `predecessor` and `successor` among repeated keys: a
/// search over the places. *Memory*: resident: a row id a place if each key is there once,
/// otherwise two, and a row id an entry. Peak of the build: that of `sorted_array`, or what it
/// sorted and the places. *Stream*: the build synchronises.
///
/// *Edits*: the entries are merged with the batch, and the places are written anew. An edit after
/// which the keys were too far apart throws `unsupported`, and changes nothing, unless they span no
/// more than before: keys can always be erased.
class RAYDEX_EXPORT direct : public index {
 public:
  ~direct() override;

  /// A view to look keys up from the user's own code, inside a kernel on `cuda`. It stays valid as
  /// long as the index is not edited. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64);
    core::direct_view<Key, RowId> made;
    made.smallest = static_cast<Key>(places_.smallest);
    made.places = places_.size;
    made.entries = static_cast<RowId>(info().entries);
    made.firsts = static_cast<const RowId*>(places_.firsts);
    made.ranks = static_cast<const RowId*>(places_.ranks);
    made.rows = static_cast<const RowId*>(places_.rows);
    made.different = places_.different;
    made.are_rows = places_.are_rows;
    return made;
  }

 protected:
  /// For implementations.
  explicit direct(memory_resource& upstream);

  /// Where the places are.
  struct place_storage {
    std::uint64_t smallest = 0;    ///< the smallest key, encoded
    std::uint64_t size = 0;        ///< how many
    const void* firsts = nullptr;  ///< the smallest row id of each
    const void* ranks = nullptr;   ///< the rank of each, or null
    const void* rows = nullptr;    ///< the row ids by rank, or null
    bool different = true;         ///< whether no two keys are equal
    bool are_rows = false;         ///< whether the row id of each place is its number
  };
  /// Set by the build.
  place_storage places_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids) const;
};

/// Builds a `direct`; arguments and errors as for `build`.
RAYDEX_EXPORT std::unique_ptr<direct> build_direct(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const direct_options& options = {});

}  // namespace raydex
