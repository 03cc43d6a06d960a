// SPDX-License-Identifier: Apache-2.0
// A column made ready for an ordered structure. Each backend offers `sort_column`.
#pragma once

#include <cstdint>
#include <optional>

#include "raydex/column.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

// Two arrays that a sort moves its elements between.
template <class T>
struct double_buffer {
  buffer<T> current;  // the elements
  buffer<T> other;    // as large, with arbitrary contents, once there is a sort

  double_buffer(const context& on, std::uint64_t size) : current(on, size) {}
  void make_room(const context& on) {
    if (other.size() != current.size()) other = {on, current.size()};
  }
};

// The bits [first, last) of keys.
struct bit_range {
  int first = 0;
  int last = 64;  // or the width of the keys
};

// What entries are sorted by: keys, or hashes that stand in their place, by the function of a seed.
// If `hashed_by` is set, the keys come as hashes by that seed. Bits of keys below
// `bits` ascend as they are given, or are all equal, and those above are equal.
struct entry_order {
  std::optional<std::uint64_t> seed = std::nullopt;
  std::optional<std::uint64_t> hashed_by = std::nullopt;
  bit_range bits = {};
};

// What a cell of a column is sorted by.
template <class Key>
class sort_code {
 public:
  explicit sort_code(const entry_order& order)
      : hashes_(order.seed.has_value()),
        from_hashes_(order.hashed_by.has_value()),
        hash_(core::hash_by<Key>(order.seed.value_or(0))),
        came_by_(core::hash_by<Key>(order.hashed_by.value_or(0))) {}
  RAYDEX_HD Key operator()(Key cell) const {
    if (from_hashes_) cell = core::key_of(came_by_, cell);
    return hashes_ ? hash_(cell) : cell;
  }

 private:
  bool hashes_;
  bool from_hashes_;
  core::hash_function<Key> hash_;
  core::hash_function<Key> came_by_;
};

// The keys that are not missing, encoded, in ascending order; equal keys by row id.
template <class Key, class RowId>
struct sorted_column {
  buffer<Key> keys;
  buffer<RowId> row_ids;
  std::uint64_t max_row_id = 0;  // of the column: its last row, or the largest explicit row id
};

template <class Key, class RowId>
core::entry_list<Key, RowId> list_of(const sorted_column<Key, RowId>& entries) {
  return {entries.keys.data(), entries.row_ids.data(), entries.keys.size()};
}

// The same entries, for what takes any layout.
template <class Key, class RowId>
core::strided_list<Key, RowId> strided(const core::entry_list<Key, RowId>& list) {
  return {{list.keys}, {list.row_ids}, list.size};
}

// The same side by side, with entries behind them that no search takes for a match.
template <class Key, class RowId>
struct sorted_rows {
  buffer<std::uint32_t> words;   // of `core::row_entries`
  std::uint64_t size = 0;        // entries, without those behind them
  std::uint64_t max_row_id = 0;  // as of a sorted_column
};

// Throws invalid_argument where an explicit row id is not_found. `row_ids`, if given, holds as many
// cells of type RowId as `keys`. Keys that ascend are not sorted again, and take memory for the
// entries once, others twice. On cuda it synchronises.
namespace cpu {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                                      const std::optional<column>& row_ids,
                                                      const entry_order& order);
}
namespace cuda {
template <class Key, class RowId>
RAYDEX_INTERNAL sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                                      const std::optional<column>& row_ids,
                                                      const entry_order& order);
}

// The same side by side, up to a multiple of `multiple` entries: faster than a sort of columns in
// as much memory and a pass to bring them together.
namespace cuda {
RAYDEX_INTERNAL sorted_rows<std::uint32_t, std::uint32_t> sort_rows(
    const context& on, const column& keys, const std::optional<column>& row_ids,
    std::uint64_t multiple);
}

// The keys of a column that are not missing, encoded, in its own order: for structures that keep
// it. `take_column` of each machine makes it.
template <class Key, class RowId>
struct unsorted_column {
  buffer<Key> keys;
  buffer<RowId> row_ids;         // none where they are the numbers of the keys
  std::uint64_t max_row_id = 0;  // as of a sorted_column
};

// Throws as `sort_column` does. On cuda it synchronises if there are row ids or missing keys.
namespace cpu {
template <class Key, class RowId>
RAYDEX_INTERNAL unsorted_column<Key, RowId> take_column(const context& on, const column& keys,
                                                        const std::optional<column>& row_ids);
}
namespace cuda {
template <class Key, class RowId>
RAYDEX_INTERNAL unsorted_column<Key, RowId> take_column(const context& on, const column& keys,
                                                        const std::optional<column>& row_ids);
}

// A sorted column of encoded keys, as scenes are laid out over it.
// The column belongs to somebody else.
template <class Key>
struct key_column {
  const Key* keys;
  std::uint64_t size;
  Key smallest;
  Key largest;
};

// Looks up the ends of a sorted column; synchronises.
template <class Executor, class Key>
key_column<Key> describe_keys(const context& on, const Key* keys, std::uint64_t size) {
  if (size == 0) return {keys, 0, 0, 0};
  const auto key_at = [&](std::uint64_t entry) {
    Key key;
    Executor::copy_out(on, &key, keys + entry, sizeof key);
    return key;
  };
  return {keys, size, key_at(0), key_at(size - 1)};
}

}  // namespace raydex
