// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_bucket` inside kernels: lookups, how entries come into its chains, and how edits change
/// them.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/lookups/hash_build.hpp"
#include "raydex/core/lookups/hashed_view.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/core/lookups/search.hpp"

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

/// Nodes that a chain of so many entries has.
template <class Nodes>
RAYDEX_HD constexpr std::uint64_t nodes_of(std::uint64_t entries) {
  return entries == 0 ? 1 : (entries + Nodes::slots - 1) / Nodes::slots;
}

/// Writes for each chain which of the ascending hashes is its first, and one number more. A thread
/// an entry, and one after the last.
template <class Key, class RowId>
struct put_chain_begins {
  placed_entries<Key, RowId> from;  ///< the entries
  std::uint32_t chains;             ///< how many
  std::uint64_t* begins;            ///< chains + 1 of them

  /// Writes those between the chains of two entries.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t begin = i == 0 ? 0 : std::uint64_t{home_of(from.hashes[i - 1], chains)} + 1;
    const std::uint64_t end =
        i == from.size ? chains : std::uint64_t{home_of(from.hashes[i], chains)};
    for (std::uint64_t chain = begin; chain <= end; ++chain)
      begins[chain] = i;
  }
};

/// Counts the nodes of each chain that follow the first one.
template <class Nodes>
struct count_further_nodes {
  const std::uint64_t* begins;  ///< see above
  std::uint64_t* counts;        ///< a number a chain
  std::uint64_t most;           ///< nodes that a chain should have at most
  spread_count too_long;        ///< chains that have more; 0 at first

  /// Counts those of a chain.
  RAYDEX_HD void operator()(std::uint64_t chain) const {
    const std::uint64_t count = nodes_of<Nodes>(begins[chain + 1] - begins[chain]);
    counts[chain] = count - 1;
    too_long.add(chain, count > most ? 1 : 0);
  }
};

/// Writes all chains. A thread a slot of a first node, and that slot in all nodes linked to it.
template <class Key, class RowId>
struct fill_chains {
  using nodes = hash_nodes<Key, RowId>;  ///< of the table

  placed_entries<Key, RowId> from;  ///< the entries
  nodes table;                      ///< where to
  row_run<RowId>* runs;             ///< a run a slot, or null
  const std::uint64_t* begins;      ///< which entry is the first of a chain
  const std::uint64_t* further;     ///< further nodes of each chain, added up
  std::uint32_t chains;             ///< how many

  /// Writes slot `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto chain = static_cast<std::uint32_t>(i / nodes::slots);
    const auto slot = static_cast<unsigned>(i % nodes::slots);
    const std::uint64_t end = begins[chain + 1];
    std::uint32_t node = chain;
    auto next = static_cast<std::uint32_t>(chains + (chain == 0 ? 0 : further[chain - 1]));
    for (std::uint64_t first = begins[chain];; first += nodes::slots) {
      const std::uint64_t entry = first + slot;
      const bool exists = entry < end;
      const bool goes_on = first + nodes::slots < end;
      table.put(node, slot, exists ? from.hashes[entry] : nodes::never,
                exists ? from.rows[entry] : nodes::none);
      if (runs != nullptr && exists)
        runs[std::uint64_t{node} * nodes::slots + slot] = from.run(entry);
      if (slot == 0) *table.link(node) = goes_on ? next : 0;
      if (!goes_on) return;
      node = next++;
    }
  }
};

/// A batch of edits as the chains see it: what it inserts and erases in a chain lies side by side.
/// A thread an insertion or a name; the first one of a chain does all the chain's work.
template <class Key, class RowId>
struct chain_edits {
  hash_bucket_view<Key, RowId> view;  ///< the table, without repeated keys
  entry_list<Key, RowId> insert;      ///< hashes in the place of keys
  entry_names<Key, RowId> erase;      ///< likewise

  /// What a chain comes to.
  struct outcome {
    std::uint64_t before = 0;     ///< entries that it has
    std::uint64_t after = 0;      ///< entries that it will have
    std::uint64_t erased = 0;     ///< those that are erased
    std::uint64_t conflicts = 0;  ///< insertions of keys that are there still, or repeated
  };

  /// How many threads there are.
  RAYDEX_HD std::uint64_t threads() const { return insert.size + erase.list.size; }

  /// The chain of a thread; false if another one has it.
  RAYDEX_HD bool has_chain(std::uint64_t thread, std::uint32_t& chain) const {
    const bool inserts = thread < insert.size;
    const auto& list = inserts ? insert : erase.list;
    const std::uint64_t i = inserts ? thread : thread - insert.size;
    chain = view.home(list.key(i));
    if (i != 0 && view.home(list.key(i - 1)) == chain) return false;
    if (inserts) return true;
    const std::uint64_t at = begin_of(insert, chain);
    return at == insert.size || view.home(insert.key(at)) != chain;
  }

  /// Calls `put(hash, row_id)` for what will be in a chain, in ascending order.
  template <class Put>
  RAYDEX_HD outcome merge(std::uint32_t chain, Put&& put) const {
    outcome all;
    std::uint64_t added = begin_of(insert, chain);
    std::uint64_t named = begin_of(erase.list, chain);
    Key last = 0;
    const auto keep = [&](const entry<Key, RowId>& one) {
      all.conflicts += all.after != 0 && one.key == last ? 1U : 0U;
      last = one.key;
      ++all.after;
      put(one.key, one.row);
    };
    const auto add_below = [&](Key hash) {
      for (; added < insert.size && insert.key(added) < hash; ++added)
        keep(insert[added]);
    };
    view.for_each_entry(chain, [&](Key hash, RowId row, std::uint64_t) {
      ++all.before;
      add_below(hash);
      if (is_erased({hash, row}, named)) {
        ++all.erased;
      } else {
        keep({hash, row});
      }
    });
    for (; added < insert.size && view.home(insert.key(added)) == chain; ++added)
      keep(insert[added]);
    return all;
  }

 private:
  // The first entry of a list that belongs to a chain or one after it.
  RAYDEX_HD std::uint64_t begin_of(const entry_list<Key, RowId>& list, std::uint32_t chain) const {
    const std::uint32_t one[1] = {chain};
    std::uint64_t found[1];
    lower_bounds([&](std::uint64_t i) { return view.home(list.key(i)); }, list.size, one, found);
    return found[0];
  }
  // Whether an entry is named, `named` being the first name that may be it; goes on to that.
  RAYDEX_HD bool is_erased(const entry<Key, RowId>& one, std::uint64_t& named) const {
    while (named < erase.list.size && erase.list.key(named) < one.key)
      ++named;
    for (std::uint64_t i = named; i < erase.list.size && erase.list.key(i) == one.key; ++i)
      if (erase.alike(erase.list[i], one)) return true;
    return false;
  }
};

/// Measures what edits do. A thread an insertion or a name.
template <class Key, class RowId>
struct measure_chain_edits {
  chain_edits<Key, RowId> edits;  ///< the batch
  spread_count conflicts;         ///< chains that are too long count as such; 0 at first
  spread_count erased;            ///< 0 at first
  std::uint64_t* further;         ///< nodes that the chain of a thread needs beside its own
  std::uint64_t most;             ///< nodes that a chain should have at most

  /// Looks at the chain of a thread.
  RAYDEX_HD void operator()(std::uint64_t thread) const {
    further[thread] = 0;
    std::uint32_t chain;
    if (!edits.has_chain(thread, chain)) return;
    const auto all = edits.merge(chain, [](Key, RowId) {});
    erased.add(thread, all.erased);
    std::uint64_t own = 0;
    for (std::uint32_t node = chain; own == 0 || node != 0; node = *edits.view.table.link(node))
      ++own;
    const std::uint64_t needed = nodes_of<hash_nodes<Key, RowId>>(all.after);
    further[thread] = needed > own ? needed - own : 0;
    conflicts.add(thread, all.conflicts + (needed > most ? 1 : 0));
  }
};

/// Writes the chains that edits change to a copy of the table. A thread an insertion or a name.
/// Nodes that are left without entries stay linked.
template <class Key, class RowId>
struct write_chain_edits {
  using nodes = hash_nodes<Key, RowId>;  ///< of the table

  chain_edits<Key, RowId> edits;  ///< the batch
  nodes table;                    ///< the copy
  const std::uint64_t* further;  ///< nodes that threads need beside those of their chains, added up
  std::uint32_t used;            ///< nodes that the table has

  /// Writes the chain of a thread.
  RAYDEX_HD void operator()(std::uint64_t thread) const {
    std::uint32_t node;
    if (!edits.has_chain(thread, node)) return;
    auto next = static_cast<std::uint32_t>(used + (thread == 0 ? 0 : further[thread - 1]));
    unsigned slot = 0;
    edits.merge(node, [&](Key hash, RowId row) {
      if (slot == nodes::slots) {
        std::uint32_t* const link = table.link(node);
        if (*link == 0) {
          *link = next;
          *table.link(next++) = 0;
        }
        node = *link;
        slot = 0;
      }
      table.put(node, slot++, hash, row);
    });
    for (;;) {
      for (; slot < nodes::slots; ++slot)
        table.put(node, slot, nodes::never, nodes::none);
      node = *table.link(node);
      if (node == 0) return;
      slot = 0;
    }
  }
};

}  // namespace raydex::core
