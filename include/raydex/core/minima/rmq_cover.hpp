// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables of the minima of intervals that cover a range, and a search of levels where the minimum
/// of the cover lies outside the range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/minima/rmq.hpp"
#include "raydex/core/minima/rmq_cover_levels.hpp"

namespace raydex::core {

/// The minimum of an interval and its place, read at once.
template <class Value, class Place>
struct alignas(sizeof(Value) + sizeof(Place) == 8 ? 8 : 16) cover_entry {
  Value value;  ///< the minimum
  Place place;  ///< where it is
};

/// How tables lie. Table j has the minima of intervals of 2^j places, one every 2^shift places. Two
/// of them cover any range that is longer than half an interval, and little beyond it: the less,
/// the more intervals there are. In the first tables, which are the largest, sixteen begin in the
/// length of one; in the later ones 64, and in the last as many as a table of `fine` entries has.
template <class Place>
struct cover_layout {
  static constexpr unsigned overlap = 4;        ///< log2 of the intervals that begin in one
  static constexpr unsigned later_overlap = 6;  ///< the same of later tables
  static constexpr unsigned later = 3;          ///< those so many after the first, and on
  static constexpr unsigned fine = 10;          ///< log2

  /// One table.
  struct table {
    Place begin;  ///< its first entry
    Place shift;  ///< log2 of the distance of intervals
  };

  unsigned least = 0;  ///< the first table; there are none where it is beyond `most`
  unsigned most = 0;   ///< the last one: its interval is as long as the array, or longer
  static constexpr unsigned room = 48;  ///< for tables
  table tables[room] = {};              ///< by j
  std::uint64_t size = 0;               ///< entries of all tables

  /// Tables from `least` on over `places`; no interval begins within 2^`first_shift` places of
  /// another.
  static cover_layout over(std::uint64_t places, unsigned least, unsigned first_shift) {
    cover_layout made;
    made.least = least;
    made.most = places < 2 ? 0 : floor_log2(places - 1) + 1;
    const unsigned coarsest = std::max(made.most, fine + first_shift) - fine;
    unsigned shift = least - overlap;
    for (unsigned j = least; j <= made.most; ++j) {
      shift = std::max(shift, j - (j < least + later ? overlap : later_overlap));
      shift = std::min(shift, coarsest);
      made.tables[j] = {static_cast<Place>(made.size), shift};
      made.size += ((places - 1) >> shift) + 1;
    }
    return made;
  }
};

// The intervals of the longest table of 32-bit places have 2^31 of them. Two, one of their
// distances apart from the ends, cover any range of the longest array that has such places.
static_assert(most_narrow_values <=
              (std::uint64_t{1} << 32) -
                  (std::uint64_t{2} << (32 - cover_layout<std::uint32_t>::fine)));

/// The tables of an array.
template <class Value, class Place>
struct cover_tables {
  /// Whether there is a cover of [first, last] that is not much longer.
  RAYDEX_HD bool has(Place first, Place last) const {
    return static_cast<Place>(last - first) >= least_beyond;
  }

  /// Two intervals that cover [first, last], which has a cover. `tables` are those of the layout.
  RAYDEX_HD void locate(const typename cover_layout<Place>::table* tables, Place first, Place last,
                        Place& one, Place& other) const {
    const Place beyond = last - first;
    unsigned j = floor_log2(beyond | Place{1});
    // Below the first table, one of its intervals is longer than the range.
    if (j < least) j = least;
    auto table = tables[j];
    // So is one of the next table, where two of this one would leave a gap, as they begin up to
    // their distance too early or late.
    if (beyond >= (Place{2} << j) - (Place{2} << table.shift)) table = tables[++j];
    const Place length = Place{1} << j;
    one = table.begin + (first >> table.shift);
    other = table.begin +
            (last < length ? 0 : (last - length + (Place{1} << table.shift)) >> table.shift);
  }

  const cover_entry<Value, Place>* entries = nullptr;  ///< of all tables
  unsigned least = 0;                                  ///< the first table
  Place least_beyond = 0;  ///< one less than the length of the shortest range that has a cover
};

/// The minimum of a cover as the minimum of the range, if its place lies in the range.
template <bool Placed, class Value, class Place>
RAYDEX_HD inline bool is_inside(const cover_entry<Value, Place>& one,
                                const cover_entry<Value, Place>& other, bool rightmost, Place first,
                                Place last, placed_minimum<Value, Place>& found) {
  // Where both are NaN neither is it: then levels tell.
  const Value least = smaller(one.value, other.value);
  const bool one_is = one.value == least;
  const bool other_is = other.value == least;
  const bool one_in = one.place - first <= last - first;
  const bool other_in = other.place - first <= last - first;
  if constexpr (Placed) {
    // Of equal ones, what lies out of the range may hide what is in it.
    const bool take_other = other_is && (!one_is || rightmost == (one.place < other.place));
    found = {least, take_other ? other.place : one.place};
    return take_other ? other_in : one_is && one_in;
  } else {
    found = {least, 0};
    return (one_is && one_in) || (other_is && other_in);
  }
}

/// Tables and levels as a view.
template <class Value, class Place>
struct rmq_cover_view : minima_levels<Value, Place> {
  using value_type = Value;  ///< of the values
  using place_type = Place;  ///< of places

  cover_tables<Value, Place> cover{};  ///< the tables
  cover_layout<Place> tables{};        ///< their layout

  /// The minimum of [first, last], places of the array.
  RAYDEX_HD Value minimum(Place first, Place last) const {
    return find_one<false>(first, last).value;
  }
  /// The minimum and its place.
  RAYDEX_HD placed_minimum<Value, Place> find(Place first, Place last) const {
    return find_one<true>(first, last);
  }

 private:
  template <bool Placed>
  RAYDEX_HD placed_minimum<Value, Place> find_one(Place first, Place last) const {
    if (cover.has(first, last)) {
      Place one = 0;
      Place other = 0;
      cover.locate(tables.tables, first, last, one, other);
      placed_minimum<Value, Place> inside;
      if (is_inside<Placed>(load_whole(cover.entries + one), load_whole(cover.entries + other),
                            this->rightmost, first, last, inside))
        return inside;
    }
    found_minimum<Placed, Value, Place> found;
    Value left{};
    Value right{};
    if (this->look_above(first, last, found, left, right))
      this->look_below(first, last, left, right, found);
    return this->placed(found);
  }
};

/// @name How tables are built: each writes one entry.
/// @{

/// Entries of the first table, from the minima of level 1: groups make a tile of them each, from
/// intervals that they double until these are as long as the table's.
template <class Value, class Place>
struct put_first_cover {
  using entry = cover_entry<Value, Place>;  ///< what it writes
  static constexpr unsigned tile = 256;     ///< entries
  /// No table has intervals of more distances than this.
  static constexpr std::size_t most_scratch_bytes =
      (tile + (1U << cover_layout<Place>::fine) - 1) * sizeof(entry);

  rmq_cover_view<Value, Place> view;  ///< with its levels
  entry* entries;                     ///< of all tables

  /// Scratch of a group.
  RAYDEX_HD std::size_t scratch_bytes() const { return (tile + length() - 1) * sizeof(entry); }
  /// How many tiles there are.
  RAYDEX_HD std::uint64_t tiles() const { return (distances() + tile - 1) / tile; }

  /// Writes a tile.
  template <group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t number) const {
    const std::uint64_t begin = number * tile;
    const std::uint64_t left = distances() - begin;
    // What lies beyond the last distance is never better.
    const unsigned room =
        left < tile + length() - 1 ? static_cast<unsigned>(left) : tile + length() - 1;
    auto* const least = reinterpret_cast<entry*>(scratch);
    for (unsigned i = group.lane(); i < room; i += group.lanes())
      least[i] = of_distance(begin + i);
    group.sync();
    for (unsigned step = 1; step < length(); step *= 2) {
      // Those in front of what other threads still read are written.
      for (unsigned first = 0; first < room; first += group.lanes()) {
        const unsigned i = first + group.lane();
        const bool has_later = i + step < room;
        const entry found = has_later ? better(least[i], least[i + step]) : entry{};
        group.sync();
        if (has_later) least[i] = found;
        group.sync();
      }
    }
    for (unsigned i = group.lane(); i < tile && i < room; i += group.lanes())
      entries[view.tables.tables[view.tables.least].begin + begin + i] = least[i];
  }

 private:
  // How many distances from one interval to the next an interval is long: a power of two.
  RAYDEX_HD unsigned length() const { return 1U << (view.tables.least - shift()); }
  // How many distances there are; as many intervals begin.
  RAYDEX_HD std::uint64_t distances() const { return ((view.array.end() - 1) >> shift()) + 1; }
  // The minimum from where interval `i` begins to where the next one does.
  RAYDEX_HD entry of_distance(std::uint64_t i) const {
    const auto bits = static_cast<unsigned>(shift() - view.layout.first_shift);
    const std::uint64_t blocks = view.layout.entries(1, view.array.end());
    std::uint64_t best = i << bits;
    Value least = load(view.minima + best);
    for (std::uint64_t block = best + 1; block < (i + 1) << bits && block < blocks; ++block) {
      const Value value = load(view.minima + block);
      if (view.rightmost ? !less(least, value) : less(value, least)) {
        least = value;
        best = block;
      }
    }
    return {least,
            static_cast<Place>((best << view.layout.first_shift) + load(view.offsets + best))};
  }
  // The better one of two entries; `later` lies after `one`.
  RAYDEX_HD entry better(const entry& one, const entry& later) const {
    return (view.rightmost ? !less(one.value, later.value) : less(later.value, one.value)) ? later
                                                                                           : one;
  }
  RAYDEX_HD Place shift() const { return view.tables.tables[view.tables.least].shift; }
};

/// Entry `i` of a later table, from two of the table before it.
template <class Value, class Place>
struct put_next_cover {
  typename cover_layout<Place>::table from;  ///< the table before
  typename cover_layout<Place>::table to;    ///< this one
  std::uint64_t length;                      ///< of the intervals before
  std::uint64_t places;                      ///< of the array
  bool rightmost;                            ///< as ties have it
  cover_entry<Value, Place>* entries;        ///< of all tables
  /// Writes it.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t begin = i << to.shift;
    cover_entry<Value, Place> entry = entries[from.begin + (begin >> from.shift)];
    if (begin + length < places) {
      const cover_entry<Value, Place> later =
          entries[from.begin + ((begin + length) >> from.shift)];
      if (rightmost ? !less(entry.value, later.value) : less(later.value, entry.value))
        entry = later;
    }
    entries[to.begin + i] = entry;
  }
};
/// @}

}  // namespace raydex::core
