// SPDX-License-Identifier: Apache-2.0
/// @file
/// The hierarchy of chunk minima: its layout, its searches, and making its levels.
///
/// Level 0 is the array. An entry of a level is the minimum of a chunk of the level below it:
/// entry i of level k covers the places `[i * c^k, (i + 1) * c^k)`. A search goes up from the array
/// and scans what is at both ends of the range until their chunks meet.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/minima/rmq.hpp"

namespace raydex::core {

/// Where the levels above the array are in their buffer, one after the other, each a whole number
/// of packs.
template <class Place>
struct hierarchy_levels {
  /// More than an address space of 48 bits has room for, two entries a chunk.
  static constexpr unsigned most = 48;

  unsigned chunk_bits = 1;   ///< a chunk has 2^chunk_bits entries
  unsigned count = 0;        ///< levels above the array
  Place places = 0;          ///< of the array
  Place begins[most + 2]{};  ///< where level k begins, from 1; after the last one, all of them
  static constexpr Place pack = 4;  ///< what a level's room is a multiple of

  /// No levels.
  hierarchy_levels() = default;
  /// Levels over an array of so many places, as few as leave the last one with at most `cutoff`
  /// entries, 2 or more.
  hierarchy_levels(std::uint64_t of_array, unsigned bits, std::uint64_t cutoff)
      : chunk_bits(bits), places(static_cast<Place>(of_array)) {
    while (places != 0 && size(count) > cutoff) {
      ++count;
      begins[count + 1] = static_cast<Place>(begins[count] + padded_size(count));
    }
  }

  /// Entries of a level.
  RAYDEX_HD std::uint64_t size(unsigned level) const {
    return ((std::uint64_t{places} - 1) >> (level * chunk_bits)) + 1;
  }
  /// The same with those that fill its last pack.
  RAYDEX_HD std::uint64_t padded_size(unsigned level) const {
    return (size(level) + pack - 1) / pack * pack;
  }
  /// Entries of all levels above the array.
  RAYDEX_HD std::uint64_t entries() const { return begins[count + 1]; }
};

/// Level 0 as it is scanned.
template <class Value>
struct array_level {
  const value_array<Value>& array;  ///< the values

  /// A value.
  RAYDEX_HD Value operator[](std::uint64_t place) const { return array[place]; }
  /// Some pack.
  RAYDEX_HD value_pack<Value> pack(std::uint64_t number) const { return array.pack(number); }
  /// A pack that is in the array as a whole.
  RAYDEX_HD value_pack<Value> whole_pack(std::uint64_t number) const {
    value_pack<Value> read = load_whole(array.packs() + number);
    RAYDEX_UNROLL
    for (unsigned e = 0; e < value_pack<Value>::size; ++e)
      read.at[e] = array.ordered(read.at[e]);
    return read;
  }
};

/// A level above it.
template <class Value>
struct minima_level {
  const Value* minima;  ///< its entries, of whole packs

  /// An entry.
  RAYDEX_HD Value operator[](std::uint64_t entry) const { return load(minima + entry); }
  /// A pack.
  RAYDEX_HD value_pack<Value> pack(std::uint64_t number) const { return whole_pack(number); }
  /// The same.
  RAYDEX_HD value_pack<Value> whole_pack(std::uint64_t number) const {
    return load_whole(reinterpret_cast<const value_pack<Value>*>(minima) + number);
  }
};

/// The hierarchy as a view.
template <class Value, class Place>
struct rmq_hierarchy_view {
  using value_type = Value;  ///< of the values
  using place_type = Place;  ///< of places
  /// Packs of a chunk that a thread reads at once when levels are made.
  static constexpr unsigned at_once = 4;

  value_array<Value> array{};        ///< the values
  bool rightmost = false;            ///< of equal values, whose place counts
  hierarchy_levels<Place> levels;    ///< what is where
  const Value* minima = nullptr;     ///< of all levels: the minimum of each chunk
  const Place* positions = nullptr;  ///< and its place

  /// No entry of the last level.
  static constexpr Place none = static_cast<Place>(-1);

  /// @name By one thread, which reads packs. If the entry of the last level is known that is the
  /// minimum of what a range leaves to that level, it is `found`, and the others are not read.
  /// @{

  /// The minimum of [first, last], places of the array.
  RAYDEX_HD Value minimum(Place first, Place last, Place found = none) const {
    auto least = last_value<Value>();
    climb(first, last, found, [&](const auto& from, unsigned /*level*/, const ends& wanted) {
      scan(from, wanted, [&](const pack& read, Place /*number*/, const part& /*slice*/) {
        least = smaller(least, least_of(read));
      });
    });
    return least;
  }
  /// The minimum and its place.
  RAYDEX_HD placed_minimum<Value, Place> find(Place first, Place last, Place found = none) const {
    entry_minimum least = nothing_before_last(first, last, 0);
    climb(first, last, found, [&](const auto& from, unsigned level, const ends& wanted) {
      scan(from, wanted, [&](const pack& read, Place number, const part& slice) {
        const pack one[1] = {read};
        consider(one, number, 1, level, slice, least);
      });
    });
    return placed(least);
  }
  /// @}

  /// @name By a group of threads; adjacent ones read adjacent values. A range from place 1 to
  /// place 0 is empty.
  /// @{

  /// The minimum of [first, last], places of the array.
  template <reducing_group Group>
  RAYDEX_HD Value minimum(const Group& group, Place first, Place last) const {
    auto least = last_value<Value>();
    climb(first, last, none, [&](const auto& from, unsigned /*level*/, const ends& wanted) {
      scan(group, from, wanted,
           [&](Value value, Place /*entry*/) { least = smaller(least, value); });
    });
    return group.reduce(least, [](Value a, Value b) { return smaller(a, b); });
  }
  /// The minimum and its place.
  template <reducing_group Group>
  RAYDEX_HD placed_minimum<Value, Place> find(const Group& group, Place first, Place last) const {
    entry_minimum least = nothing_before_last(first, last, 0);
    climb(first, last, none, [&](const auto& from, unsigned level, const ends& wanted) {
      scan(group, from, wanted, [&](Value value, Place entry) {
        const entry_minimum other{value, entry << shift(level), level};
        if (precedes(other, least)) least = other;
      });
    });
    return placed(reduce(group, least));
  }
  /// @}

  /// What entry `i` of a level above the array is to be, by a group. Chunks before the array, which
  /// no search reads, get one of its values; what fills the last pack gets the last value.
  template <reducing_group Group>
  RAYDEX_HD placed_minimum<Value, Place> summarise(const Group& group, unsigned level,
                                                   Place i) const {
    if (i >= levels.size(level)) return {};
    const unsigned below = level - 1;
    const auto end = static_cast<Place>(levels.size(below) - 1);
    part wanted{i << levels.chunk_bits, (i << levels.chunk_bits) + chunk_mask()};
    if (below == 0 && wanted.first < array.first())
      wanted.first = static_cast<Place>(array.first());
    if (wanted.last < wanted.first) wanted.last = wanted.first;
    if (wanted.last > end) wanted.last = end;
    entry_minimum least = nothing_before_last(wanted.first, wanted.last, below);
    const auto take = [&](const auto& from) { summarise_part(group, from, below, wanted, least); };
    if (below == 0) {
      take(array_level<Value>{array});
    } else {
      take(at(below));
    }
    return placed(reduce(group, least));
  }

 private:
  using pack = value_pack<Value>;

  // Entries of a level.
  struct part {
    Place first, last;

    // What is of them in a pack; the others are the last value.
    RAYDEX_HD pack within(const pack& read, Place number) const {
      pack wanted;
      RAYDEX_UNROLL
      for (unsigned e = 0; e < pack::size; ++e) {
        const bool is_in = number * pack::size + e - first <= last - first;
        wanted.at[e] = is_in ? read.at[e] : last_value<Value>();
      }
      return wanted;
    }
  };

  // What a range has of a level: the entries at its left end and, if there are any, those at its
  // right end.
  struct ends {
    part slices[2];
    unsigned count;
  };

  // The minimum of an entry, the first place that the entry covers, and its level.
  struct entry_minimum {
    Value value;
    Place begin;
    unsigned level;
  };

  RAYDEX_HD Place chunk_mask() const { return (Place{1} << levels.chunk_bits) - 1; }
  RAYDEX_HD unsigned shift(unsigned level) const { return level * levels.chunk_bits; }

  // Calls f(what to read from, level, ends) for levels, whose ends make up [first, last]; that of
  // the last level is the entry that was found, if it was.
  template <class Function>
  RAYDEX_HD void climb(Place first, Place last, Place found, const Function& f) const {
    if (!visit(array_level<Value>{array}, 0, first, last, found, f)) return;
    for (unsigned level = 1; visit(at(level), level, first, last, found, f); ++level) {
    }
  }
  // The same for one level, and makes first and last those of the next one; false if nothing is
  // left to it.
  template <class From, class Function>
  RAYDEX_HD bool visit(const From& from, unsigned level, Place& first, Place& last, Place found,
                       const Function& f) const {
    const Place left = first >> levels.chunk_bits;
    const Place right = last >> levels.chunk_bits;
    if (level == levels.count || right - left < 2) {
      const bool is_found = level == levels.count && found != none;
      f(from, level, ends{{is_found ? part{found, found} : part{first, last}, {}}, 1});
      return false;
    }
    f(from, level, ends{{{first, first | chunk_mask()}, {last & ~chunk_mask(), last}}, 2});
    first = left + 1;
    last = right - 1;
    return true;
  }
  RAYDEX_HD minima_level<Value> at(unsigned level) const { return {minima + levels.begins[level]}; }

  // Calls f(pack, its number, part) for the packs of a level's ends. Those at the ends of a part
  // and the next two are read together; those between are of the part as they are.
  template <class From, class Function>
  RAYDEX_HD static void scan(const From& from, const ends& wanted, const Function& f) {
    RAYDEX_KEEP_LOOP
    for (unsigned i = 0; i < wanted.count; ++i) {
      const part slice = i == 0 ? wanted.slices[0] : wanted.slices[1];
      const Place first = slice.first / pack::size;
      const Place last = slice.last / pack::size;
      const pack at_first = from.pack(first);
      const pack at_last = last == first ? at_first : from.pack(last);
      RAYDEX_KEEP_LOOP
      for (Place number = first + 1; number < last; number += 2) {
        const bool is_pair = number + 1 < last;
        const pack one = from.whole_pack(number);
        pack other;  // what is not read is not looked at
        if (is_pair) other = from.whole_pack(number + 1);
        f(one, number, slice);
        if (is_pair) f(other, number + 1, slice);
      }
      f(slice.within(at_first, first), first, slice);
      f(slice.within(at_last, last), last, slice);
    }
  }

  // Calls f(value, entry) for those entries of a level's ends that are of this thread of a group.
  template <reducing_group Group, class From, class Function>
  RAYDEX_HD static void scan(const Group& group, const From& from, const ends& wanted,
                             const Function& f) {
    const auto scan_part = [&](const part& slice) {
      RAYDEX_KEEP_LOOP
      for (Place entry = slice.first + group.lane(); entry <= slice.last; entry += group.lanes())
        f(from[entry], entry);
    };
    scan_part(wanted.slices[0]);
    if (wanted.count == 2) scan_part(wanted.slices[1]);
  }

  // Takes in a part of at most a chunk, by a group. Of a whole chunk each thread reads several
  // packs before it looks at the first.
  template <reducing_group Group, class From>
  RAYDEX_HD void summarise_part(const Group& group, const From& from, unsigned level,
                                const part& wanted, entry_minimum& least) const {
    const Place step = group.lanes();
    const Place last = wanted.last / pack::size;
    Place number = wanted.first / pack::size + group.lane();
    if (wanted.last - wanted.first == chunk_mask() && chunk_mask() >= pack::size - 1) {
      RAYDEX_KEEP_LOOP
      for (; number <= last; number += at_once * step) {
        pack read[at_once];
        RAYDEX_UNROLL
        for (unsigned k = 0; k < at_once; ++k)
          read[k] = number + k * step <= last ? from.whole_pack(number + k * step) : nothing();
        consider(read, number, step, level, wanted, least);
      }
    } else {
      RAYDEX_KEEP_LOOP
      for (; number <= last; number += step) {
        const pack read[1] = {wanted.within(from.pack(number), number)};
        consider(read, number, step, level, wanted, least);
      }
    }
  }

  RAYDEX_HD static pack nothing() {
    pack values;
    RAYDEX_UNROLL
    for (unsigned e = 0; e < pack::size; ++e)
      values.at[e] = last_value<Value>();
    return values;
  }

  RAYDEX_HD static Value least_of(const pack& read) {
    Value least = read.at[0];
    RAYDEX_UNROLL
    for (unsigned e = 1; e < pack::size; ++e)
      least = smaller(least, read.at[e]);
    return least;
  }

  // Right where all values are the last one; otherwise something comes before it.
  RAYDEX_HD entry_minimum nothing_before_last(Place first, Place last, unsigned level) const {
    return {last_value<Value>(), (rightmost ? last : first) << shift(level), level};
  }

  // Takes in packs `number`, `number + step`, and so on; what is not wanted of them is the last
  // value.
  template <unsigned N>
  RAYDEX_HD void consider(const pack (&read)[N], Place number, Place step, unsigned level,
                          const part& wanted, entry_minimum& least) const {
    Value value = least_of(read[0]);
    RAYDEX_UNROLL
    for (unsigned k = 1; k < N; ++k)
      value = smaller(value, least_of(read[k]));
    // Which entry has it matters only if it precedes. Entries cover places of their own, so that
    // any of the packs tells how it lies to `least`.
    const Place begin = number * pack::size;
    const Place inside = begin < wanted.first ? wanted.first : begin;
    if (!precedes({value, inside << shift(level), level}, least)) return;
    Place entry = 0;
    const auto look_at = [&](unsigned i) {
      const unsigned k = i / pack::size;
      const unsigned e = i % pack::size;
      if (!less(value, read[k].at[e])) entry = begin + k * step * pack::size + e;
    };
    // The last one that is found stays.
    constexpr unsigned all = N * pack::size;
    if (rightmost) {
      RAYDEX_UNROLL
      for (unsigned i = 0; i < all; ++i)
        look_at(i);
    } else {
      RAYDEX_UNROLL
      for (unsigned i = 0; i < all; ++i)
        look_at(all - 1 - i);
    }
    least = {value, entry << shift(level), level};
  }

  RAYDEX_HD bool precedes(const entry_minimum& a, const entry_minimum& b) const {
    if (less(a.value, b.value)) return true;
    return !less(b.value, a.value) && (rightmost ? a.begin > b.begin : a.begin < b.begin);
  }

  template <reducing_group Group>
  RAYDEX_HD entry_minimum reduce(const Group& group, const entry_minimum& least) const {
    return group.reduce(least, [&](const entry_minimum& a, const entry_minimum& b) {
      return precedes(b, a) ? b : a;
    });
  }

  RAYDEX_HD placed_minimum<Value, Place> placed(const entry_minimum& least) const {
    if (least.level == 0) return {least.value, least.begin};
    const Place entry = least.begin >> shift(least.level);
    return {least.value, load(positions + levels.begins[least.level] + entry)};
  }
};

/// Makes the entries of a level from the one below it.
template <class Value, class Place>
struct summarise_level {
  rmq_hierarchy_view<Value, Place> view;  ///< its levels below are made
  unsigned level;                         ///< 1 or more
  Value* minima;                          ///< where the view reads them
  Place* positions;                       ///< likewise

  /// Makes entry `i`.
  template <reducing_group Group>
  RAYDEX_HD void operator()(const Group& group, std::uint64_t i) const {
    const auto made = view.summarise(group, level, static_cast<Place>(i));
    if (group.lane() != 0) return;
    minima[view.levels.begins[level] + i] = made.value;
    positions[view.levels.begins[level] + i] = made.place;
  }
};

/// Makes those entries of a level again that cover changed positions; one that covers several is
/// made for each, the same.
template <class Value, class Place>
struct refresh_level {
  summarise_level<Value, Place> all;  ///< the level; those below are fresh
  cells changed;                      ///< positions

  /// Makes the entry that covers changed position `i`.
  template <reducing_group Group>
  RAYDEX_HD void operator()(const Group& group, std::uint64_t i) const {
    const auto& view = all.view;
    const std::uint64_t position = position_of(changed, i);
    if (position >= view.array.size()) return;
    const std::uint64_t entry =
        (position + view.array.first()) >> (all.level * view.levels.chunk_bits);
    const auto made = view.summarise(group, all.level, static_cast<Place>(entry));
    if (group.lane() != 0) return;
    store_atomically(all.minima + view.levels.begins[all.level] + entry, made.value);
    store_atomically(all.positions + view.levels.begins[all.level] + entry, made.place);
  }
};

}  // namespace raydex::core
