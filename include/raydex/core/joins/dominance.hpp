// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dominance: of rows that have a place in one order and a rank in another, those of the first
/// places whose rank is not below a bound. Intervals that contain a point are such rows (they begin
/// before it, and end after it), overlaps are, and any two inequalities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/joins/pairs.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Writes where each number of a permutation is, or what belongs to the number at each place.
template <class Rank>
struct put_permuted {
  const Rank* numbers;  ///< the permutation
  const Rank* of;       ///< what belongs to each number; null: its place is asked for
  Rank* out;            ///< by place; by number where places are asked for
  /// Writes that of one place.
  RAYDEX_HD void operator()(std::uint64_t place) const {
    if (of != nullptr) {
      out[place] = of[numbers[place]];
    } else {
      out[numbers[place]] = static_cast<Rank>(place);
    }
  }
};

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
  struct stretch {
    std::uint64_t begin;  ///< in the lists
    unsigned size;        ///< rows there
    Rank place;           ///< the first place that follows; `left_out`: there is no list
  };
  /// Where those of ranks from `least` on are.
  RAYDEX_HD stretch from(Rank least) const {
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

/// From ranks of probes to how many rows they dominate.
template <class Rank>
struct count_dominated {
  const std::uint64_t* end;     ///< of each probe the place behind the first ones; null: `size`
  const std::uint64_t* least;   ///< the least rank; null: 0
  const std::uint8_t* valid;    ///< a bit a probe; null: all match
  std::uint64_t size;           ///< rows
  wavelet_matrix<Rank> matrix;  ///< none: the rows of lower ranks are all among the first places
  bool first;                   ///< whether of many one is counted
  const Rank* rows;             ///< by rank; null: none are wanted
  Rank* leasts;         ///< the least rank of each, or its row where there is one; 0 of none
  Rank* counts;         ///< how many
  std::uint64_t* most;  ///< the largest count so far; null: not wanted
  /// Counts those of one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t places = end == nullptr ? size : end[i];
    const std::uint64_t lower = least == nullptr ? 0 : least[i];
    Rank count = 0;
    if (valid == nullptr || (load(valid + i / 8) >> (i % 8) & 1) != 0) {
      if (matrix.words != nullptr) {
        count = matrix.count(static_cast<Rank>(lower), static_cast<Rank>(places));
      } else if (lower < places) {
        count = static_cast<Rank>(places - lower);
      }
    }
    if (first && count > 1) count = 1;
    Rank least_of_it = count == 0 ? Rank{0} : static_cast<Rank>(lower);
    if (count == 1 && rows != nullptr) least_of_it = rows[lower];
    leasts[i] = least_of_it;
    counts[i] = count;
    if (most != nullptr && count > load_atomically(most)) keep_largest(most, count);
  }
};

/// Writes a bit for each valid interval, eight a byte: one that has its ends and a key, and does
/// not end before it begins.
template <class Key>
struct put_interval_validity {
  encoded_column<Key> lower;  ///< their ends
  encoded_column<Key> upper;  ///< likewise
  composite_cells keys;       ///< their keys, or none
  std::uint64_t size;         ///< how many
  std::uint8_t* out;          ///< a bit each
  std::uint64_t* empty;       ///< becomes 1 if the ends of one are equal; 0 at first
  /// Writes byte `byte`.
  RAYDEX_HD void operator()(std::uint64_t byte) const {
    unsigned bits = 0;
    bool equal = false;
    for (unsigned bit = 0; bit < 8 && byte * 8 + bit < size; ++bit) {
      const std::uint64_t i = byte * 8 + bit;
      if (!lower.valid(i) || !upper.valid(i) || !keys.complete(i)) continue;
      const Key begin = lower[i];
      const Key end = upper[i];
      if (begin <= end) bits |= 1U << bit;
      equal |= begin == end;
    }
    out[byte] = static_cast<std::uint8_t>(bits);
    if (equal && load_atomically(empty) == 0) keep_largest(empty, 1);
  }
};

/// Probes, and the rows that each dominates.
template <class RowId>
struct dominating_probes {
  located_probes<RowId> found;   ///< how many rows each has; `begins` are the least ranks
  rank_tree<RowId> tree;         ///< the rows
  wavelet_matrix<RowId> matrix;  ///< none: no probe has more than `most_skipped` rows
  rank_lists<RowId> lists;       ///< none: rows are found by the tree

  /// So many rows of a probe are passed over, if others write them.
  static constexpr std::uint64_t most_skipped = 1024;
};

/// Writes a slice of the rows of a join of such probes. A team finds the few rows of a probe in its
/// list; if it has none, a thread finds them by the tree, and leaves a handful at a time to its
/// team, which writes those of all its threads. Many are found by teams.
template <class RowId, class Out>
class dominated_writer : public tile_writer<Out> {
  static constexpr std::uint64_t few = rank_lists<RowId>::served;  // rows that a thread finds
  static constexpr unsigned handful = 16;
  static constexpr unsigned team_lanes = 32;
  static constexpr unsigned most_teams = 8;        // of a group
  static constexpr unsigned stride = handful + 1;  // so that lanes write to different banks

 public:
  /// Bytes of scratch: where rows end, and a handful for each thread.
  static constexpr std::size_t most_scratch_bytes =
      tile_ends::scratch_bytes + sizeof(RowId) * most_teams * team_lanes * stride;
  /// See `most_scratch_bytes`.
  RAYDEX_HD static std::size_t scratch_bytes() { return most_scratch_bytes; }

  /// `ends`: where the rows of each tile end.
  RAYDEX_HD dominated_writer(const dominating_probes<RowId>& probes, const std::uint64_t* ends,
                             const row_slice<Out>& slice)
      : tile_writer<Out>(probes.found.size, ends, slice), probes_(probes) {}

 protected:
  /// Writes those of a tile that are in the slice and in [begin, end).
  template <class Group>
  RAYDEX_HD void write(const Group& group, std::byte* scratch, std::uint64_t tile,
                       std::uint64_t begin, std::uint64_t end) const {
    this->clip(tile, begin, end);
    if (begin >= end) return;
    const located_probes<RowId>& found = probes_.found;
    const tile_ends ends(scratch);
    const std::uint64_t first_probe = tile * tile_probes;
    ends.add_up(group, probes_of_tile(tile, found.size),
                [&](unsigned i) { return found.rows(first_probe + i); });
    // Rows are counted from the first one of the tile from here on.
    const std::uint64_t first = this->begin_of(tile);
    const part own{first_probe, first, begin - first, end - first};
    if constexpr (group_of_teams<Group>) {
      write_few(group, ends, own, reinterpret_cast<RowId*>(scratch + tile_ends::scratch_bytes));
      write_many(group, ends, own);
    } else {
      unsigned probe = 0;
      for (std::uint64_t row = own.begin; row < own.end;) {
        probe = ends.probe_of(group, row, probe);
        row = write_alone(group, ends, own, probe, row);
      }
    }
    group.sync();
  }

 private:
  // Rows of a tile.
  struct part {
    std::uint64_t first_probe;  // of the tile
    std::uint64_t first_row;    // likewise
    std::uint64_t begin;        // the first row of the part, counted from that
    std::uint64_t end;          // behind the last one

    // Whether a thread finds those of a probe.
    RAYDEX_HD bool are_few(const tile_ends& ends, unsigned probe) const {
      const std::uint64_t from = ends.begin(probe);
      const std::uint64_t to = ends.end(probe);
      return to - from <= few && from >= begin && to <= end;
    }
  };

  template <class Group>
  RAYDEX_HD void write_few(const Group& group, const tile_ends& ends, const part& own,
                           RowId* stage) const {
    const auto team = group.team();
    stage += group.team_number() * team_lanes * stride;
    RowId* const hand = stage + team.lane() * stride;
    for (unsigned probe = group.lane(); probe < tile_probes; probe += group.lanes()) {
      std::uint64_t row = ends.begin(probe);
      auto left = own.are_few(ends, probe) ? static_cast<unsigned>(ends.end(probe) - row) : 0U;
      std::uint64_t place = 0;
      bool any = false;
      RowId least = 0;
      if (left != 0) {
        any = probes_.found.matches(own.first_probe + probe) != 0;
        least = load(probes_.found.begins + own.first_probe + probe);
      }
      if (write_listed(team, own, {row, probe, any ? left : 0, least})) left = 0;
      while (team.vote(left != 0) != 0) {
        const unsigned count = left < handful ? left : handful;
        if (any && count != 0) {
          place = probes_.tree.for_each_from(
              group.thread(), place, least, count,
              [&](RowId found, std::uint64_t number) { hand[number] = found; });
        } else {
          hand[0] = located_probes<RowId>::none;
        }
        team.sync();
        for (unsigned from = 0; from < team_lanes; from += team_lanes / handful) {
          const unsigned lane = from + team.lane() / handful;
          const unsigned number = team.lane() % handful;
          const std::uint64_t at = team.from(row, lane) + number;
          if (number < team.from(count, lane))
            put(own, at, probe - team.lane() + lane, stage[lane * stride + number]);
        }
        team.sync();
        row += count;
        left -= count;
      }
    }
  }

  // The rows of a probe.
  struct few_rows {
    std::uint64_t row;  // the first one
    unsigned probe;
    unsigned count;
    RowId least;  // the least rank
  };

  // Writes the rows of the probes of a team's threads that have lists; returns whether that of this
  // thread has. The first rows of a probe are read while those of the one before it are written.
  template <class Team>
  RAYDEX_HD bool write_listed(const Team& team, const part& own, const few_rows& rows) const {
    if (probes_.lists.places == nullptr) return false;
    typename rank_lists<RowId>::stretch listed{0, 0, rank_lists<RowId>::left_out};
    if (rows.count != 0) listed = probes_.lists.from(rows.least);
    const bool serves = listed.place != rank_lists<RowId>::left_out;
    std::uint32_t flags = team.vote(serves);
    if (flags == 0) return false;
    listed_rows next(probes_, team, team.from(listed, first_bit(flags)));
    while (flags != 0) {
      const few_rows asked = team.from(rows, first_bit(flags));
      flags &= flags - 1;
      listed_rows read = next;
      if (flags != 0) next = {probes_, team, team.from(listed, first_bit(flags))};
      for (unsigned seen = 0;;) {
        const std::uint32_t found = team.vote(read.rank >= asked.least);
        const unsigned number = seen + count_bits(found & ((1U << team.lane()) - 1));
        if ((found >> team.lane() & 1) != 0 && number < asked.count)
          put(own, asked.row + number, asked.probe, read.row);
        seen += count_bits(found);
        if (seen >= asked.count) break;
        read.go_on(probes_);
      }
    }
    return serves;
  }

  // The row and the rank that each thread of a team has in front of it, in a list and behind it.
  struct listed_rows {
    std::uint64_t begin;  // of the list
    RowId place;          // what follows it
    unsigned size;        // of the list
    unsigned at;          // of this thread, counted from its beginning
    RowId rank;
    RowId row;

    template <class Team>
    RAYDEX_HD listed_rows(const dominating_probes<RowId>& probes, const Team& team,
                          const typename rank_lists<RowId>::stretch& listed)
        : begin(listed.begin), place(listed.place), size(listed.size), at(team.lane()) {
      read(probes);
    }
    RAYDEX_HD void go_on(const dominating_probes<RowId>& probes) {
      at += team_lanes;
      read(probes);
    }

   private:
    RAYDEX_HD void read(const dominating_probes<RowId>& probes) {
      const bool in_list = at < size;
      std::uint64_t i = in_list ? begin + at : std::uint64_t{place} + (at - size);
      // Behind the last place there is nothing, after what is looked for.
      if (!in_list && i >= probes.tree.size) i = probes.tree.size - 1;
      rank = load((in_list ? probes.lists.ranks : probes.tree.ranks) + i);
      row = load((in_list ? probes.lists.rows : probes.tree.rows) + i);
    }
  };

  // Writes the rows of one probe; returns where they end.
  template <class Team>
  RAYDEX_HD std::uint64_t write_alone(const Team& team, const tile_ends& ends, const part& own,
                                      unsigned probe, std::uint64_t row) const {
    if (probes_.lists.places != nullptr && own.are_few(ends, probe) &&
        probes_.found.matches(own.first_probe + probe) != 0) {
      const RowId least = load(probes_.found.begins + own.first_probe + probe);
      const auto listed = probes_.lists.from(least);
      const std::uint64_t end = ends.end(probe);
      if (listed.place != rank_lists<RowId>::left_out) {
        const auto write = [&](RowId found, std::uint64_t number) {
          put(own, row + number, probe, found);
        };
        const rank_lists<RowId>& lists = probes_.lists;
        const rank_tree<RowId>& tree = probes_.tree;
        const std::uint64_t seen =
            visit_at_least(team, lists.ranks + listed.begin, lists.rows + listed.begin, listed.size,
                           least, 0, end - row, write);
        visit_at_least(team, tree.ranks + listed.place, tree.rows + listed.place,
                       tree.size - listed.place, least, seen, end - row, write);
        return end;
      }
    }
    return write_next(team, ends, own, probe, row, own.end);
  }

  // Writes the rows of the other probes, each team as many.
  template <class Group>
  RAYDEX_HD void write_many(const Group& group, const tile_ends& ends, const part& own) const {
    const std::uint64_t share = (own.end - own.begin + group.teams() - 1) / group.teams();
    std::uint64_t row = own.begin + share * group.team_number();
    const std::uint64_t last = row + share < own.end ? row + share : own.end;
    if (row >= last) return;
    const auto team = group.team();
    for (unsigned probe = ends.probe_of(team, row, 0);
         probe < tile_probes && row < last && ends.begin(probe) < last;) {
      // Each thread looks at one.
      const unsigned seen = probe + team.lane();
      const bool is_many = seen < tile_probes && ends.begin(seen) < last && ends.end(seen) > row &&
                           !own.are_few(ends, seen);
      const std::uint32_t flags = team.vote(is_many);
      if (flags == 0) {
        probe += team_lanes;
        continue;
      }
      probe += first_bit(flags);
      const std::uint64_t from = ends.begin(probe) < row ? row : ends.begin(probe);
      row = write_next(team, ends, own, probe, from, last);
      ++probe;
    }
  }

  // Writes the rows of a probe from one of them on, up to `last`; returns where they end.
  template <class Team>
  RAYDEX_HD std::uint64_t write_next(const Team& team, const tile_ends& ends, const part& own,
                                     unsigned probe, std::uint64_t row, std::uint64_t last) const {
    const std::uint64_t end = ends.end(probe) < last ? ends.end(probe) : last;
    if (probes_.found.matches(own.first_probe + probe) == 0) {
      if (team.lane() == 0) put(own, row, probe, located_probes<RowId>::none);
      return end;
    }
    const RowId least = load(probes_.found.begins + own.first_probe + probe);
    std::uint64_t skipped = row - ends.begin(probe);
    std::uint64_t place = 0;
    if (skipped != 0 && probes_.matrix.words != nullptr) {
      place = probes_.matrix.place_of(least, static_cast<RowId>(skipped));
      skipped = 0;
    }
    probes_.tree.for_each_from(team, place, least, skipped + (end - row),
                               [&](RowId found, std::uint64_t number) {
                                 if (number >= skipped)
                                   put(own, row + number - skipped, probe, found);
                               });
    return end;
  }

  // Writes a row.
  RAYDEX_HD void put(const part& own, std::uint64_t row, unsigned probe, RowId found) const {
    const row_slice<Out>& slice = this->slice();
    const std::uint64_t at = own.first_row + row - slice.begin;
    store_once(slice.probe_rows + at, static_cast<Out>(own.first_probe + probe));
    store_once(slice.build_rows + at, found == located_probes<RowId>::none
                                          ? std::numeric_limits<Out>::max()
                                          : static_cast<Out>(found));
  }

  dominating_probes<RowId> probes_;
};

}  // namespace raydex::core
