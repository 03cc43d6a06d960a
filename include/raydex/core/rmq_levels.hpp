// SPDX-License-Identifier: Apache-2.0
/// @file
/// Levels of block minima over an array. Each block of entries can be asked for the minimum of any
/// part of it; blocks at the ends of a range bound what is in them, and are looked into only where
/// they could hold the minimum.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/rmq.hpp"

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

/// A minimum that was found, and where: in an entry of a level, which begins at a place.
template <class Value, class Place>
struct found_minimum {
  Value value = last_value<Value>();  ///< the minimum
  Place begin = 0;                    ///< the first place of the entry
  unsigned level = 0;                 ///< of the entry
  bool any = false;                   ///< whether there is one

  /// Takes another one if that is better: smaller, or equal and where ties have it.
  template <bool Where>
  RAYDEX_HD void take(Value other, Place other_begin, unsigned other_level, bool rightmost) {
    if constexpr (Where) {
      const bool is_better =
          !any || less(other, value) ||
          (!less(value, other) && (rightmost ? other_begin > begin : other_begin < begin));
      if (!is_better) return;
      *this = {other, other_begin, other_level, true};
    } else {
      value = smaller(value, other);
    }
  }
  /// Whether a block whose minimum is `bound` could hold a better one; `wins` says whether its
  /// place is where ties have it.
  template <bool Where>
  RAYDEX_HD bool could_improve(Value bound, bool wins) const {
    return less(bound, value) || (Where && (!any || (wins && !less(value, bound))));
  }
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
  const std::uint32_t* masks = nullptr;   ///< of the entries of level 2 and up, see `put_mask`
  bool rightmost = false;                 ///< of equal values, whose place counts

  /// Takes in what levels 1 and up tell of [first, last]. The blocks of level 1 at its ends may
  /// hold more, if their minima, `left` and `right`, are better. A range within few blocks is
  /// scanned: false, nothing more.
  template <bool Where>
  RAYDEX_HD bool look_above(Place first, Place last, found_minimum<Value, Place>& found,
                            Value& left, Value& right) const {
    constexpr Place in_block = level_layout::fan_out - 1;
    const auto x = static_cast<Place>(first >> layout.first_shift);
    const auto y = static_cast<Place>(last >> layout.first_shift);
    if (y - x < 2 || last - first < scanned || layout.levels == 0) {
      scan<Where>({0, first, last, false, false}, found, left, right);
      return false;
    }
    bool open_left = true;
    bool open_right = true;
    const bool is_near = y - x <= level_layout::fan_out;
    if (!is_near) look_far_above<Where>(first, last, found, left, right, open_left, open_right);
    // What is near is scanned at once, else the entries beside each end in its block.
    for (unsigned side = is_near ? 1 : 0; side < 2; ++side) {
      if (!(side == 0 ? open_left : open_right)) continue;
      const Place from = is_near || side == 0 ? x : y & ~in_block;
      const Place to = is_near || side == 1 ? y : x | in_block;
      scan<Where>({1, from, to, is_near || side == 0, is_near || side == 1}, found, left, right);
    }
    return true;
  }

  /// Takes in the parts of [first, last] in the blocks of level 1 at its ends.
  template <bool Where>
  RAYDEX_HD void look_below(Place first, Place last, Value left, Value right,
                            found_minimum<Value, Place>& found) const {
    const Place in_block = (Place{1} << layout.first_shift) - 1;
    for (unsigned side = 0; side < 2; ++side) {
      const bool is_left = side == 0;
      if (!found.template could_improve<Where>(is_left ? left : right, is_left != rightmost))
        continue;
      const Place from = is_left ? first : last & ~in_block;
      const Place to = is_left ? first | in_block : last;
      scan<Where>({0, from, to, false, false}, found, left, right);
    }
  }

  /// Where a minimum is that was found.
  RAYDEX_HD Place place_of(const found_minimum<Value, Place>& found) const {
    if (found.level == 0) return found.begin;
    const auto entry = static_cast<Place>(found.begin >> layout.shift(found.level));
    if (found.level == 1) return found.begin + load(offsets + entry);
    return load(places + (layout.begin[found.level] - layout.begin[2]) + entry);
  }

 private:
  // Takes in what levels 2 and up tell of a range whose ends are in different blocks of level 1
  // entries, and whether the ends' own entries could hold more.
  template <bool Where>
  RAYDEX_HD void look_far_above(Place first, Place last, found_minimum<Value, Place>& found,
                                Value& left, Value& right, bool& open_left,
                                bool& open_right) const {
    constexpr Place in_block = level_layout::fan_out - 1;
    const auto apart = static_cast<Place>((first ^ last) >> layout.first_shift);
    // The highest level where the ends are different entries, which are in the same block there.
    unsigned level = 1 + floor_log2(apart) / 5;
    bool is_top = true;
    do {
      const unsigned shift = layout.shift(level);
      const Value* const entries = minima + layout.begin[level];
      const auto x = static_cast<Place>(first >> shift);
      const auto y = static_cast<Place>(last >> shift);
      if (open_left) {
        take_part<Where>(level, x + 1, is_top ? y - 1 : x | in_block, found);
        left = load(entries + x);
      }
      if (open_right) {
        if (!is_top && (y & in_block) != 0) take_part<Where>(level, y & ~in_block, y - 1, found);
        right = load(entries + y);
      }
      open_left = open_left && found.template could_improve<Where>(left, !rightmost);
      open_right = open_right && found.template could_improve<Where>(right, rightmost);
      is_top = false;
    } while (--level > 1 && (open_left || open_right));
  }

  // Takes in entries [from, to] of a level, 2 or up, which are in one block; none if from > to.
  template <bool Where>
  RAYDEX_HD void take_part(unsigned level, Place from, Place to,
                           found_minimum<Value, Place>& found) const {
    if (from > to) return;
    const std::uint64_t begin = layout.begin[level];
    const std::uint32_t mask = load(masks + (begin - layout.begin[2]) + to);
    const std::uint32_t in = mask & (~std::uint32_t{0} << (from % level_layout::fan_out));
    const Place entry = to - to % level_layout::fan_out + first_bit(in);
    found.template take<Where>(load(minima + begin + entry), entry << layout.shift(level), level,
                               rightmost);
  }

  // Entries to scan: those of level 0 or 1 from one to another, of which open ends only bound what
  // is in them.
  struct window {
    unsigned level;
    Place from;
    Place to;
    bool opens_left;
    bool opens_right;
  };

  // Takes in the entries of a window that are not open; the open ones become `left` and `right`.
  template <bool Where>
  RAYDEX_HD void scan(const window& over, found_minimum<Value, Place>& found, Value& left,
                      Value& right) const {
    constexpr unsigned size = value_pack<Value>::size;
    constexpr unsigned ahead = 4;  // packs that are read before the first is looked at
    constexpr unsigned width = ahead * size;
    const Place first_number = over.from / size;
    const Place last_number = over.to / size;
    if (over.level == 0 &&
        (first_number * size < array.first() || (over.to | (size - 1)) >= array.end()))
      return scan_ragged<Where>(over.from, over.to, found);
    const value_pack<Value>* const source =
        over.level == 0 ? array.packs() : reinterpret_cast<const value_pack<Value>*>(minima);
    const Place begin = over.from + (over.opens_left ? 1 : 0);
    const Place end = over.to + (over.opens_right ? 0 : 1);
    for (Place number = first_number; number <= last_number; number += ahead) {
#if defined(__CUDA_ARCH__)
      value_pack<Value> packs[ahead];  // what is not read is not looked at
#else
      value_pack<Value> packs[ahead] = {};
#endif
      RAYDEX_UNROLL
      for (unsigned j = 0; j < ahead; ++j)
        if (number + j <= last_number) packs[j] = load_pack(source + number + j);
      if (std::is_integral_v<Value> && over.level == 0) {
        RAYDEX_UNROLL
        for (unsigned e = 0; e < width; ++e)
          packs[e / size].at[e % size] = array.ordered(packs[e / size].at[e % size]);
      }
      if (over.opens_left && number == first_number) left = pick(packs[0].at, over.from % size);
      if (over.opens_right && number + ahead > last_number)
        right = pick(pick(packs, last_number - number).at, over.to % size);

      // Which of these entries are taken in.
      const Place base = number * size;
      const std::uint32_t in = low_bits(end < base ? 0 : end - base, width) &
                               ~low_bits(begin < base ? 0 : begin - base, width);
      auto least = last_value<Value>();
      RAYDEX_UNROLL
      for (unsigned e = 0; e < width; ++e)
        if (((in >> e) & 1) != 0) least = smaller(least, packs[e / size].at[e % size]);
      unsigned entry = 0;
      if constexpr (Where) {
        if (in == 0) continue;
        const bool only_nan = is_nan(least);
        std::uint32_t equal = 0;
        RAYDEX_UNROLL
        for (unsigned e = 0; e < width; ++e) {
          const bool is_it =
              ((in >> e) & 1) != 0 && (packs[e / size].at[e % size] <= least || only_nan);
          equal |= is_it ? std::uint32_t{1} << e : 0;
        }
        entry = rightmost ? floor_log2(equal) : first_bit(equal);
      }
      found.template take<Where>(least, (base + entry) << layout.shift(over.level), over.level,
                                 rightmost);
    }
  }

  // The same at the ends of the array, one value after the other.
  template <bool Where>
  RAYDEX_HD void scan_ragged(Place first, Place last, found_minimum<Value, Place>& found) const {
    for (Place place = first; place <= last; ++place)
      found.template take<Where>(array[place], place, 0, rightmost);
  }

  // The lowest `count` of `width` bits.
  RAYDEX_HD static std::uint32_t low_bits(Place count, unsigned width) {
    return (std::uint32_t{1} << (count < width ? static_cast<unsigned>(count) : width)) - 1;
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

/// @name How levels are built: each writes one entry.
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
    return load_pack(reinterpret_cast<const value_pack<Value>*>(entries) + number);
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
    const auto begin = static_cast<Place>(best << layout.shift(level - 1));
    places[layout.begin[level] - layout.begin[2] + e] =
        is_there ? below.place_of({least, begin, level - 1, true}) : 0;
  }
};

/// Writes the mask of entry `e` of a level: which entries of its block up to it are smaller than
/// all after them, up to it. The first of these from some entry on is the minimum from there to it;
/// so a mask answers for every part of a block that ends at its entry. Of equal ones, those that
/// ties have.
template <class Value, class Place>
struct put_mask {
  minima_levels<Value, Place> levels;  ///< up to this one
  unsigned level = 2;                  ///< whose masks to write
  std::uint32_t* masks = nullptr;      ///< of level 2 and up

  /// Writes it.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const std::uint64_t begin = levels.layout.begin[level];
    const std::uint64_t block = e / level_layout::fan_out * level_layout::fan_out;
    Value least = load(levels.minima + begin + e);
    std::uint32_t mask = std::uint32_t{1} << (e - block);
    for (std::uint64_t before = e; before-- > block;) {
      const Value value = load(levels.minima + begin + before);
      if (levels.rightmost ? !less(value, least) : less(least, value)) continue;
      least = value;
      mask |= std::uint32_t{1} << (before - block);
    }
    masks[begin - levels.layout.begin[2] + e] = mask;
  }
};
/// @}

}  // namespace raydex::core
