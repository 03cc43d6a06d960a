// SPDX-License-Identifier: Apache-2.0
/// @file
/// Searches in a sorted column as it lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/search.hpp"

namespace raydex::core {

/// A view of a sorted column without missing cells, whose entries are its cells. Cost of a search:
/// log2 n + 1 reads.
template <class Key, class Position>
class sorted_keys_view : public ordered_view<sorted_keys_view<Key, Position>, Key, Position> {
  using base = typename sorted_keys_view::ordered_view;

 public:
  using typename base::found;  ///< what a search finds

  /// A view of `size` cells.
  sorted_keys_view(const cells& keys, Position size) : keys_{keys}, size_(size) {}

  /// How many cells there are.
  RAYDEX_HD Position size() const { return size_; }
  /// The key at a rank.
  RAYDEX_HD Key key(Position rank) const {
    const bool is_bytes = keys_.format.type == key_type::bytes;
    Key bits[1] = {is_bytes ? keys_.raw(rank) : keys_.template get<Key>(rank)};
    keys_.encode_all(bits);
    return bits[0];
  }
  /// A rank is a row.
  RAYDEX_HD Position row_id(Position rank) const { return rank; }

  /// Searches for N keys in step; see `ordered_view`.
  template <class Team, std::size_t N>
  RAYDEX_HD void descend(const Team& /*team*/, const Key (&wanted)[N],
                         const Position (&/*entered*/)[N], found (&at)[N]) const {
    Position ranks[N];
    lower_bounds([this](Position rank) { return key(rank); }, size_, wanted, ranks);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j] = {ranks[j], false, 0};
  }

 private:
  encoded_column<Key> keys_;
  Position size_;
};

}  // namespace raydex::core
