// SPDX-License-Identifier: Apache-2.0
/// @file
/// Levels of block minima over an array. Each block of entries has the minimum of any part of it;
/// blocks at the ends of a range bound what is in them, and are looked into only where
/// they could hold the minimum.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/minima/rmq.hpp"

namespace raydex::core {

/// How levels lie. Level 0 is the array. An entry of level k > 0 is the minimum of a block of
/// 2^shift(k) places; 32 entries of it are a block of level k + 1.
struct level_layout {
  static constexpr unsigned most = 8;      ///< levels above the array, at most
  static constexpr unsigned fan_out = 32;  ///< entries in a block

  unsigned levels = 0;                 ///< above the array
  unsigned first_shift = 0;            ///< log2 of the places in a block of level 1
  std::uint64_t begin[most + 2] = {};  ///< where a level begins; entries are counted from level 1's

  /// Levels over `places`, until one is a single block. All begin and end with whole blocks.
  static level_layout over(std::uint64_t places, unsigned first_shift) {
    level_layout made;
    made.first_shift = first_shift;
    std::uint64_t begin = 0;
    while (made.entries(made.levels, places) > fan_out) {
      ++made.levels;
      made.begin[made.levels] = begin;
      begin += (made.entries(made.levels, places) + fan_out - 1) / fan_out * fan_out;
    }
    made.begin[made.levels + 1] = begin;
    return made;
  }

  /// log2 of the places in an entry of a level.
  RAYDEX_HD unsigned shift(unsigned level) const {
    return level == 0 ? 0 : first_shift + (level - 1) * 5;
  }
  /// Entries of a level over so many places.
  RAYDEX_HD std::uint64_t entries(unsigned level, std::uint64_t places) const {
    return places == 0 ? 0 : ((places - 1) >> shift(level)) + 1;
  }
  /// Entries of a level, with those that fill its last block.
  RAYDEX_HD std::uint64_t padded_entries(unsigned level) const {
    return begin[level + 1] - begin[level];
  }
  /// Entries of level 1, so padded.
  std::uint64_t first_entries() const { return levels == 0 ? 0 : begin[2]; }
  /// Entries of all levels above level 1.
  std::uint64_t later_entries() const { return begin[levels + 1] - first_entries(); }
};

/// Where a minimum was found: in an entry of level 0 or 1, or in the entries [from, to] of a later
/// level; which of these it is takes another read.
template <class Place>
struct found_place {
  static constexpr unsigned nowhere = 255;  ///< the level of what was not found
  unsigned level = nowhere;                 ///< of the entries
  Place from = 0;                           ///< the first of them
  Place to = 0;                             ///< the last one
};

/// What a search knows: the minimum of what it has seen and, if it looks for places, where.
template <bool Placed, class Value, class Place>
struct found_minimum {
  struct nothing {};

  Value value = last_value<Value>();                                ///< the minimum
  std::conditional_t<Placed, found_place<Place>, nothing> place{};  ///< its entries

  /// Takes in the minimum of the entries [from, to] of a level, which all lie to one side of what
  /// was seen before; `wins` says whether ties go to that side.
  RAYDEX_HD void take(Value least, bool wins, unsigned level, Place from, Place to) {
    if constexpr (Placed) {
      if (!could_improve(least, wins)) return;
      value = least;
      place = {level, from, to};
    } else {
      value = smaller(value, least);
    }
  }
  /// Whether entries with this minimum, or a larger one, could hold a better one.
  RAYDEX_HD bool could_improve(Value bound, bool wins) const {
    if constexpr (Placed) {
      if (place.level == found_place<Place>::nowhere || (wins && !less(value, bound))) return true;
    }
    return less(bound, value);
  }
};

/// An entry of level 2 or up as an end of a range sees it.
template <class Value>
struct alignas(2 * sizeof(Value)) end_entry {
  Value bound;   ///< its minimum
  Value beside;  ///< that of the entries of its block that lie beside it, on one side
};

/// The levels above an array.
template <class Value, class Place>
struct minima_levels {
  static constexpr unsigned scanned = 24;  ///< shorter ranges are scanned

  value_array<Value> array{};             ///< level 0
  level_layout layout{};                  ///< of the levels
  const Value* minima = nullptr;          ///< of level 1 and up
  const std::uint8_t* offsets = nullptr;  ///< of the minima of level 1 in their blocks
  const Place* places = nullptr;          ///< of the minima of level 2 and up
  const std::uint32_t* masks = nullptr;   ///< of the entries of level 2 and up, see `put_parts`
  /// @name What entries tell of those after them and before them in their blocks
  /// @{
  const std::uint8_t* least_beside[2] = {};     ///< of level 1: which is the least
  const end_entry<Value>* end_entries[2] = {};  ///< of level 2 and up
  /// @}
  bool rightmost = false;  ///< of equal values, whose place counts

  /// Takes in what levels tell of [first, last]. False if that is all; else the blocks at its ends
  /// may hold more, whose minima are `left` and `right`.
  template <bool Placed>
  RAYDEX_HD bool look_above(Place first, Place last, found_minimum<Placed, Value, Place>& found,
                            Value& left, Value& right) const {
    const way by = way_of(first, last);
    if (by == way::far) {
      look_far(first, last, found, left, right);
    } else {
      look_near(by == way::near, first, last, found, left, right);
    }
    return by != way::scan &&
           (found.could_improve(left, !rightmost) || found.could_improve(right, rightmost));
  }

  /// Takes in the parts of [first, last] in the blocks of level 1 at its ends.
  template <bool Placed>
  RAYDEX_HD void look_below(Place first, Place last, Value left, Value right,
                            found_minimum<Placed, Value, Place>& found) const {
    const Place in_block = (Place{1} << layout.first_shift) - 1;
    // The more promising end comes first: often it rules the other one out.
    const bool right_first = less(right, left);
    RAYDEX_KEEP_LOOP
    for (unsigned turn = 0; turn < 2; ++turn) {
      const bool is_left = (turn == 0) != right_first;
      const bool wins = is_left != rightmost;
      if (!found.could_improve(is_left ? left : right, wins)) continue;
      Value unused{};
      scan({0, 0, is_left ? first : last & ~in_block, is_left ? first | in_block : last}, wins,
           found, unused, unused);
    }
  }

  /// What was found, with its place if that was looked for.
  template <bool Placed>
  RAYDEX_HD placed_minimum<Value, Place> placed(
      const found_minimum<Placed, Value, Place>& found) const {
    if constexpr (!Placed) {
      return {found.value, 0};
    } else {
      const auto& [level, from, to] = found.place;
      if (level == 0) return {found.value, from};
      if (level == 1) return {found.value, (from << layout.first_shift) + load(offsets + from)};
      const std::uint64_t begin = layout.begin[level] - layout.begin[2];
      return {found.value, load(places + begin + least_in_block(level, from, to))};
    }
  }

 private:
  using pack = value_pack<Value>;
  static constexpr unsigned pack_size = pack::size;
  static constexpr unsigned between = 2;  // packs that are read at once, beside those at the ends

  // How a range is answered.
  enum class way : std::uint8_t {
    scan,  // by its values
    near,  // by the entries of level 1 in it and, if need be, values at its ends
    far    // by entries of all levels and, if need be, values at its ends
  };
  // How [first, last] is answered.
  RAYDEX_HD way way_of(Place first, Place last) const {
    const auto apart = static_cast<Place>(last >> layout.first_shift) -
                       static_cast<Place>(first >> layout.first_shift);
    if (apart < 2 || last - first < scanned || layout.levels == 0) return way::scan;
    return apart <= level_layout::fan_out ? way::near : way::far;
  }

  // Takes in what a scan tells of [first, last]: of its values, or else of the entries of level 1
  // that are whole in a near range.
  template <bool Placed>
  RAYDEX_HD void look_near(bool is_near, Place first, Place last,
                           found_minimum<Placed, Value, Place>& found, Value& left,
                           Value& right) const {
    const auto x = static_cast<Place>(first >> layout.first_shift);
    const auto y = static_cast<Place>(last >> layout.first_shift);
    scan(is_near ? window{1, 1, x, y} : window{0, 0, first, last}, true, found, left, right);
  }

  // Takes in what levels 1 and up tell of a range whose ends are far from one another.
  template <bool Placed>
  RAYDEX_HD void look_far(Place first, Place last, found_minimum<Placed, Value, Place>& found,
                          Value& left, Value& right) const {
    const auto apart = static_cast<Place>((first ^ last) >> layout.first_shift);
    // The highest level where the ends are different entries, which are in the same block there.
    unsigned level = 1 + floor_log2(apart) / 5;
    const Value* const entries = minima + layout.begin[level];
    const auto x = static_cast<Place>(first >> layout.shift(level));
    const auto y = static_cast<Place>(last >> layout.shift(level));
    left = load(entries + x);
    right = load(entries + y);
    if (y - x > 1) {
      const Place least = least_in_block(level, x + 1, y - 1);
      found.take(load(entries + least), true, level, least, least);
    }
    for (bool goes_on = true; goes_on && --level > 0;) {
      goes_on = false;
      if (found.could_improve(left, !rightmost)) {
        look_beside<Placed, 0>(level, first, found, left);
        goes_on = true;
      }
      if (found.could_improve(right, rightmost)) {
        look_beside<Placed, 1>(level, last, found, right);
        goes_on = true;
      }
    }
  }

  // Takes in the entries of a level in the block of the range's end, those after it (Side 0) or
  // before it (1). The end's own entry becomes its bound.
  template <bool Placed, unsigned Side>
  RAYDEX_HD void look_beside(unsigned level, Place end, found_minimum<Placed, Value, Place>& found,
                             Value& bound) const {
    constexpr Place in_block = level_layout::fan_out - 1;
    const auto entry = static_cast<Place>(end >> layout.shift(level));
    const bool wins = (Side == 0) != rightmost;
    const bool has_any = (entry & in_block) != (Side == 0 ? in_block : 0);
    if (level == 1) {
      bound = load(minima + entry);
      if (!has_any) return;
      const Place least = (entry & ~in_block) + load(least_beside[Side] + entry);
      found.take(load(minima + least), wins, 1, least, least);
      return;
    }
    const std::uint64_t begin = layout.begin[level] - layout.begin[2];
    const end_entry<Value> read = load_whole(end_entries[Side] + begin + entry);
    bound = read.bound;
    if (has_any)
      found.take(read.beside, wins, level, Side == 0 ? entry + 1 : entry & ~in_block,
                 Side == 0 ? entry | in_block : entry - 1);
  }

  // Which of the entries [from, to] of a level, 2 or up and in one block, is the least.
  RAYDEX_HD Place least_in_block(unsigned level, Place from, Place to) const {
    constexpr unsigned size = level_layout::fan_out;
    const std::uint32_t mask = load(masks + (layout.begin[level] - layout.begin[2]) + to);
    return to - to % size + first_bit(mask & (~std::uint32_t{0} << (from % size)));
  }

  // Entries [from, to] of level 0 or 1. If it is open, those at its ends only bound what is in
  // them.
  struct window {
    unsigned level;
    unsigned open;
    Place from;
    Place to;
  };

  // Where the packs of a level are, of the array as they lie in memory.
  RAYDEX_HD const pack* packs_of(unsigned level) const {
    return level == 0 ? array.packs() : reinterpret_cast<const pack*>(minima);
  }
  // Whether a window has packs that are not whole in the array.
  RAYDEX_HD bool is_ragged(const window& over) const {
    return over.level == 0 && (!array.is_whole(static_cast<Place>(over.from / pack_size)) ||
                               !array.is_whole(static_cast<Place>(over.to / pack_size)));
  }

  // Takes in a window without its open ends, which become `left` and `right`; it lies to one side
  // of what was seen before, and `wins` says whether ties go there.
  template <bool Placed>
  RAYDEX_HD void scan(const window& over, bool wins, found_minimum<Placed, Value, Place>& found,
                      Value& left, Value& right) const {
    found_minimum<Placed, Value, Place> inside;
    if (is_ragged(over)) {
      for (Place place = over.from; place <= over.to; ++place)
        inside.take(array[place], rightmost, 0, place, place);
    } else {
      scan_packs(over, inside, left, right);
    }
    if constexpr (Placed) {
      found.take(inside.value, wins, over.level, inside.place.from, inside.place.to);
    } else {
      found.take(inside.value, wins, over.level, 0, 0);
    }
  }

  template <bool Placed>
  RAYDEX_HD void scan_packs(const window& over, found_minimum<Placed, Value, Place>& inside,
                            Value& left, Value& right) const {
    constexpr unsigned tail = between + 1;
    const pack* const source = packs_of(over.level);
    const Place first = over.from / pack_size;
    const Place last = over.to / pack_size;
    const bool is_one = first == last;
    // The packs at the ends of the window, and between them those after the first one.
#if defined(__CUDA_ARCH__)
    pack packs[between + 2];  // what is not read is not looked at
#else
    pack packs[between + 2] = {};
#endif
    packs[0] = load_whole(source + first);
    if (!is_one || over.open != 0) packs[tail] = load_whole(source + last);
    RAYDEX_UNROLL
    for (unsigned j = 1; j <= between; ++j)
      if (first + j < last) packs[j] = load_whole(source + first + j);
    order(over.level, packs);
    left = pick(packs[0].at, over.from % pack_size);
    right = pick(packs[tail].at, over.to % pack_size);

    const auto begin = static_cast<unsigned>(over.from % pack_size) + over.open;
    const auto end = static_cast<unsigned>(over.to % pack_size) + 1 - over.open;
    const std::uint32_t in_head = low_bits(is_one ? end : pack_size) & ~low_bits(begin);
    const std::uint32_t in_tail = is_one ? 0 : low_bits(end);
    auto least = last_value<Value>();
    RAYDEX_UNROLL
    for (unsigned j = 1; j <= between; ++j)
      if (first + j < last) least = smaller(least, least_in(packs[j]));
    RAYDEX_UNROLL
    for (unsigned e = 0; e < pack_size; ++e) {
      if (((in_head >> e) & 1) != 0) least = smaller(least, packs[0].at[e]);
      if (((in_tail >> e) & 1) != 0) least = smaller(least, packs[tail].at[e]);
    }
    if constexpr (Placed) {
      const Place read = is_one || last - first > between ? Place{between} : last - first - 1;
      const std::uint32_t in = in_head | (is_one ? 0 : low_bits(read * pack_size) << pack_size) |
                               in_tail << (tail * pack_size);
      const std::uint32_t equal = equal_to(packs, least) & in;
      // The entries of NaN, which is equal to nothing, are all that are in.
      const std::uint32_t best = equal != 0 ? equal : in;
      if (best != 0) {
        const unsigned i = rightmost ? floor_log2(best) : first_bit(best);
        const Place entry = i < tail * pack_size ? first * pack_size + i
                                                 : last * pack_size + (i - tail * pack_size);
        inside.take(least, true, over.level, entry, entry);
      }
    } else {
      inside.take(least, true, over.level, 0, 0);
    }
    for (Place number = first + tail; number < last; number += between)
      scan_between(over.level, source, number, last, inside);
  }

  // Takes in some packs from a number on, before the last.
  template <bool Placed>
  RAYDEX_HD void scan_between(unsigned level, const pack* source, Place number, Place last,
                              found_minimum<Placed, Value, Place>& inside) const {
    pack packs[between];
    RAYDEX_UNROLL
    for (unsigned j = 0; j < between; ++j)
      packs[j] = load_whole(source + (number + j < last ? number + j : number));
    order(level, packs);
    auto least = least_in(packs[0]);
    RAYDEX_UNROLL
    for (unsigned j = 1; j < between; ++j)
      least = smaller(least, least_in(packs[j]));
    if constexpr (Placed) {
      const Place before = inside.place.from;
      if (!inside.could_improve(least, true)) return;
      std::uint32_t equal = equal_to(packs, least);
      if (number + between > last) equal &= low_bits((last - number) * pack_size);
      if (equal == 0) return;  // NaN, and there was one before
      const Place entry = number * pack_size + (rightmost ? floor_log2(equal) : first_bit(equal));
      inside.take(least, rightmost ? entry > before : entry < before, level, entry, entry);
    } else {
      inside.take(least, true, level, 0, 0);
    }
  }

  // Values as they are ordered; only those of the array may lie otherwise.
  template <std::size_t N>
  RAYDEX_HD void order(unsigned level, pack (&packs)[N]) const {
    if constexpr (std::is_integral_v<Value>) {
      if (level != 0) return;
      RAYDEX_UNROLL
      for (unsigned i = 0; i < N * pack_size; ++i)
        packs[i / pack_size].at[i % pack_size] =
            array.ordered(packs[i / pack_size].at[i % pack_size]);
    }
  }
  RAYDEX_HD static Value least_in(const pack& values) {
    Value least = values.at[0];
    RAYDEX_UNROLL
    for (unsigned e = 1; e < pack_size; ++e)
      least = smaller(least, values.at[e]);
    return least;
  }
  // Which values of packs are equal to one.
  template <std::size_t N>
  RAYDEX_HD static std::uint32_t equal_to(const pack (&packs)[N], Value value) {
    std::uint32_t equal = 0;
    RAYDEX_UNROLL
    for (unsigned i = 0; i < N * pack_size; ++i)
      if (packs[i / pack_size].at[i % pack_size] == value) equal |= std::uint32_t{1} << i;
    return equal;
  }
  // The lowest `count` bits, of fewer than 32.
  RAYDEX_HD static std::uint32_t low_bits(Place count) {
    return (std::uint32_t{1} << static_cast<unsigned>(count)) - 1;
  }

  // The element of this number, without an index that a device cannot have for a register.
  template <class T, std::size_t N>
  RAYDEX_HD static T pick(const T (&all)[N], Place i) {
    T picked = all[0];
    RAYDEX_UNROLL
    for (unsigned j = 1; j < N; ++j)
      if (i == j) picked = all[j];
    return picked;
  }
};

/// @name How levels are built: each writes one entry, or what those of one block tell.
/// @{

/// Writes entry `e` of a level, from the level below it; also such as fill its last block.
template <class Value, class Place>
struct put_block_minimum {
  minima_levels<Value, Place> below;  ///< the levels up to the one below
  unsigned level = 1;                 ///< the one to write to
  Value* minima = nullptr;            ///< of all levels
  std::uint8_t* offsets = nullptr;    ///< of level 1
  Place* places = nullptr;            ///< of level 2 and up

  /// Writes it.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    constexpr unsigned size = value_pack<Value>::size;
    const level_layout& layout = below.layout;
    const std::uint64_t in_block = std::uint64_t{1}
                                   << (layout.shift(level) - layout.shift(level - 1));
    const std::uint64_t all = layout.entries(level - 1, below.array.end());
    auto least = last_value<Value>();
    std::uint64_t best = e * in_block;
    for (std::uint64_t at = e * in_block; at < (e + 1) * in_block && at < all; at += size) {
      const value_pack<Value> pack = read(at / size);
      RAYDEX_UNROLL
      for (unsigned i = 0; i < size; ++i) {
        if (below.rightmost ? !less(least, pack.at[i]) : less(pack.at[i], least)) {
          least = pack.at[i];
          best = at + i;
        }
      }
    }
    put(e, least, best);
  }

  /// A pack of the level below.
  RAYDEX_HD value_pack<Value> read(std::uint64_t number) const {
    if (level == 1) return below.array.pack(number);
    const Value* const entries = below.minima + below.layout.begin[level - 1];
    return load_whole(reinterpret_cast<const value_pack<Value>*>(entries) + number);
  }

  /// Writes what was found: the minimum, and which entry of the level below it is.
  RAYDEX_HD void put(std::uint64_t e, Value least, std::uint64_t best) const {
    const level_layout& layout = below.layout;
    minima[layout.begin[level] + e] = least;
    if (level == 1) {
      offsets[e] = static_cast<std::uint8_t>(best - (e << layout.first_shift));
      return;
    }
    const bool is_there = best < layout.entries(level - 1, below.array.end());
    Place place = 0;
    if (is_there && level == 2) {
      place = static_cast<Place>(best << layout.first_shift) + load(below.offsets + best);
    } else if (is_there) {
      place = load(below.places + (layout.begin[level - 1] - layout.begin[2]) + best);
    }
    places[layout.begin[level] - layout.begin[2] + e] = place;
  }
};

/// Writes what the entries of a block of a level tell of those beside them.
template <class Value, class Place>
struct put_parts {
  static constexpr unsigned block = level_layout::fan_out;  ///< its entries

  minima_levels<Value, Place> levels;     ///< up to this one
  unsigned level = 1;                     ///< of the block
  std::uint32_t* masks = nullptr;         ///< of level 2 and up
  std::uint8_t* least_beside[2] = {};     ///< of level 1
  end_entry<Value>* end_entries[2] = {};  ///< of level 2 and up

  /// Writes it.
  RAYDEX_HD void operator()(std::uint64_t number) const {
    const Value* const entries = levels.minima + levels.layout.begin[level] + number * block;
    // Which entries up to the one at hand are better than all after them, up to it.
    std::uint32_t mask = 0;
    unsigned before = 0;
    for (unsigned e = 0; e < block; ++e) {
      const Value own = load(entries + e);
      while (mask != 0 && is_better(own, load(entries + floor_log2(mask))))
        mask &= ~(std::uint32_t{1} << floor_log2(mask));
      mask |= std::uint32_t{1} << e;
      put_mask(number * block + e, mask);
      put_side(1, number * block + e, own, before, load(entries + before), e != 0);
      before = first_bit(mask);
    }
    unsigned after = block - 1;
    for (unsigned e = block; e-- > 0;) {
      const Value own = load(entries + e);
      put_side(0, number * block + e, own, after, load(entries + after), e + 1 != block);
      if (!is_better(load(entries + after), own)) after = e;
    }
  }

  /// Whether an entry is better than one before it.
  RAYDEX_HD bool is_better(Value later, Value earlier) const {
    return levels.rightmost ? !less(earlier, later) : less(later, earlier);
  }
  /// Writes which of the entries beside entry `e`, those after it (side 0) or before it (1), is the
  /// least, and its value, if there are any.
  RAYDEX_HD void put_side(unsigned side, std::uint64_t e, Value own, unsigned least, Value value,
                          bool is_any) const {
    if (level == 1) {
      least_beside[side][e] = static_cast<std::uint8_t>(least);
    } else {
      end_entries[side][beyond_level_1(e)] = {own, is_any ? value : last_value<Value>()};
    }
  }
  /// Writes the mask of entry `e`: which entries of its block up to it are better than all after
  /// them, up to it. The first of these from some entry on is the minimum from there to it, so that
  /// a mask answers for every part of a block that ends at its entry.
  RAYDEX_HD void put_mask(std::uint64_t e, std::uint32_t mask) const {
    if (level > 1) masks[beyond_level_1(e)] = mask;
  }

 private:
  RAYDEX_HD std::uint64_t beyond_level_1(std::uint64_t entry) const {
    return levels.layout.begin[level] - levels.layout.begin[2] + entry;
  }
};
/// @}

}  // namespace raydex::core
