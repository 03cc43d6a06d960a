// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranks by place, and what leads to those that are not below a bound: a tree of the largest ones,
/// and lists of rows for every few ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Visits the rows of a block whose flags are set, up to number `count` - 1, and has a thread take
/// their flags; returns how many were seen.
template <voting_group Team, class Rank, class Visit>
RAYDEX_HD std::uint64_t visit_flagged(const Team& team, std::uint32_t& flags, const Rank* rows,
                                      std::uint64_t seen, std::uint64_t count, const Visit& visit) {
  if (team.lanes() == 1) {
    for (; flags != 0 && seen < count; flags &= flags - 1, ++seen)
      visit(load(rows + first_bit(flags)), seen);
    return seen;
  }
  const std::uint64_t number = seen + count_bits(flags & ((1U << team.lane()) - 1));
  if ((flags >> team.lane() & 1) != 0 && number < count) visit(load(rows + team.lane()), number);
  return seen + count_bits(flags);
}

/// Visits those of some rows whose rank is at least `least`. Ranks can be read 31 further. Returns
/// how many were seen, those before included.
template <voting_group Team, class Rank, class Visit>
RAYDEX_HD std::uint64_t visit_at_least(const Team& team, const Rank* ranks, const Rank* rows,
                                       std::uint64_t size, Rank least, std::uint64_t seen,
                                       std::uint64_t count, const Visit& visit) {
  for (std::uint64_t i = 0; i < size && seen < count; i += Team::compared) {
    std::uint32_t flags = team.at_least(ranks + i, least);
    if (size - i < Team::compared) flags &= (1U << (size - i)) - 1;
    seen = visit_flagged(team, flags, rows + i, seen, count, visit);
  }
  return seen;
}

/// Ranks by place, below levels that have the largest of `fan_out` entries of the level before
/// each. Each level can be read up to a multiple of 32 entries, and ranks 31 further.
template <class Rank>
struct rank_tree {
  static constexpr unsigned fan_out_bits = 3;              ///< of `fan_out`
  static constexpr unsigned fan_out = 1U << fan_out_bits;  ///< entries below one
  static constexpr unsigned most_levels = 21;              ///< above the ranks

  const Rank* ranks;                           ///< by place
  const Rank* rows;                            ///< the row of each place
  const Rank* largest;                         ///< all levels, the lowest one first
  std::uint64_t size;                          ///< places
  unsigned levels;                             ///< how many
  std::uint64_t begins[most_levels + 1] = {};  ///< where each level begins in `largest`

  /// Entries of a level over some ranks; level 0 are the ranks.
  RAYDEX_HD static constexpr std::uint64_t size_of(std::uint64_t size, unsigned level) {
    return size == 0 ? 0 : ((size - 1) >> (level * fan_out_bits)) + 1;
  }
  /// How many levels so many ranks take: the last one has at most `fan_out` entries.
  static constexpr unsigned levels_of(std::uint64_t size) {
    unsigned levels = 0;
    while (size_of(size, levels) > fan_out)
      ++levels;
    return levels;
  }

  /// The largest of the first `count` ranks; 0 of none.
  RAYDEX_HD Rank largest_of_first(std::uint64_t count) const {
    Rank found = 0;
    std::uint64_t end = count;
    for (unsigned level = 0; end != 0 && level <= levels; ++level, end /= fan_out) {
      const Rank* const entries = level == 0 ? ranks : largest + begins[level];
      for (std::uint64_t i = level == levels ? 0 : end / fan_out * fan_out; i < end; ++i)
        found = entries[i] < found ? found : entries[i];
    }
    return found;
  }

  /// Calls `visit(row, number)` for the rows from place `from` on whose rank is at least `least`,
  /// in order, for number 0 to `count - 1`; there are `count` or more. The lanes of a team visit
  /// different ones. Returns a place from which on the next ones follow, to a thread alone.
  template <voting_group Team, class Visit>
  RAYDEX_HD std::uint64_t for_each_from(const Team& team, std::uint64_t from, Rank least,
                                        std::uint64_t count, const Visit& visit) const {
    constexpr unsigned block = Team::compared;  // entries that are looked at together
    static_assert(block % fan_out == 0 && block <= 32);
    std::uint64_t seen = 0;
    unsigned level = from == 0 ? levels : 0;
    std::uint64_t at = from;  // an entry of the level: what comes before it is done
    while (seen < count) {
      const Rank* const entries = level == 0 ? ranks : largest + begins[level];
      const auto in_block = static_cast<unsigned>(at % block);
      const std::uint64_t first = at - in_block;
      const std::uint64_t left = size_of(size, level) - first;
      std::uint32_t flags = team.at_least(entries + first, least) & ~std::uint32_t{0} << in_block;
      if (left < block) flags &= (1U << left) - 1;
      if (level == 0) {
        seen = visit_flagged(team, flags, rows + first, seen, count, visit);
        // Of a thread, the flags that are left are those of rows that it has not visited.
        if (seen >= count) return flags == 0 ? first + block : first + first_bit(flags);
      } else if (flags != 0) {
        at = (first + first_bit(flags)) * fan_out;
        --level;
        continue;
      }
      // What follows the block, above it where it was the last one of those below a block.
      at = first + block;
      do {
        at /= fan_out;
        ++level;
      } while (at % block == 0 && level < levels);
    }
    return from;
  }
};

/// Writes the largest of `fan_out` entries of a level.
template <class Rank>
struct put_largest {
  static constexpr unsigned fan_out = rank_tree<Rank>::fan_out;  ///< entries below one
  const Rank* below;                                             ///< the level below
  std::uint64_t size;                                            ///< its entries
  Rank* out;                                                     ///< the level
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    Rank largest = 0;
    for (std::uint64_t j = i * fan_out; j < (i + 1) * fan_out && j < size; ++j)
      largest = below[j] < largest ? largest : below[j];
    out[i] = largest;
  }
};

/// For every `spacing` ranks a list of rows: of the first places, as many as all lower ranks lie
/// among, those whose rank is not lower. A probe of any rank finds its rows in the list before it
/// and in the places that follow. If ranks below it are all among its first places, it meets fewer
/// than `spacing` others. (Chazelle: Filtering search, 1986.)
template <class Rank>
struct rank_lists {
  static constexpr unsigned spacing = 16;  ///< ranks
  static constexpr unsigned served = 64;   ///< rows of a probe that uses lists
  /// Rows of a list. A longer one is left out.
  static constexpr unsigned most = served + spacing;
  static constexpr Rank left_out = std::numeric_limits<Rank>::max();  ///< in the place of a place

  const Rank* places = nullptr;         ///< of each list how many it covers; null: there are none
  const std::uint64_t* ends = nullptr;  ///< where each list ends
  const Rank* ranks = nullptr;          ///< those of all lists, readable 31 further
  const Rank* rows = nullptr;           ///< their rows

  /// The rows of one probe.
  struct slice {
    std::uint64_t begin;  ///< in the lists
    unsigned size;        ///< rows there
    Rank place;           ///< the first place that follows; `left_out`: there is no list
  };
  /// Where those of ranks from `least` on are.
  RAYDEX_HD slice from(Rank least) const {
    const Rank list = least / spacing;
    const std::uint64_t begin = list == 0 ? 0 : load(ends + list - 1);
    return {begin, static_cast<unsigned>(load(ends + list) - begin), load(places + list)};
  }
};

/// Finds what each list covers, and how many rows it has.
template <class Rank>
struct measure_lists {
  using lists = rank_lists<Rank>;  ///< what is measured
  rank_tree<Rank> place_of_rank;   ///< places by rank
  Rank* places;                    ///< of each list
  Rank* leasts;                    ///< its least rank
  Rank* counts;                    ///< its rows
  std::uint64_t* sizes;            ///< likewise
  /// Measures one.
  RAYDEX_HD void operator()(std::uint64_t list) const {
    const auto least = static_cast<Rank>(list * lists::spacing);
    const Rank place = least == 0 ? 0 : place_of_rank.largest_of_first(least) + 1;
    const bool serves = place - least <= lists::most;
    places[list] = serves ? place : lists::left_out;
    leasts[list] = least;
    counts[list] = serves ? place - least : 0;
    sizes[list] = counts[list];
  }
};

}  // namespace raydex::core
