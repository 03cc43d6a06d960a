// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys of several columns, side by side in one number whose order is theirs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"

namespace raydex::core {

/// A column of a composite key: its cells, and the numbers that they become. A code is a number by
/// how many steps it is behind the first one in the order of the column, where a descending one has
/// the complements of codes.
struct numbered_column {
  key_cells cells;            ///< none of strings
  std::uint64_t flip = 0;     ///< ones where the column descends
  std::uint64_t low = 0;      ///< the smallest code or complement
  std::uint64_t span = 0;     ///< the largest one less the smallest one
  std::uint64_t step = 1;     ///< what all distances from the first code are multiples of
  std::uint64_t missing = 0;  ///< the number of a missing cell
  std::uint8_t shift = 0;     ///< the number of the first value: 1 behind missing cells
  std::uint8_t bits = 0;      ///< that a number takes
  bool has_values = false;    ///< whether any cell has a value
  bool has_missing = false;   ///< whether missing cells have a number

  /// How far a code is from the first one; more than `span` where it is outside of them.
  RAYDEX_HD std::uint64_t distance(std::uint64_t code) const { return (code ^ flip) - low; }
  /// The steps in a distance.
  RAYDEX_HD std::uint64_t steps(std::uint64_t after) const {
    return step == 1 ? after : after / step;
  }
  /// Whether a value at a distance has a number.
  RAYDEX_HD bool has_number(std::uint64_t after) const {
    return has_values & (after <= span) & (step == 1 || steps(after) * step == after);
  }
  /// Writes the number of cell `i`; false where it has none.
  RAYDEX_HD bool number(std::uint64_t i, std::uint64_t& out) const {
    if (!cells.fixed.valid(i)) {
      out = missing;
      return has_missing;
    }
    const std::uint64_t after = distance(cells.code(i));
    out = steps(after) + shift;
    return has_number(after);
  }
  /// The same of N cells, of those that exist, all under way at a time.
  template <std::size_t N>
  RAYDEX_HD void number(const std::uint64_t (&i)[N], const bool (&exists)[N],
                        std::uint64_t (&out)[N], bool (&has)[N]) const {
    bool there[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      there[j] = exists[j] && cells.fixed.valid(i[j]);
    cells.codes(i, there, out);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t after = distance(out[j]);
      out[j] = there[j] ? steps(after) + shift : missing;
      has[j] = there[j] ? has_number(after) : has_missing;
    }
  }
  /// The largest number.
  RAYDEX_HD std::uint64_t largest() const {
    return has_values ? span / step + (has_missing ? 1 : 0) : 0;
  }
  /// The code that a number stands for, which is not `missing`.
  RAYDEX_HD std::uint64_t code(std::uint64_t number) const {
    return ((number - shift) * step + low) ^ flip;
  }
  /// Takes the last number from others that it was put below.
  RAYDEX_HD std::uint64_t take(std::uint64_t& all) const {
    const unsigned half = bits / 2;
    const std::uint64_t above = all >> half >> (bits - half);
    const std::uint64_t number = all ^ below(above, 0);
    all = above;
    return number;
  }
  /// Puts a number below others. In two steps, since no number is shifted by all of its 64 bits.
  RAYDEX_HD std::uint64_t below(std::uint64_t all, std::uint64_t number) const {
    const unsigned half = bits / 2;
    return all << half << (bits - half) | number;
  }
};

/// The columns of a composite key, or the first ones of them.
struct numbered_columns {
  static constexpr unsigned most = 16;  ///< columns

  numbered_column parts[most];  ///< the first one highest
  unsigned count = 0;           ///< how many

  /// Writes the number of key `i`; false where a cell has none, so that the key equals no other.
  RAYDEX_HD bool number(std::uint64_t i, std::uint64_t& out) const {
    bool matches = true;
    out = 0;
    for (unsigned p = 0; p < count; ++p) {
      std::uint64_t own;
      matches &= parts[p].number(i, own);
      out = parts[p].below(out, own);
    }
    return matches;
  }
  /// The same of N keys, of those that exist.
  template <std::size_t N>
  RAYDEX_HD void number(const std::uint64_t (&i)[N], const bool (&exists)[N],
                        std::uint64_t (&out)[N], bool (&matches)[N]) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      out[j] = 0;
      matches[j] = exists[j];
    }
    for (unsigned p = 0; p < count; ++p) {
      std::uint64_t own[N];
      bool has[N];
      parts[p].number(i, exists, own, has);
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j) {
        matches[j] = matches[j] && has[j];
        out[j] = parts[p].below(out[j], own[j]);
      }
    }
  }
};

/// Finds what all distances of the codes of a column are multiples of: of each chunk the greatest
/// common divisor of the distances from one code, 0 where there are none but 0.
struct find_code_steps {
  static constexpr std::uint64_t chunk = 1 << 13;       ///< cells that a group looks at
  static constexpr std::size_t most_scratch_bytes = 0;  ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  key_cells from;       ///< the column
  std::uint64_t first;  ///< the code
  std::uint64_t size;   ///< how many cells
  std::uint64_t* out;   ///< a number a chunk

  /// The greatest common divisor.
  RAYDEX_HD static std::uint64_t divisor(std::uint64_t a, std::uint64_t b) {
    while (b != 0) {
      const std::uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }

  /// Looks at a chunk.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t c) const {
    const std::uint64_t begin = c * chunk;
    const std::uint64_t end = size - begin < chunk ? size : begin + chunk;
    std::uint64_t all = 0;
    for (std::uint64_t i = begin + group.lane(); i < end && all != 1; i += group.lanes())
      if (from.fixed.valid(i)) all = divisor(from.code(i) - first, all);
    all = group.reduce(all, [](std::uint64_t a, std::uint64_t b) { return divisor(a, b); });
    if (group.lane() == 0) out[c] = all;
  }
};

/// Writes composite keys as numbers, and which of them have one.
template <class Code>
struct put_composite_keys {
  static constexpr std::uint64_t chunk = 1 << 10;       ///< keys that a group writes
  static constexpr std::size_t most_scratch_bytes = 0;  ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  numbered_columns from;   ///< the columns
  std::uint64_t size;      ///< how many keys
  Code* out;               ///< a number a key; ones in all bits where it has none
  std::uint8_t* validity;  ///< a bit a key, whether it has one; null: nobody asks
  bool all_match;          ///< whether each key is known to have one

  /// Writes a chunk.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t c) const {
    const std::uint64_t begin = c * chunk;
    const std::uint64_t end = size - begin < chunk ? size : begin + chunk;
    if (group.lanes() == 1) return by_columns(begin, static_cast<unsigned>(end - begin));
    for (std::uint64_t first = begin; first < end; first += at_once * group.lanes()) {
      std::uint64_t keys[at_once];
      bool exist[at_once];
      RAYDEX_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        keys[k] = first + k * group.lanes() + group.lane();
        exist[k] = keys[k] < end;
      }
      std::uint64_t numbers[at_once];
      bool match[at_once];
      from.number(keys, exist, numbers, match);
      RAYDEX_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        if (exist[k]) out[keys[k]] = static_cast<Code>(match[k] ? numbers[k] : ~std::uint64_t{0});
        if (validity == nullptr) continue;
        const std::uint32_t flags = group.vote(match[k]);
        const std::uint64_t byte = (first + k * group.lanes()) / 8 + group.lane();
        if (group.lane() < group.lanes() / 8 && byte * 8 < end)
          validity[byte] = static_cast<std::uint8_t>(flags >> 8 * group.lane());
      }
    }
  }

 private:
  static constexpr unsigned at_once = 4;  // keys of a lane

  // One column after the other, so that the format of its cells is looked at once.
  RAYDEX_HD void by_columns(std::uint64_t begin, unsigned keys) const {
    std::uint64_t numbers[chunk];
    bool match[chunk];
    for (unsigned j = 0; j < keys; ++j) {
      numbers[j] = 0;
      match[j] = true;
    }
    for (unsigned p = 0; p < from.count; ++p) {
      const numbered_column part = from.parts[p];
      // Apart, so that the steps are looked at once, and rows not for whether they match.
      const auto add = [&](const auto& code_of) {
        const auto distance = [&](unsigned j) { return part.distance(code_of(begin + j)); };
        if (part.step == 1) {
          for (unsigned j = 0; j < keys; ++j)
            numbers[j] = part.below(numbers[j], distance(j) + part.shift);
        } else {
          for (unsigned j = 0; j < keys; ++j)
            numbers[j] = part.below(numbers[j], distance(j) / part.step + part.shift);
        }
        for (unsigned j = 0; j < keys && !all_match; ++j)
          match[j] &= part.has_number(distance(j));
      };
      if (part.cells.fixed.validity == nullptr && with_typed_codes(part.cells.fixed, add)) continue;
      for (unsigned j = 0; j < keys; ++j) {
        std::uint64_t own;
        match[j] &= part.number(begin + j, own);
        numbers[j] = part.below(numbers[j], own);
      }
    }
    for (unsigned j = 0; j < keys; ++j)
      out[begin + j] = static_cast<Code>(match[j] ? numbers[j] : ~std::uint64_t{0});
    if (validity == nullptr) return;
    for (unsigned j = 0; j < keys; j += 8) {
      unsigned bits = 0;
      for (unsigned b = 0; b < 8 && j + b < keys; ++b)
        bits |= (match[j + b] ? 1U : 0U) << b;
      validity[(begin + j) / 8] = static_cast<std::uint8_t>(bits);
    }
  }
};

/// Writes the closest numbers on one side of composite keys, and which of them have one: in the
/// order of all columns, where fewer columns than the key has equal all keys that begin with them.
template <class Code>
struct put_closest_numbers {
  numbered_columns keys;   ///< all columns, the first ones with cells
  unsigned given;          ///< how many of them have cells
  bool before;             ///< whether the largest number before a key is closest, or the
                           ///< smallest one behind it
  bool or_equal;           ///< whether a number of the key itself is closest
  std::uint64_t size;      ///< how many keys
  Code* out;               ///< a number a key, of any value where there is none
  std::uint8_t* validity;  ///< a bit a key

  /// Writes eight.
  RAYDEX_HD void operator()(std::uint64_t byte) const {
    unsigned bits = 0;
    for (unsigned b = 0; b < 8 && byte * 8 + b < size; ++b) {
      std::uint64_t number = 0;
      if (closest(byte * 8 + b, number)) bits |= 1U << b;
      out[byte * 8 + b] = static_cast<Code>(number);
    }
    validity[byte] = static_cast<std::uint8_t>(bits);
  }

 private:
  // How a key lies to the numbers from the first to the last one.
  enum class place { among, before, behind };

  RAYDEX_HD bool closest(std::uint64_t i, std::uint64_t& number) const {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    place own = place::among;
    for (unsigned p = 0; p < keys.count; ++p) {
      const numbered_column& part = keys.parts[p];
      if (p < given && !part.has_missing && !part.cells.fixed.valid(i)) return false;
      std::uint64_t least = 0;
      std::uint64_t most = part.largest();
      if (p < given && own == place::among) {
        if (!part.number(i, least)) own = outside(part, i, least);
        most = least;
      }
      first = part.below(first, least);
      last = part.below(last, most);
    }
    constexpr auto largest = static_cast<Code>(~Code{0});
    if (before) {
      const bool takes_last = own == place::behind || (own == place::among && or_equal);
      number = takes_last ? last : first - 1;
      return takes_last || first != 0;
    }
    const bool takes_first = own == place::before || (own == place::among && or_equal);
    number = takes_first ? first : last + 1;
    return takes_first || last != largest;
  }
  // On which side of all values of a column a value is, and the number of the closest one.
  RAYDEX_HD static place outside(const numbered_column& part, std::uint64_t i,
                                 std::uint64_t& number) {
    number = 0;
    if (!part.has_values) return part.shift != 0 ? place::behind : place::before;
    const std::uint64_t code = part.cells.code(i) ^ part.flip;
    const std::uint64_t after = code - part.low;
    number = part.shift;
    if (code < part.low) return place::before;
    number += (after < part.span ? after : part.span) / part.step;
    return place::behind;  // perhaps between two numbers
  }
};

/// Writes the places of keys among those of a dictionary: the number of a key that it has, else
/// that between the closest two.
template <class Code, class Number>
struct put_places {
  const Code* before;              ///< the closest key of the dictionary that is not greater, or
                                   ///< less
  const std::uint8_t* has_before;  ///< a bit a key, whether there is one
  const Code* itself;              ///< the key itself; null: it is none of the dictionary's
  const std::uint8_t* has_itself;  ///< a bit a key, whether it can be one of these; null: it can
  composite_cells needed;          ///< columns without whose values a key has no place
  std::uint64_t size;              ///< how many keys
  Number* numbers;                 ///< at first of the keys before, 0 if there is none
  std::uint8_t* validity;          ///< a bit a key, whether it has a place

  /// Writes eight.
  RAYDEX_HD void operator()(std::uint64_t byte) const {
    unsigned bits = 0;
    for (unsigned b = 0; b < 8 && byte * 8 + b < size; ++b) {
      const std::uint64_t i = byte * 8 + b;
      const bool can_be = has_itself == nullptr || (has_itself[byte] >> b & 1) != 0;
      const bool is_key =
          itself != nullptr && can_be && (has_before[byte] >> b & 1) != 0 && before[i] == itself[i];
      if (!is_key) numbers[i] += numbers[i] % 2;
      if (needed.complete(i)) bits |= 1U << b;
    }
    validity[byte] = static_cast<std::uint8_t>(bits);
  }
};

/// Writes ranges of composite keys as ranges of their numbers: all keys whose first columns are
/// equal to those of a probe, and whose next column lies within bounds, both included. An empty
/// range goes from the largest number to 0.
template <class Code>
struct put_composite_ranges {
  numbered_columns equal;   ///< the first columns; perhaps none
  numbered_column bounded;  ///< the next one, without cells
  key_cells lower;          ///< its lower bounds, if there are any
  key_cells upper;          ///< its upper ones, if there are any
  bool has_lower = false;   ///< whether there are
  bool has_upper = false;   ///< likewise
  std::uint8_t behind = 0;  ///< the bits of all columns that are neither
  Code* least = nullptr;    ///< the smallest number of each range
  Code* most = nullptr;     ///< the largest one

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t first = 0;
    bool any = equal.number(i, first);
    std::uint64_t last = first;
    if (has_lower || has_upper) any = within_bounds(i, first, last) && any;
    numbered_column rest;
    rest.bits = behind;
    first = rest.below(first, 0);
    last = rest.below(last, behind == 0 ? 0 : ~std::uint64_t{0} >> (64 - behind));
    least[i] = static_cast<Code>(any ? first : ~std::uint64_t{0});
    most[i] = static_cast<Code>(any ? last : 0);
  }

 private:
  // Puts the numbers of bounds below those of the columns before; false where no number is within.
  RAYDEX_HD bool within_bounds(std::uint64_t i, std::uint64_t& first, std::uint64_t& last) const {
    if (!bounded.has_values) return false;
    if ((has_lower && !lower.fixed.valid(i)) || (has_upper && !upper.fixed.valid(i))) return false;
    const std::uint64_t lowest = has_lower ? lower.code(i) : 0;
    const std::uint64_t highest = has_upper ? upper.code(i) : ~std::uint64_t{0};
    if (lowest > highest) return false;
    const std::uint64_t begin = bounded.flip != 0 ? ~highest : lowest;
    const std::uint64_t end = bounded.flip != 0 ? ~lowest : highest;
    if (end < bounded.low) return false;
    const std::uint64_t after = end - bounded.low;
    const std::uint64_t most_steps = (after < bounded.span ? after : bounded.span) / bounded.step;
    std::uint64_t least_steps = 0;
    if (begin > bounded.low) {
      const std::uint64_t before = begin - bounded.low;
      if (before > bounded.span) return false;
      least_steps = before / bounded.step + (before % bounded.step != 0 ? 1 : 0);
    }
    if (least_steps > most_steps) return false;
    first = bounded.below(first, least_steps + bounded.shift);
    last = bounded.below(last, most_steps + bounded.shift);
    return true;
  }
};

}  // namespace raydex::core
