// SPDX-License-Identifier: Apache-2.0
/// @file
/// `sampled_array` inside kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/search.hpp"

namespace raydex::core {

/// Ascending entries in blocks of `sample`, and a directory of the last keys of all full blocks.
template <class Entries>
class sampled_array_view : public view_of_entries<sampled_array_view<Entries>, Entries> {
  using base = typename sampled_array_view::view_of_entries;

 public:
  using typename base::found;        ///< what a search finds
  using typename base::key_type;     ///< an encoded key
  using typename base::row_id_type;  ///< a row id

  /// A view of `size` entries and their directory.
  RAYDEX_HD sampled_array_view(Entries entries, row_id_type size, const key_type* directory,
                               unsigned sample)
      : base(entries, size), directory_(directory), sample_(sample) {}

  /// Searches for N keys: in the directory in step, then in the block of each. See `ordered_view`.
  template <class Team, std::size_t N>
  RAYDEX_HD void descend(const Team& /*team*/, const key_type (&wanted)[N],
                         const row_id_type (&/*entered*/)[N], found (&at)[N]) const {
    row_id_type blocks[N];
    lower_bounds([&](row_id_type i) { return load(directory_ + i); }, this->size_ / sample_, wanted,
                 blocks);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const row_id_type rank = search_block(blocks[j], wanted[j]);
      const bool hit = rank < this->size_ && this->entries_.key(rank) == wanted[j];
      at[j] = {rank, hit, hit ? this->row_id(rank) : row_id_type{0}};
    }
  }

 private:
  // The first rank of a block whose key is not below the one wanted, or the rank after the block.
  RAYDEX_HD row_id_type search_block(row_id_type block, key_type wanted) const {
    const row_id_type begin = block * sample_;
    const row_id_type left = this->size_ - begin;
    const key_type one[1] = {wanted};
    row_id_type within[1];
    lower_bounds([&](row_id_type i) { return this->entries_.key(begin + i); },
                 left < sample_ ? left : sample_, one, within);
    return begin + within[0];
  }

  const key_type* directory_;
  row_id_type sample_;
};

/// Writes the directory: one read and one write a block, in any order.
template <class Key>
struct fill_directory {
  const Key* keys;       ///< ascending
  std::uint64_t sample;  ///< keys of a block
  Key* directory;        ///< where to

  /// Writes the last key of a block.
  RAYDEX_HD void operator()(std::uint64_t block) const {
    directory[block] = keys[(block + 1) * sample - 1];
  }
};

}  // namespace raydex::core
