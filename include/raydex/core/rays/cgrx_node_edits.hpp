// SPDX-License-Identifier: Apache-2.0
/// @file
/// How lists of nodes take a sorted batch of insertions and deletions ("More Bang For Your
/// Buck(et)", section 4). Every bucket finds its part of the batch by itself, so that none waits
/// for another, and a group of threads takes a bucket.
///
/// Beyond the paper, a group does not shift entries for one key after the other: node by node it
/// drops what is erased, merges what is inserted, and writes the result once, to as many nodes as
/// it needs. New nodes have been set aside before, by `count_new_nodes`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/rays/cgrx_node_lists.hpp"

namespace raydex::core {

/// A part of a sorted list of entries.
template <class Key, class RowId>
RAYDEX_HD inline entry_list<Key, RowId> part_of(const entry_list<Key, RowId>& list,
                                                std::uint64_t begin, std::uint64_t end) {
  return {list.keys + begin, list.row_ids + begin, end - begin};
}

/// A sorted batch, and which of it is a bucket's: entries up to the one that was its last at the
/// build, its representative. The last bucket takes what is beyond. Copies of a representative may
/// lie in several buckets; all of these erase it, and the first of them takes what is inserted.
template <class Key, class RowId>
struct node_edits {
  entry_list<Key, RowId> insert;           ///< what to insert
  entry_names<Key, RowId> erase;           ///< what to erase
  entry_list<Key, RowId> representatives;  ///< the representative of each bucket
  std::uint64_t* insert_ends;              ///< where the part of each bucket ends in `insert`
  std::uint64_t* erase_ends;               ///< the same for `erase`

  /// Writes where the parts of a bucket end.
  RAYDEX_HD void put_ends(std::uint64_t bucket) const {
    if (bucket + 1 == representatives.size) {
      insert_ends[bucket] = insert.size;
      erase_ends[bucket] = erase.list.size;
      return;
    }
    const entry<Key, RowId> last = representatives[bucket];
    insert_ends[bucket] = insert.not_above(last);
    erase_ends[bucket] = erase.not_above(last);
  }
  /// What to insert into a bucket.
  RAYDEX_HD entry_list<Key, RowId> insert_of(std::uint64_t bucket) const {
    return part_of(insert, bucket == 0 ? 0 : insert_ends[bucket - 1], insert_ends[bucket]);
  }
  /// What may be erased from a bucket.
  RAYDEX_HD entry_names<Key, RowId> erase_of(std::uint64_t bucket) const {
    std::uint64_t begin = bucket == 0 ? 0 : erase_ends[bucket - 1];
    if (begin > 0) {
      // What the bucket before ends with may go on here.
      const entry<Key, RowId> before = representatives[bucket - 1];
      if (erase.alike(erase.list[begin - 1], before)) begin = erase.below(before);
    }
    return {part_of(erase.list, begin, erase_ends[bucket]), erase.by_row};
  }
};

/// Free nodes, and which bucket gets them: a bucket gets those of consecutive tickets.
template <class RowId>
struct node_supply {
  const RowId* free_nodes;       ///< nodes that buckets freed before
  std::uint64_t free_count;      ///< how many
  RowId unused;                  ///< from this node on, none has been used yet
  const std::uint64_t* tickets;  ///< where the tickets of each bucket end
  RowId* given_back;             ///< where nodes go that are not needed any more
  std::uint64_t* back_count;     ///< how many are there

  /// The node for a ticket.
  RAYDEX_HD RowId node_for(std::uint64_t ticket) const {
    return ticket < free_count ? free_nodes[free_count - 1 - ticket]
                               : static_cast<RowId>(unused + (ticket - free_count));
  }
  /// Gives a node back.
  RAYDEX_HD void give_back(RowId node) const { given_back[add_atomically(back_count, 1)] = node; }
};

/// Lists of nodes, as batches change them.
template <class Key, class RowId>
struct node_editor {
  using header = node_header<Key, RowId>;  ///< of a node

  node_memory<Key, RowId> nodes;  ///< the nodes
  node_edits<Key, RowId> edits;   ///< the batch
  node_supply<RowId> supply;      ///< nodes to take
  spread_count erased;            ///< how many entries were erased

  /// Entries of a node after it was split, at most: there is room for a few more.
  RAYDEX_HD std::uint32_t comfortable() const { return nodes.capacity - nodes.capacity / 4; }
  /// Nodes for so many entries that were one node's.
  RAYDEX_HD std::uint64_t pieces(std::uint64_t entries) const {
    return entries <= nodes.capacity ? 1 : (entries + comfortable() - 1) / comfortable();
  }
  /// How many of a bucket's insertions go to a node: those not above its last entry, or all to the
  /// last node of a bucket.
  RAYDEX_HD std::uint64_t share_of(const node<Key, RowId>& at, const header& held,
                                   const entry_list<Key, RowId>& insert) const {
    if (insert.size == 0 || nodes.ends_bucket(held.next)) return insert.size;
    return held.size == 0 ? 0
                          : insert.not_above(entry<Key, RowId>{at.keys[held.size - 1],
                                                               at.row_ids[held.size - 1]});
  }

  /// How many nodes a bucket needs beside those that it has, at most; how many it will have; and
  /// how many of these are of more than one key.
  RAYDEX_HD std::uint64_t count_new_nodes(std::uint64_t bucket, std::uint64_t& in_all,
                                          std::uint64_t& mixed) const {
    entry_list<Key, RowId> insert = edits.insert_of(bucket);
    std::uint64_t wanted = 0;
    in_all = mixed = 0;
    if (insert.size == 0) return 0;
    for (auto number = static_cast<RowId>(bucket);;) {
      const node<Key, RowId> at = nodes[number];
      const header held = *at.header;
      const std::uint64_t share = share_of(at, held, insert);
      const std::uint64_t more = pieces(held.size + share) - 1;
      const std::uint64_t mixed_more = 1 + mixed_pieces(part_of(insert, 0, share));
      wanted += more;
      mixed += more < mixed_more ? more : mixed_more;
      mixed += held.size != 0 && at.keys[0] == held.max_key ? 0U : 1U;
      ++in_all;
      insert = part_of(insert, share, insert.size);
      if (nodes.ends_bucket(held.next)) break;
      number = held.next;
    }
    in_all += wanted;
    return wanted;
  }

  /// The most bytes that a group needs to edit a bucket.
  static constexpr std::size_t most_scratch_bytes =
      most_node_entries * (sizeof(Key) + sizeof(RowId));
  /// Bytes that it needs for nodes of this capacity.
  RAYDEX_HD std::size_t scratch_bytes() const {
    return nodes.capacity * (sizeof(Key) + sizeof(RowId));
  }

  /// Edits a bucket.
  template <merging_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t bucket) const {
    entry_list<Key, RowId> insert = edits.insert_of(bucket);
    const entry_names<Key, RowId> erase = edits.erase_of(bucket);
    if (insert.size == 0 && erase.list.size == 0) return;

    auto* kept_keys = reinterpret_cast<Key*>(scratch);
    auto* kept_rows = reinterpret_cast<RowId*>(kept_keys + nodes.capacity);
    std::uint64_t ticket = bucket == 0 ? 0 : supply.tickets[bucket - 1];
    const std::uint64_t last_ticket = supply.tickets[bucket];
    std::uint64_t gone = 0;
    RowId before = header::none;  // the node before, of the same bucket
    std::uint32_t size_before = 0;
    for (auto number = static_cast<RowId>(bucket);;) {
      const node<Key, RowId> at = nodes[number];
      const header held = *at.header;
      const std::uint64_t share = share_of(at, held, insert);
      if (share != 0 || erase.list.size != 0) {
        const std::uint32_t kept = keep(group, at, held.size, erase, kept_keys, kept_rows);
        gone += held.size - kept;
        const entry_list<Key, RowId> mine = part_of(insert, 0, share);
        const entry_list<Key, RowId> own{kept_keys, kept_rows, kept};
        const std::uint64_t size = kept + share;
        if (before != header::none && size_before + size <= comfortable()) {
          append(group, before, size_before, own, mine, held.next);
          size_before += static_cast<std::uint32_t>(size);
          if (group.lane() == 0) supply.give_back(number);
        } else {
          const std::uint64_t parts = pieces(size);
          write(group, number, own, mine, parts, ticket, held.next);
          before = parts == 1 ? number : supply.node_for(ticket + parts - 2);
          const std::uint64_t each = (size + parts - 1) / parts;
          size_before = static_cast<std::uint32_t>(size - (parts - 1) * each);
          ticket += parts - 1;
        }
        insert = part_of(insert, share, insert.size);
      } else {
        before = number;
        size_before = held.size;
      }
      if (nodes.ends_bucket(held.next)) break;
      number = held.next;
    }
    if (group.lane() != 0) return;
    for (; ticket < last_ticket; ++ticket)
      supply.give_back(supply.node_for(ticket));
    erased.add(bucket, gone);
  }

 private:
  // How many whole nodes of a list have more than one key.
  RAYDEX_HD std::uint64_t mixed_pieces(const entry_list<Key, RowId>& insert) const {
    std::uint64_t mixed = 0;
    for (std::uint64_t end = comfortable(); end <= insert.size; end += comfortable())
      mixed += insert.key(end - comfortable()) == insert.key(end - 1) ? 0U : 1U;
    return mixed;
  }
  // Copies what is not erased of a node, and returns how much that is.
  template <merging_group Group>
  RAYDEX_HD std::uint32_t keep(const Group& group, const node<Key, RowId>& at, std::uint32_t size,
                               const entry_names<Key, RowId>& erase, Key* keys,
                               RowId* row_ids) const {
    group.sync();  // with what was read of the node before
    std::uint32_t kept = 0;
    for (std::uint32_t begin = 0; begin < size; begin += group.lanes()) {
      const std::uint32_t i = begin + group.lane();
      const bool exists = i < size;
      const entry<Key, RowId> one =
          exists ? entry<Key, RowId>{at.keys[i], at.row_ids[i]} : entry<Key, RowId>{};
      const bool stays = exists && !erase.has(one);
      std::uint32_t total = 0;
      const std::uint32_t to = kept + group.count_before(stays, total);
      if (stays) {
        keys[to] = one.key;
        row_ids[to] = one.row;
      }
      kept += total;
    }
    group.sync();
    return kept;
  }

  // Calls put(i, entry) for the i-th of two merged lists, `own` of this group's memory.
  template <merging_group Group, class Put>
  RAYDEX_HD static void merge(const Group& group, const entry_list<Key, RowId>& own,
                              const entry_list<Key, RowId>& insert, const Put& put) {
    const auto own_at = [&](std::uint64_t i) {
      return entry<Key, RowId>{own.keys[i], own.row_ids[i]};
    };
    for (std::uint64_t i = group.lane(); i < own.size; i += group.lanes())
      put(i + insert.below(own_at(i)), own_at(i));
    for (std::uint64_t j = group.lane(); j < insert.size; j += group.lanes()) {
      const entry<Key, RowId> one[1] = {insert[j]};
      std::uint64_t below[1];
      lower_bounds(own_at, own.size, one, below);
      // Of equal entries those of the node come first.
      while (below[0] < own.size && own_at(below[0]) == one[0])
        ++below[0];
      put(j + below[0], one[0]);
    }
  }

  // Adds merged lists to the end of a node, which leads to `next` then.
  template <merging_group Group>
  RAYDEX_HD void append(const Group& group, RowId number, std::uint32_t size,
                        const entry_list<Key, RowId>& own, const entry_list<Key, RowId>& insert,
                        RowId next) const {
    const node<Key, RowId> to = nodes[number];
    const std::uint64_t added = own.size + insert.size;
    merge(group, own, insert, [&](std::uint64_t i, const entry<Key, RowId>& one) {
      to.keys[size + i] = one.key;
      to.row_ids[size + i] = one.row;
      if (i + 1 == added) to.header->max_key = one.key;
    });
    if (group.lane() == 0) {
      to.header->next = next;
      to.header->size = size + static_cast<std::uint32_t>(added);
    }
    group.sync();
  }

  // Writes merged lists to a node and to those of the tickets from one on, about equally many
  // entries to each. The last of them leads to `next`.
  template <merging_group Group>
  RAYDEX_HD void write(const Group& group, RowId number, const entry_list<Key, RowId>& own,
                       const entry_list<Key, RowId>& insert, std::uint64_t parts,
                       std::uint64_t ticket, RowId next) const {
    const std::uint64_t size = own.size + insert.size;
    const auto each = static_cast<std::uint32_t>((size + parts - 1) / parts);
    const auto part = [&](std::uint64_t p) {
      return p == 0 ? number : supply.node_for(ticket + p - 1);
    };
    merge(group, own, insert, [&](std::uint64_t i, const entry<Key, RowId>& one) {
      const std::uint64_t p = parts == 1 ? 0 : i / each;
      const node<Key, RowId> to = nodes[part(p)];
      const auto slot = static_cast<std::uint32_t>(i - p * each);
      to.keys[slot] = one.key;
      to.row_ids[slot] = one.row;
      if (slot + 1 == each || i + 1 == size) to.header->max_key = one.key;
    });
    for (std::uint64_t p = group.lane(); p < parts; p += group.lanes()) {
      header* held = nodes[part(p)].header;
      held->next = p + 1 < parts ? part(p + 1) : next;
      held->size = p + 1 < parts ? each : static_cast<std::uint32_t>(size - (parts - 1) * each);
    }
    group.sync();
  }
};

/// Fills the first node of each bucket with its part of a sorted list, which is divided evenly.
template <class Key, class RowId>
struct fill_node {
  node_memory<Key, RowId> nodes;  ///< the nodes
  entry_list<Key, RowId> list;    ///< what to fill them with
  std::uint64_t bucket_size;      ///< entries of a bucket; the last one has what is left
  RowId* last_rows;               ///< where the row id of each bucket's last entry goes

  static constexpr std::size_t most_scratch_bytes = 0;  ///< nothing but registers
  /// The same.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }
  /// Fills a node.
  template <merging_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/,
                            std::uint64_t bucket) const {
    const std::uint64_t begin = bucket * bucket_size;
    const std::uint64_t left = list.size - begin;
    const auto size = static_cast<std::uint32_t>(left < bucket_size ? left : bucket_size);
    const node<Key, RowId> to = nodes[static_cast<RowId>(bucket)];
    for (std::uint32_t i = group.lane(); i < size; i += group.lanes()) {
      const entry<Key, RowId> one = list[begin + i];
      to.keys[i] = one.key;
      to.row_ids[i] = one.row;
    }
    if (group.lane() != 0) return;
    const entry<Key, RowId> last = list[begin + size - 1];
    const bool ends = bucket + 1 == nodes.buckets;
    *to.header = {last.key, ends ? node_header<Key, RowId>::none : static_cast<RowId>(bucket + 1),
                  size};
    last_rows[bucket] = last.row;
  }
};

/// Counts the entries of a bucket.
template <class Key, class RowId>
struct count_bucket {
  node_memory<Key, RowId> nodes;  ///< the nodes
  std::uint64_t* counts;          ///< a number a bucket

  /// Counts those of a bucket.
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    std::uint64_t count = 0;
    for (auto number = static_cast<RowId>(bucket);;) {
      const node_header<Key, RowId> held = *nodes[number].header;
      count += held.size;
      if (nodes.ends_bucket(held.next)) break;
      number = held.next;
    }
    counts[bucket] = count;
  }
};

/// Copies the entries of buckets to a sorted column.
template <class Key, class RowId>
struct copy_bucket {
  node_memory<Key, RowId> nodes;  ///< the nodes
  const std::uint64_t* ends;      ///< where each bucket ends in the column
  Key* keys;                      ///< the keys of the column
  RowId* row_ids;                 ///< its row ids

  static constexpr std::size_t most_scratch_bytes = 0;  ///< nothing but registers
  /// The same.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }
  /// Copies a bucket.
  template <merging_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/,
                            std::uint64_t bucket) const {
    std::uint64_t to = bucket == 0 ? 0 : ends[bucket - 1];
    for (auto number = static_cast<RowId>(bucket);;) {
      const node<Key, RowId> at = nodes[number];
      const node_header<Key, RowId> held = *at.header;
      for (std::uint32_t i = group.lane(); i < held.size; i += group.lanes()) {
        keys[to + i] = at.keys[i];
        row_ids[to + i] = at.row_ids[i];
      }
      to += held.size;
      if (nodes.ends_bucket(held.next)) break;
      number = held.next;
    }
  }
};

}  // namespace raydex::core
