// SPDX-License-Identifier: Apache-2.0
/// @file
/// Buckets as lists of nodes, so that entries can be inserted and erased where they are ("More Bang
/// For Your Buck(et)", section 4).
///
/// A node has room for so many entries, in ascending order. The first node of each bucket lies in
/// the *representative region*, at the number of its bucket; nodes that are added to it lie in the
/// *linked region*, which grows by chunks. Beyond the paper, the last node of a bucket leads to the
/// first one of the next bucket, so that ranges go from node to node to their end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/rays/cgrx.hpp"
#include "raydex/core/rays/traced.hpp"

namespace raydex::core {

/// Entries that a node has room for, at most.
inline constexpr unsigned most_node_entries = 256;

/// What a node says of itself.
template <class Key, class RowId>
struct alignas(16) node_header {
  Key max_key;         ///< its largest key; meaningless where it is empty
  RowId next;          ///< the node after it, or `none`
  std::uint32_t size;  ///< its entries

  static constexpr RowId none = static_cast<RowId>(-1);  ///< no node
};

/// A node in memory.
template <class Key, class RowId>
struct node {
  node_header<Key, RowId>* header;  ///< its header
  Key* keys;                        ///< room for its keys
  RowId* row_ids;                   ///< room for their row ids
};

/// Where nodes lie. It does not own them.
template <class Key, class RowId>
struct node_memory {
  std::uint32_t capacity = 0;          ///< entries that a node has room for, an even number
  RowId buckets = 0;                   ///< nodes of the representative region
  unsigned chunk_bits = 0;             ///< a chunk of the linked region has 2^chunk_bits nodes
  std::byte* first = nullptr;          ///< the representative region
  std::byte* const* chunks = nullptr;  ///< the chunks of the linked region

  /// Bytes of a node of so many entries: whole sectors of 32 bytes.
  RAYDEX_HD static constexpr std::size_t bytes_of(std::uint64_t capacity) {
    const std::size_t bytes =
        sizeof(node_header<Key, RowId>) + capacity * (sizeof(Key) + sizeof(RowId));
    return (bytes + 31) / 32 * 32;
  }
  /// The node of a number: a bucket, or `buckets` and more for the linked region.
  RAYDEX_HD node<Key, RowId> operator[](RowId number) const {
    const std::size_t bytes = bytes_of(capacity);
    std::byte* at = nullptr;
    if (number < buckets) {
      at = first + number * bytes;
    } else {
      const RowId linked = number - buckets;
      const RowId in_chunk = linked & ((RowId{1} << chunk_bits) - 1);
      at = chunks[linked >> chunk_bits] + in_chunk * bytes;
    }
    auto* header = reinterpret_cast<node_header<Key, RowId>*>(at);
    auto* keys = reinterpret_cast<Key*>(header + 1);
    return {header, keys, reinterpret_cast<RowId*>(keys + capacity)};
  }
  /// Whether a node that leads to `next` is the last one of its bucket.
  RAYDEX_HD bool ends_bucket(RowId next) const {
    return next < buckets || next == node_header<Key, RowId>::none;
  }
};

/// Nodes as queries see them. A position is a node and a slot of it; ranks `[begin, end)` are as
/// many entries from position `begin` on as the two differ by.
template <class Key, class RowId>
class node_lists_view {
 public:
  using key_type = Key;                 ///< an encoded key
  using row_id_type = RowId;            ///< a row id
  using position_type = std::uint64_t;  ///< where an entry is

  node_lists_view() = default;
  /// Nodes, what their buckets' largest keys were at the build, and how many entries there are.
  RAYDEX_HD node_lists_view(const node_memory<Key, RowId>& nodes, const Key* representatives,
                            std::uint64_t size, bool linear_search)
      : nodes_(nodes),
        representatives_(representatives),
        size_(size),
        linear_search_(linear_search) {}

  /// How many entries there are.
  RAYDEX_HD std::uint64_t size() const { return size_; }
  /// The row id at a position.
  RAYDEX_HD RowId row_id(position_type at) const {
    return load(nodes_[node_of(at)].row_ids + slot_of(at));
  }

  /// The entries [begin, end) of a lookup, or only the first of them, in the bucket of a number and
  /// what follows it.
  RAYDEX_HD void find(RowId number, interval<Key> wanted, bool first_only, position_type& begin,
                      position_type& end) const {
    begin = end = 0;
    node<Key, RowId> at = nodes_[number];
    node_header<Key, RowId> header = load_header(at);
    while (header.size == 0 || header.max_key < wanted.lower) {
      if (!go_on(header, wanted.upper, number, at)) return;
      header = load_header(at);
    }
    std::uint32_t slot = search(at.keys, header.size, wanted.lower);
    begin = end = position_of(number, slot);
    if (first_only) {
      if (!(wanted.upper < load(at.keys + slot))) ++end;
      return;
    }
    while (header.size == 0 || !(wanted.upper < header.max_key)) {
      end += header.size - slot;
      slot = 0;
      if (!go_on(header, wanted.upper, number, at)) return;
      header = load_header(at);
    }
    const auto key_at = [&](std::uint32_t i) { return load(at.keys + i); };
    end += gallop_past(key_at, slot, header.size, wanted.upper) - slot;
  }

  /// Calls `visit(k, row_id)` for this lane's share of the entries of ranks `[begin, end)`, k being
  /// counted from 0.
  template <class Visit>
  RAYDEX_HD void scan(position_type begin, position_type end, unsigned lane, unsigned lanes,
                      Visit&& visit) const {
    std::uint64_t left = end - begin;
    std::uint64_t done = 0;
    RowId number = node_of(begin);
    std::uint32_t slot = slot_of(begin);
    std::uint64_t own = lane;  // the next entry of this lane
    while (left != 0) {
      const node<Key, RowId> at = nodes_[number];
      const node_header<Key, RowId> header = load_header(at);
      const std::uint64_t rest = header.size - slot;
      const std::uint64_t taken = rest < left ? rest : left;
      for (; own < done + taken; own += lanes)
        visit(own, load(at.row_ids + slot + (own - done)));
      done += taken;
      left -= taken;
      number = header.next;
      slot = 0;
    }
  }

 private:
  static constexpr unsigned slot_bits = 16;
  RAYDEX_HD static position_type position_of(RowId number, std::uint32_t slot) {
    return position_type{number} << slot_bits | slot;
  }
  RAYDEX_HD static RowId node_of(position_type at) { return static_cast<RowId>(at >> slot_bits); }
  RAYDEX_HD static std::uint32_t slot_of(position_type at) {
    return static_cast<std::uint32_t>(at & ((1U << slot_bits) - 1));
  }
  RAYDEX_HD static node_header<Key, RowId> load_header(const node<Key, RowId>& one) {
    return *one.header;
  }

  // Goes on to the next node, unless no key that is wanted can lie there: beyond the last node of a
  // bucket are larger keys than its representative, or equal ones.
  RAYDEX_HD bool go_on(const node_header<Key, RowId>& from, Key upper, RowId& number,
                       node<Key, RowId>& at) const {
    if (from.next == node_header<Key, RowId>::none) return false;
    if (from.next < nodes_.buckets && upper < load(representatives_ + (from.next - 1)))
      return false;
    number = from.next;
    at = nodes_[number];
    return true;
  }

  RAYDEX_HD std::uint32_t search(const Key* keys, std::uint32_t size, Key wanted) const {
    if (linear_search_) {
      std::uint32_t slot = 0;
      while (slot < size && load(keys + slot) < wanted)
        ++slot;
      return slot;
    }
    const Key one[1] = {wanted};
    std::uint32_t slot[1];
    lower_bounds([&](std::uint32_t i) { return load(keys + i); }, size, one, slot);
    return slot[0];
  }

  node_memory<Key, RowId> nodes_;
  const Key* representatives_ = nullptr;
  std::uint64_t size_ = 0;
  bool linear_search_ = false;
};

/// What traced lookups stand for where entries lie in nodes.
template <class Key, class RowId>
struct entries_of_nodes {
  using position_type = std::uint64_t;  ///< where an entry is

  cgrx_scene<Key, RowId> scene;      ///< the representatives
  node_lists_view<Key, RowId> view;  ///< the nodes

  /// The entries [begin, end) of a lookup, or only the first of them.
  RAYDEX_HD void settle(const traced<RowId>& found, interval<Key> wanted, bool /*is_point*/,
                        bool first_only, position_type& begin, position_type& end) const {
    begin = end = 0;
    if (found.first != traced<RowId>::none)
      view.find(scene.checked(found.first, wanted.lower), wanted, first_only, begin, end);
  }
  /// The row id of an entry.
  RAYDEX_HD RowId row_id(position_type at) const { return view.row_id(at); }
};

}  // namespace raydex::core
