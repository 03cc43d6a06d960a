// SPDX-License-Identifier: Apache-2.0
/// @file
/// How pages of a `btree` are filled, and how they take a sorted batch of insertions and deletions.
///
/// Two neighbours in the order of keys, a *pair*, find their part of the batch by themselves. What
/// is left and added is divided evenly among as many pages as it needs: none, one where that is
/// enough, as many as before, or more. Every new page is written by a group of threads of its own,
/// so that a batch that meets one pair alone keeps a device as busy as one that meets all.
///
/// No page that is in use is written to: new ones take their place, in free pages or in new memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/lookups/btree.hpp"

namespace raydex::core {

/// Pages to write to, or a column of all entries. It does not own them.
template <class Key, class RowId>
struct page_writer {
  Key* pivots;             ///< a line of each page; the keys of the column
  std::uint32_t* words;    ///< the entries; the row ids of the column
  bool as_column = false;  ///< whether there is a column, in which pages begin at their ranks

  /// Writes an entry of a page that gets `size` of them, and the pivot that it is.
  RAYDEX_HD void put(std::uint64_t page, unsigned slot, unsigned size,
                     const entry<Key, RowId>& one) const {
    if (as_column) {
      pivots[page + slot] = one.key;
      reinterpret_cast<RowId*>(words)[page + slot] = one.row;
      return;
    }
    row_entries<Key, RowId>::put(words, page * page_capacity<Key> + slot, one.key, one.row);
    if (slot % line_entries == line_entries - 1 && slot + 1 < size)
      pivots[page * line_pivots<Key> + slot / line_entries] = one.key;
  }
  /// Writes what pads the last leaf, and the pivots that no search passes.
  template <group Group>
  RAYDEX_HD void pad(const Group& group, std::uint64_t page, unsigned size) const {
    if (as_column) return;
    const unsigned leaves = (size + line_entries - 1) / line_entries;
    for (unsigned slot = size + group.lane(); slot < leaves * line_entries; slot += group.lanes()) {
      row_entries<Key, RowId>::put(words, page * page_capacity<Key> + slot, static_cast<Key>(-1),
                                   static_cast<RowId>(-1));
    }
    for (unsigned i = leaves - 1 + group.lane(); i < line_pivots<Key>; i += group.lanes())
      pivots[page * line_pivots<Key> + i] = static_cast<Key>(-1);
  }
};

/// Fills pages with a sorted list, the same number of entries each but the last.
template <class Key, class RowId>
struct fill_page {
  entry_list<Key, RowId> list;  ///< what to fill them with
  std::uint64_t each;           ///< entries of a page
  page_writer<Key, RowId> to;   ///< the pages
  RowId* first_ranks;           ///< where the rank of each page's first entry goes, and of the end

  static constexpr std::size_t most_scratch_bytes = 0;  ///< nothing but registers
  /// The same.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }
  /// Fills a page.
  template <group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t page) const {
    const std::uint64_t begin = page * each;
    const std::uint64_t left = list.size - begin;
    const auto size = static_cast<unsigned>(left < each ? left : each);
    for (unsigned slot = group.lane(); slot < size; slot += group.lanes())
      to.put(page, slot, size, list[begin + slot]);
    to.pad(group, page, size);
    if (group.lane() != 0) return;
    first_ranks[page] = static_cast<RowId>(begin);
    if (begin + size == list.size) first_ranks[page + 1] = static_cast<RowId>(list.size);
  }
};

/// A sorted batch and the pages that it meets, pair by pair. The numbers of pairs are to become
/// sums over the pairs up to each once `plan_pair` has written them.
template <class Key, class RowId>
struct page_edits {
  btree_pages<Key, RowId> pages;  ///< as they are
  entry_list<Key, RowId> insert;  ///< what to insert
  entry_names<Key, RowId> erase;  ///< what to erase
  unsigned comfortable;           ///< entries of a page that was split or put together, at most

  std::uint64_t* insert_ends;   ///< where the part of each pair ends in `insert`
  std::uint64_t* erase_begins;  ///< where its part begins in `erase`
  std::uint64_t* erase_ends;    ///< where that ends
  std::uint64_t* entries;       ///< entries that each pair will have
  std::uint64_t* made;          ///< pages that it will have
  std::uint64_t* written;       ///< the same if the batch changes it, or 0
  std::uint64_t* freed;         ///< pages that it has if the batch changes it, or 0

  /// Pairs; the last one may be of one page.
  RAYDEX_HD std::uint64_t pairs() const { return (std::uint64_t{pages.count} + 1) / 2; }
  /// The first page of a pair, in the order of keys.
  RAYDEX_HD static RowId first_of(std::uint64_t pair) { return static_cast<RowId>(2 * pair); }
  /// How many it has.
  RAYDEX_HD unsigned pages_of(std::uint64_t pair) const {
    return pages.count - first_of(pair) < 2 ? 1 : 2;
  }

  /// Writes which parts of the batch may be a pair's. What is inserted goes to the pair that has
  /// the first entry that is not below it, or to the last one.
  RAYDEX_HD void find_parts(std::uint64_t pair) const {
    const RowId last_page = first_of(pair) + (pages_of(pair) - 1);
    const entry<Key, RowId> first = pages.at(first_of(pair), 0);
    const entry<Key, RowId> last = pages.at(last_page, pages.size(last_page) - 1);
    insert_ends[pair] = pair + 1 == pairs() ? insert.size : insert.not_above(last);
    erase_begins[pair] = erase.below(first);
    erase_ends[pair] = erase.not_above(last);
  }
  /// What to insert into a pair.
  RAYDEX_HD entry_list<Key, RowId> insert_of(std::uint64_t pair) const {
    return part(insert, before(insert_ends, pair), insert_ends[pair]);
  }
  /// What may be erased from it.
  RAYDEX_HD entry_names<Key, RowId> erase_of(std::uint64_t pair) const {
    return {part(erase.list, erase_begins[pair], erase_ends[pair]), erase.by_row};
  }
  /// The sum over the pairs before one.
  RAYDEX_HD static std::uint64_t before(const std::uint64_t* sums, std::uint64_t pair) {
    return pair == 0 ? 0 : sums[pair - 1];
  }
  /// Whether the batch changes a pair.
  RAYDEX_HD bool changes(std::uint64_t pair) const { return freed[pair] != before(freed, pair); }

  /// Calls `keep(entry)` in each thread of a group for the entries of a pair, in turns, with
  /// whether the thread has one that is not erased.
  template <group Group, class Keep>
  RAYDEX_HD void for_kept(const Group& group, std::uint64_t pair, const Keep& keep) const {
    const entry_names<Key, RowId> names = erase_of(pair);
    for (unsigned p = 0; p < pages_of(pair); ++p) {
      const RowId page = first_of(pair) + p;
      const RowId size = pages.size(page);
      for (RowId begin = 0; begin < size; begin += group.lanes()) {
        const RowId slot = begin + group.lane();
        const bool exists = slot < size;
        const entry<Key, RowId> one = exists ? pages.at(page, slot) : entry<Key, RowId>{};
        keep(one, exists && !names.has(one));
      }
    }
  }

 private:
  RAYDEX_HD static entry_list<Key, RowId> part(const entry_list<Key, RowId>& list,
                                               std::uint64_t begin, std::uint64_t end) {
    return {list.keys + begin, list.row_ids + begin, end - begin};
  }
};

/// Finds the parts of each pair.
template <class Key, class RowId>
struct find_pair_parts {
  page_edits<Key, RowId> edits;  ///< where to write them

  /// Finds those of a pair.
  RAYDEX_HD void operator()(std::uint64_t pair) const { edits.find_parts(pair); }
};

/// Writes what becomes of each pair.
template <class Key, class RowId>
struct plan_pair {
  page_edits<Key, RowId> edits;  ///< where to write it

  static constexpr std::size_t most_scratch_bytes = 0;  ///< nothing but registers
  /// The same.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }
  /// Plans a pair.
  template <merging_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t pair) const {
    const btree_pages<Key, RowId>& pages = edits.pages;
    const unsigned had = edits.pages_of(pair);
    const RowId first = edits.first_of(pair);
    const std::uint64_t before = pages.first_rank(first + had) - pages.first_rank(first);
    std::uint64_t kept = before;
    if (edits.erase_ends[pair] > edits.erase_begins[pair]) {
      kept = 0;
      edits.for_kept(group, pair, [&](const entry<Key, RowId>&, bool stays) {
        unsigned staying = 0;
        group.count_before(stays, staying);
        kept += staying;
      });
    }
    if (group.lane() != 0) return;
    const std::uint64_t inserted = edits.insert_of(pair).size;
    const std::uint64_t size = kept + inserted;
    const bool changes = inserted != 0 || kept != before;
    const std::uint64_t pieces = changes ? pages_for(size, had) : had;
    edits.entries[pair] = size;
    edits.made[pair] = pieces;
    edits.written[pair] = changes ? pieces : 0;
    edits.freed[pair] = changes ? had : 0;
  }

 private:
  // So many as there were, unless they are too few, or one is enough.
  RAYDEX_HD std::uint64_t pages_for(std::uint64_t size, unsigned had) const {
    if (size <= edits.comfortable) return size == 0 ? 0 : 1;
    if (size <= std::uint64_t{had} * page_capacity<Key>) return had;
    return (size + (edits.comfortable - 1)) / edits.comfortable;
  }
};

/// Pages that are free in memory.
template <class RowId>
struct free_pages {
  const RowId* list = nullptr;  ///< those that were used before
  std::uint64_t count = 0;      ///< how many
  std::uint64_t unused = 0;     ///< from this page on, none has been used yet

  /// The page that a ticket stands for.
  RAYDEX_HD std::uint64_t page_for(std::uint64_t ticket) const {
    return ticket < count ? list[count - 1 - ticket] : unused + (ticket - count);
  }
};

/// Writes the pages after a batch, and where they are. Runs for each of them, in the order of keys.
template <class Key, class RowId>
struct write_page {
  page_edits<Key, RowId> edits;  ///< the batch
  std::uint64_t pages;           ///< how many there will be
  page_writer<Key, RowId> to;    ///< where pages are written
  free_pages<RowId> free;        ///< which ones, unless all are
  RowId* order;                  ///< where each page is; null: all are written, in their order
  RowId* first_ranks;            ///< the rank of each page's first entry, and of the end

  static constexpr unsigned most_entries = 2 * page_capacity<Key>;  ///< of a pair
  /// Room for the entries of a pair.
  static constexpr std::size_t most_scratch_bytes = most_entries * (sizeof(Key) + sizeof(RowId));
  /// The same.
  RAYDEX_HD static std::size_t scratch_bytes() { return most_scratch_bytes; }

  /// Writes a page.
  template <merging_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t page) const {
    const std::uint64_t pair = pair_of(page);
    const std::uint64_t part = page - edits.before(edits.made, pair);
    const std::uint64_t parts = edits.made[pair] - edits.before(edits.made, pair);
    const std::uint64_t rank = edits.before(edits.entries, pair);
    const std::uint64_t size = edits.entries[pair] - rank;
    if (order != nullptr && !edits.changes(pair)) {
      if (group.lane() != 0) return;
      const RowId same = edits.first_of(pair) + static_cast<RowId>(part);
      const std::uint64_t skipped =
          edits.pages.first_rank(same) - edits.pages.first_rank(edits.first_of(pair));
      order[page] = edits.pages.place(same);
      put_rank(page, rank + skipped, edits.pages.size(same));
      return;
    }
    const std::uint64_t each = (size + parts - 1) / parts;
    const std::uint64_t begin = part * each;
    const std::uint64_t end = begin + each < size ? begin + each : size;
    std::uint64_t place = to.as_column ? rank + begin : page;
    if (order != nullptr) place = free.page_for(edits.before(edits.written, pair) + part);
    if (group.lane() == 0) {
      if (order != nullptr) order[page] = static_cast<RowId>(place);
      put_rank(page, rank + begin, end - begin);
    }
    merge(group, scratch, pair, begin, end, place);
    to.pad(group, place, static_cast<unsigned>(end - begin));
  }

 private:
  // The pair that a page after the batch comes from: near where it would be if all pairs became
  // equally many pages.
  RAYDEX_HD std::uint64_t pair_of(std::uint64_t page) const {
    const std::uint64_t pairs = edits.pairs();
    const auto guess = static_cast<std::uint64_t>(
        static_cast<double>(page) * static_cast<double>(pairs) / static_cast<double>(pages));
    return lower_bound_near([this](std::uint64_t i) { return edits.made[i]; }, pairs, guess,
                            std::uint64_t{1}, page + 1);
  }
  // The last page also has the rank of the end.
  RAYDEX_HD void put_rank(std::uint64_t page, std::uint64_t rank, std::uint64_t size) const {
    first_ranks[page] = static_cast<RowId>(rank);
    if (page + 1 == pages) first_ranks[page + 1] = static_cast<RowId>(rank + size);
  }

  // Writes the entries [begin, end) of a pair after the batch.
  template <merging_group Group>
  RAYDEX_HD void merge(const Group& group, std::byte* scratch, std::uint64_t pair,
                       std::uint64_t begin, std::uint64_t end, std::uint64_t place) const {
    auto* const keys = reinterpret_cast<Key*>(scratch);
    auto* const row_ids = reinterpret_cast<RowId*>(keys + most_entries);
    unsigned kept = 0;
    edits.for_kept(group, pair, [&](const entry<Key, RowId>& one, bool stays) {
      unsigned total = 0;
      const unsigned slot = kept + group.count_before(stays, total);
      if (stays) {
        keys[slot] = one.key;
        row_ids[slot] = one.row;
      }
      kept += total;
    });
    group.sync();
    const auto own_at = [&](unsigned i) { return entry<Key, RowId>{keys[i], row_ids[i]}; };
    const entry_list<Key, RowId> insert = edits.insert_of(pair);
    const auto size = static_cast<unsigned>(end - begin);
    for (unsigned i = group.lane(); i < kept; i += group.lanes()) {
      const std::uint64_t at = i + insert.below(own_at(i));
      if (at >= begin && at < end) {
        to.put(place, static_cast<unsigned>(at - begin), size, own_at(i));
      }
    }
    // Of equal entries those of the pair come first.
    const auto after_own = [&](std::uint64_t j) {
      const entry<Key, RowId> one = insert[j];
      const entry<Key, RowId> above[1] = {{one.key, static_cast<RowId>(one.row + 1)}};
      unsigned own[1];
      lower_bounds(own_at, kept, above, own);
      return j + own[0];
    };
    const std::uint64_t wanted[1] = {begin};
    std::uint64_t first[1];
    lower_bounds(after_own, insert.size, wanted, first);
    for (std::uint64_t j = first[0] + group.lane(); j < insert.size; j += group.lanes()) {
      const std::uint64_t at = after_own(j);
      if (at >= end) break;
      to.put(place, static_cast<unsigned>(at - begin), size, insert[j]);
    }
  }
};

/// Lists the pages that a batch has freed.
template <class Key, class RowId>
struct list_freed {
  page_edits<Key, RowId> edits;  ///< the batch
  RowId* to;                     ///< where to

  /// Lists those of a pair.
  RAYDEX_HD void operator()(std::uint64_t pair) const {
    if (!edits.changes(pair)) return;
    const std::uint64_t before = edits.before(edits.freed, pair);
    for (unsigned p = 0; p < edits.pages_of(pair); ++p)
      to[before + p] = edits.pages.place(edits.first_of(pair) + p);
  }
};

}  // namespace raydex::core
