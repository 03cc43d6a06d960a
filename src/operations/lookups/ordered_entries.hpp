// SPDX-License-Identifier: Apache-2.0
// The entries of the ordered structures in memory, in any layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "raydex/memory.hpp"
#include "raydex/options.hpp"
#include "src/operations/lookups/kept_entries.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/lookups/spread_counts.hpp"

namespace raydex {

// Writes entries into an array each.
template <class Key, class RowId>
struct put_columns {
  Key* keys;
  RowId* row_ids;
  RAYDEX_HD void operator()(std::uint64_t i, Key key, RowId row) const {
    keys[i] = key;
    row_ids[i] = row;
  }
};

// Writes their keys alone.
template <class Key, class RowId>
struct put_keys {
  Key* keys;
  RAYDEX_HD void operator()(std::uint64_t i, Key key, RowId /*row*/) const { keys[i] = key; }
};

// Writes packed entries.
template <class Key, class RowId>
struct put_rows {
  std::uint32_t* words;
  RAYDEX_HD void operator()(std::uint64_t i, Key key, RowId row) const {
    core::row_entries<Key, RowId>::put(words, i, key, row);
  }
};

// Copies ascending entries; those from `size` on are padding that no search takes for a match.
template <class Sorted, class Put>
struct copy_entries {
  Sorted sorted;
  std::uint64_t size;
  Put put;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    using key = typename Sorted::key_type;
    using row_id = typename Sorted::row_id_type;
    const auto at = static_cast<row_id>(i);
    if (i < size) {
      put(i, sorted.key(at), sorted.row_id(at));
    } else {
      put(i, static_cast<key>(-1), static_cast<row_id>(-1));
    }
  }
};

// Writes the codes of a sorted column, and behind them the largest one up to the end of a leaf.
template <class Key>
struct put_leaves {
  core::encoded_column<Key> from;
  std::uint64_t size;
  Key* out;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = i < size ? from[i] : static_cast<Key>(-1);
  }
};

// The same of a column that may not be sorted: counts the keys below the one before them.
template <class Key>
struct put_ascending {
  put_leaves<Key> leaves;
  core::spread_count descents;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    leaves(i);
    if (i == 0 || i >= leaves.size) return;
    descents.add(i, leaves.from[i] < leaves.from[i - 1] ? 1 : 0);
  }
};

// Counts row ids that are not the ranks of their entries.
template <class RowId>
struct count_other_rows {
  const RowId* row_ids;
  core::spread_count others;

  RAYDEX_HD void operator()(std::uint64_t rank) const {
    others.add(rank, row_ids[rank] == rank ? 0 : 1);
  }
};

// Writes ranks as row ids.
template <class RowId>
struct put_ranks {
  RowId* row_ids;
  RAYDEX_HD void operator()(std::uint64_t rank) const { row_ids[rank] = static_cast<RowId>(rank); }
};

// Owns entries in a layout.
template <class Key, class RowId, layout Layout>
class entry_buffer;

template <class Key, class RowId>
class entry_buffer<Key, RowId, layout::column> {
 public:
  entry_buffer() = default;
  entry_buffer(const context& on, std::uint64_t size) : keys_(on, size), rows_(on, size) {}
  explicit entry_buffer(sorted_column<Key, RowId>&& sorted)
      : keys_(std::move(sorted.keys)), rows_(std::move(sorted.row_ids)) {}

  put_columns<Key, RowId> put() { return {keys_.data(), rows_.data()}; }
  entry_storage storage() const { return {keys_.data(), rows_.data(), layout::column}; }
  template <class Executor>
  void keep(const context& own, kept_memory& file, std::uint64_t size) {
    file.array<Executor>("keys", own, keys_, size);
    file.array<Executor>("row ids", own, rows_, size);
  }

 private:
  buffer<Key> keys_;
  buffer<RowId> rows_;
};

template <class Key, class RowId>
class entry_buffer<Key, RowId, layout::row> {
 public:
  entry_buffer() = default;
  entry_buffer(const context& on, std::uint64_t size)
      : words_(on, size * core::row_entries<Key, RowId>::words_per_entry) {}
  explicit entry_buffer(sorted_rows<Key, RowId>&& sorted) : words_(std::move(sorted.words)) {}

  put_rows<Key, RowId> put() { return {words_.data()}; }
  entry_storage storage() const { return {words_.data(), nullptr, layout::row}; }
  template <class Executor>
  void keep(const context& own, kept_memory& file, std::uint64_t size) {
    file.array<Executor>("entries", own, words_,
                         size * core::row_entries<Key, RowId>::words_per_entry);
  }

 private:
  buffer<std::uint32_t> words_;
};

template <class Key, class RowId>
class entry_buffer<Key, RowId, layout::keys> {
 public:
  entry_buffer() = default;
  entry_buffer(const context& on, std::uint64_t size) : keys_(on, size) {}

  put_keys<Key, RowId> put() { return {keys_.data()}; }
  entry_storage storage() const { return {keys_.data(), nullptr, layout::keys}; }
  template <class Executor>
  void keep(const context& own, kept_memory& file, std::uint64_t size) {
    file.array<Executor>("keys", own, keys_, size);
  }

 private:
  buffer<Key> keys_;
};

// Entries of a layout as they lie there; of layout::keys there are no row ids.
template <class Key, class RowId>
core::strided_list<Key, RowId> list_of(const entry_storage& storage, std::uint64_t size) {
  if (storage.entries == layout::column) return {{storage.keys}, {storage.row_ids}, size};
  constexpr std::uint32_t step = 4 * core::row_entries<Key, RowId>::words_per_entry;
  const auto* const first = static_cast<const std::byte*>(storage.keys);
  return {{first, step}, {first + (size != 0 ? sizeof(Key) : 0), step}, size};
}

// Ascending entries in a layout, padded to a multiple of `multiple`. Takes the sorted column over
// where it is what is wanted, and frees it if not.
template <layout Layout, class Executor, class Key, class RowId>
entry_buffer<Key, RowId, Layout> lay_out(const context& on, sorted_column<Key, RowId>&& sorted,
                                         std::uint64_t multiple) {
  const std::uint64_t size = sorted.keys.size();
  const std::uint64_t padded = (size + multiple - 1) / multiple * multiple;
  if constexpr (Layout == layout::column) {
    if (padded == size) return entry_buffer<Key, RowId, Layout>(std::move(sorted));
  }
  entry_buffer<Key, RowId, Layout> entries(on, padded);
  const core::column_entries<Key, RowId> from{sorted.keys.data(), sorted.row_ids.data()};
  const auto put = entries.put();
  Executor::for_each(
      on,
      copy_entries<core::column_entries<Key, RowId>, std::remove_const_t<decltype(put)>>{from, size,
                                                                                         put},
      padded);
  sorted = {};
  return entries;
}

}  // namespace raydex
