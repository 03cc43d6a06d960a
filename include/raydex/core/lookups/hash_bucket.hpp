// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_bucket` inside kernels.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/hashed_view.hpp"
#include "raydex/core/lookups/hashing.hpp"

namespace raydex::core {

/// Nodes of a `hash_bucket`: 128 bytes with 15 entries of 32-bit keys and row ids, and a link.
template <class Key, class RowId>
using hash_nodes = hash_buckets<Key, RowId, 128, true>;

/// A trivially copyable view of a `hash_bucket`, for lookups inside the user's own code. Keys are
/// encoded. A bucket is a chain of nodes; bucket i begins with node i; hashes ascend along
/// it. A lookup reads the first node, and those that it is linked to up to the first with a larger
/// hash.
template <class Key, class RowId>
class hash_bucket_view : public hashed_view<hash_bucket_view<Key, RowId>, hash_nodes<Key, RowId>> {
  using base = typename hash_bucket_view::hashed_view;

 public:
  using buckets = typename base::buckets;  ///< the nodes
  using place = typename base::place;      ///< where an entry is

  static constexpr bool ascending = true;  ///< hashes ascend over all chains
  std::uint32_t chains = 1;                ///< how many buckets there are

  /// @name What `hashed_view` asks for
  /// @{

  /// How many first nodes there are, one of each bucket.
  RAYDEX_HD std::uint32_t homes() const { return chains; }

  /// Looks a hash up along a chain.
  RAYDEX_HD place look_up_from(std::uint32_t node, Key hash, std::uint32_t /*step*/ = 0) const {
    for (;;) {
      const bucket_copy<buckets> copy(this->table.at(node));
      const bucket_answer<RowId> answer = copy.find(hash);
      const std::uint32_t next = copy.link();
      if (answer.row != buckets::none || copy.last() >= hash || next == 0)
        return {answer.row, node, answer.slot};
      node = next;
    }
  }

  /// Finds the node after one.
  RAYDEX_HD bool find_next(std::uint32_t node, std::uint32_t /*step*/, Key /*hash*/,
                           std::uint32_t& next) const {
    next = *this->table.link(node);
    return next != 0;
  }

  /// Whether a hash that a node does not hold is in none after it.
  RAYDEX_HD bool ends(Key hash, std::uint32_t /*step*/, Key last, bool /*room*/) const {
    return last >= hash;
  }

  /// Parts that all entries are read in: chains.
  RAYDEX_HD std::uint64_t parts() const { return chains; }

  /// Calls `visit(hash, row_id, slot)` for the entries of a chain.
  template <class Visit>
  RAYDEX_HD void for_each_entry(std::uint64_t part, Visit&& visit) const {
    for_each_slot(static_cast<std::uint32_t>(part), [&](std::uint32_t node, unsigned slot) {
      const RowId row = *this->table.row(node, slot);
      if (row == buckets::none) return false;
      visit(this->table.key(node, slot), row, std::uint64_t{node} * buckets::slots + slot);
      return true;
    });
  }
  /// @}

  /// Calls `visit(node, slot)` for the slots of a chain, until one returns false.
  template <class Visit>
  RAYDEX_HD void for_each_slot(std::uint32_t chain, Visit&& visit) const {
    std::uint32_t node = chain;
    do {
      for (unsigned slot = 0; slot < buckets::slots; ++slot)
        if (!visit(node, slot)) return;
      node = *this->table.link(node);
    } while (node != 0);
  }
};

}  // namespace raydex::core
