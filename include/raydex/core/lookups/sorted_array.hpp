// SPDX-License-Identifier: Apache-2.0
/// @file
/// `sorted_array` inside kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// A trivially copyable view of a `sorted_array`, for searches inside the user's own code. Keys are
/// encoded. `Entries` is `column_entries` or `row_entries`. Cost of a search: log2 n + 2 reads.
template <class Entries>
class sorted_array_view : public view_of_entries<sorted_array_view<Entries>, Entries> {
  using base = typename sorted_array_view::view_of_entries;

 public:
  using typename base::found;        ///< what a search finds
  using typename base::key_type;     ///< an encoded key
  using typename base::row_id_type;  ///< a row id

  /// A view of `size` entries.
  sorted_array_view(Entries entries, row_id_type size) : base(entries, size) {}

  /// The key of the entry at a rank.
  RAYDEX_HD key_type key(row_id_type rank) const { return this->entries_.key(rank); }

  /// @name The parts of a search; see `ordered_view`
  /// @{

  /// Searches for N keys in step.
  template <class Team, std::size_t N>
  RAYDEX_HD void descend(const Team& team, const key_type (&wanted)[N],
                         const row_id_type (&/*entered*/)[N], found (&at)[N]) const {
    row_id_type ranks[N];
    if (team.pinned.bytes == 0) {
      lower_bounds(keys(), this->size_, wanted, ranks);
    } else {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        ranks[j] = search_window(team.pinned, wanted[j]);
    }
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      at[j] = {ranks[j], false, 0};
      if (ranks[j] == this->size_ || key(ranks[j]) != wanted[j]) continue;
      at[j].hit = true;
      at[j].row = this->row_id(ranks[j]);
    }
  }

  /// Galloping from the first match on: 2 log2 h reads for h matches.
  template <class Team, std::size_t N>
  RAYDEX_HD void locate_ends(Team& /*team*/, const interval<key_type> (&ranges)[N],
                             const found (&begin)[N], row_id_type (&ends)[N]) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      ends[j] = gallop_past(keys(), begin[j].rank, this->size_, ranges[j].upper);
  }
  /// @}

  /// @name Pinning the first steps of every search (lightweight paper, section 4.2)
  /// @{

  /// The bytes of fast memory to pin, at most `room`: the keys of the first M steps, or, if
  /// `in_full`, as many keys of the step after them as fit.
  RAYDEX_HD std::size_t pinned_bytes(std::size_t room, bool in_full) const {
    std::uint64_t keys = room / sizeof(key_type);
    if (keys >= this->size_) keys = this->size_;
    if (!in_full) keys = keys == 0 ? 0 : (std::uint64_t{1} << (floor_log2(keys + 1))) - 1;
    return static_cast<std::size_t>(keys) * sizeof(key_type);
  }

  /// Pins into `memory`: the last key of every window of the column but the last window. Every one
  /// of `threads` threads does its share.
  RAYDEX_HD void pin(void* memory, std::size_t bytes, unsigned thread, unsigned threads) const {
    const std::uint64_t stride = window(bytes);
    pin_first(
        [&](std::uint64_t i) {
          const std::uint64_t last = (i + 1) * stride - 1;
          return last < this->size_ ? key(static_cast<row_id_type>(last))
                                    : static_cast<key_type>(-1);
        },
        static_cast<key_type*>(memory), bytes, thread, threads);
  }
  /// @}

 private:
  struct key_reader {
    Entries entries;
    RAYDEX_HD key_type operator()(row_id_type rank) const { return entries.key(rank); }
  };
  RAYDEX_HD key_reader keys() const { return {this->entries_}; }

  // Entries in each of the windows that the pinned keys divide the column into.
  RAYDEX_HD std::uint64_t window(std::size_t bytes) const {
    return this->size_ / (bytes / sizeof(key_type) + 1) + 1;
  }

  RAYDEX_HD row_id_type search_window(const pinned_memory& pinned, key_type wanted) const {
    const auto* last_keys = static_cast<const key_type*>(pinned.data);
    const key_type one[1] = {wanted};
    std::uint32_t passed[1];
    lower_bounds([last_keys](std::uint32_t i) { return last_keys[i]; },
                 static_cast<std::uint32_t>(pinned.bytes / sizeof(key_type)), one, passed);
    const std::uint64_t stride = window(pinned.bytes);
    const std::uint64_t first = passed[0] * stride;
    if (first >= this->size_) return this->size_;
    const auto begin = static_cast<row_id_type>(first);
    const std::uint64_t left = this->size_ - first;
    const Entries entries = this->entries_;
    row_id_type rank[1];
    lower_bounds([&](row_id_type i) { return entries.key(begin + i); },
                 static_cast<row_id_type>(left < stride ? left : stride), one, rank);
    return begin + rank[0];
  }
};

/// The entries of a view without their keys, and without what is above them, if they lie side by
/// side; else the view. Code that only reads row ids is then the same for keys of any width.
template <class View>
auto rows_of(const View& view) {
  if constexpr (over_entries<View>) {
    return sorted_array_view(view.entries().without_keys(), view.size());
  } else {
    return view;
  }
}

/// An operation on matches that are known, over the rows of its view.
template <class Operation>
auto over_rows(const Operation& operation) {
  if constexpr (over_entries<decltype(operation.view)>) {
    return operation.over(rows_of(operation.view));
  } else {
    return operation;
  }
}

}  // namespace raydex::core
