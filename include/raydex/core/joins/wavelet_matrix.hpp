// SPDX-License-Identifier: Apache-2.0
/// @file
/// A wavelet matrix: how many of some places have ranks from a bound on, and which one is the k-th.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Bits of as many entries as a word has, and how many ones are before them.
template <class Rank>
struct ranked_bits {
  static constexpr unsigned entries = 8 * sizeof(Rank);  ///< of a word
  Rank before;                                           ///< ones of the words before
  Rank bits;                                             ///< the entries of this one

  /// The ones before entry `i` of the word.
  RAYDEX_HD Rank ones_before(unsigned i) const {
    return before + static_cast<Rank>(count_bits(bits & ((Rank{1} << i) - 1)));
  }
};

/// A wavelet matrix over places in the order of ranks: which place the row of each rank has. A
/// level has a bit of each place, the highest one first, in the order that the bits before it leave
/// them in, zeros before ones. (Claude, Navarro, Ordonez: The wavelet matrix, 2015.)
template <class Rank>
struct wavelet_matrix {
  using word = ranked_bits<Rank>;  ///< bits of a level

  const word* words = nullptr;  ///< those of all levels, the highest one first; null: none is built
  std::uint64_t size = 0;       ///< places
  unsigned levels = 0;          ///< bits of a place, and of `size`

  /// How many words a level of so many places has: one more than those that are full.
  RAYDEX_HD static constexpr std::uint64_t words_of(std::uint64_t size) {
    return size / word::entries + 1;
  }

  /// How many rows of rank `least` or more have a place before `end`.
  RAYDEX_HD Rank count(Rank least, Rank end) const {
    auto range = all_from(least);
    Rank found = 0;
    for (unsigned level = 0; level < levels; ++level) {
      // Without branches, as nobody can tell bits of a probe beforehand.
      const step next = step_of(level, range);
      const Rank one = Rank{0} - (end >> (levels - 1 - level) & 1);
      found += next.zeros.size() & one;
      range = {(next.ones.begin & one) | (next.zeros.begin & ~one),
               (next.ones.end & one) | (next.zeros.end & ~one)};
    }
    return found;
  }

  /// The place of the k-th one of them, counted from 0; there are more than k.
  RAYDEX_HD Rank place_of(Rank least, Rank k) const {
    auto range = all_from(least);
    Rank place = 0;
    for (unsigned level = 0; level < levels; ++level) {
      const step next = step_of(level, range);
      const bool one = k >= next.zeros.size();
      if (one) k -= next.zeros.size();
      range = one ? next.ones : next.zeros;
      place = static_cast<Rank>(place << 1 | (one ? 1 : 0));
    }
    return place;
  }

 private:
  struct bounds {
    Rank begin;
    Rank end;
    RAYDEX_HD Rank size() const { return end - begin; }
  };
  struct step {
    bounds zeros;
    bounds ones;
  };

  RAYDEX_HD bounds all_from(Rank least) const { return {least, static_cast<Rank>(size)}; }

  // Where the entries of a range are in the level after this one, by their bit.
  RAYDEX_HD step step_of(unsigned level, const bounds& from) const {
    const word* const own = words + level * words_of(size);
    const auto all = static_cast<Rank>(size);
    const Rank zeros = all - ones_before(own, all);
    const Rank begin = ones_before(own, from.begin);
    const Rank end = ones_before(own, from.end);
    return {{from.begin - begin, from.end - end}, {zeros + begin, zeros + end}};
  }
  RAYDEX_HD static Rank ones_before(const word* level, Rank i) {
    const word* const own = level + i / word::entries;
    return word{load(&own->before), load(&own->bits)}.ones_before(
        static_cast<unsigned>(i % word::entries));
  }
};

/// Writes the bits of a level, and how many ones each word has.
template <class Rank>
struct put_level_bits {
  using word = ranked_bits<Rank>;                       ///< bits of a level
  static constexpr unsigned chunk = 32;                 ///< words that a group writes
  static constexpr std::size_t most_scratch_bytes = 0;  ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  const Rank* places;   ///< in the order of the level
  std::uint64_t size;   ///< how many
  unsigned shift;       ///< to the bit
  word* words;          ///< of the level
  std::uint64_t* ones;  ///< a number a word

  /// Writes a chunk.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t c) const {
    const std::uint64_t all = wavelet_matrix<Rank>::words_of(size);
    for (std::uint64_t w = c * chunk; w < (c + 1) * chunk && w < all; ++w) {
      Rank bits = 0;
      for (unsigned i = 0; i < word::entries; i += group.lanes()) {
        const std::uint64_t at = w * word::entries + i + group.lane();
        bits |= Rank{group.vote(at < size && (load(places + at) >> shift & 1) != 0)} << i;
      }
      if (group.lane() != 0) continue;
      words[w].bits = bits;
      ones[w] = count_bits(bits);
    }
  }
};

/// Completes a level, and puts its places in the order of the next one.
template <class Rank>
struct put_next_level {
  using word = ranked_bits<Rank>;                                 ///< bits of a level
  static constexpr unsigned chunk = put_level_bits<Rank>::chunk;  ///< words that a group writes
  static constexpr std::size_t most_scratch_bytes = 0;            ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  const Rank* places;         ///< in the order of the level
  std::uint64_t size;         ///< how many
  const std::uint64_t* ones;  ///< of each word and all before it
  word* words;                ///< of the level; `before` is written
  Rank* out;                  ///< the places in their next order

  /// Puts those of a chunk.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t c) const {
    const std::uint64_t all = wavelet_matrix<Rank>::words_of(size);
    const std::uint64_t zeros = size - load(ones + size / word::entries);
    for (std::uint64_t w = c * chunk; w < (c + 1) * chunk && w < all; ++w) {
      const Rank bits = words[w].bits;
      const std::uint64_t before = load(ones + w) - count_bits(bits);
      if (group.lane() == 0) words[w].before = static_cast<Rank>(before);
      std::uint64_t ones_before = before;  // this lane's entry
      for (unsigned i = group.lane(); i < word::entries; i += group.lanes()) {
        const std::uint64_t at = w * word::entries + i;
        if (at >= size) break;
        const bool one = (bits >> i & 1) != 0;
        if (group.lanes() != 1) ones_before = before + count_bits(bits & ((Rank{1} << i) - 1));
        out[one ? zeros + ones_before : at - ones_before] = places[at];
        ones_before += one ? 1 : 0;
      }
    }
  }
};

}  // namespace raydex::core
