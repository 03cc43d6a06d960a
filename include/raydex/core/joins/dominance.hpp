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
#include "raydex/core/joins/pairs.hpp"
#include "raydex/core/joins/rank_tree.hpp"
#include "raydex/core/joins/wavelet_matrix.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Writes where each number of a permutation is, or what belongs to the number at each place.
template <class Rank>
struct put_permuted {
  const Rank* numbers;  ///< the permutation
  const Rank* ranks;    ///< what belongs to each number; null: its place
  Rank* out;            ///< by place; by number if `ranks` is null
  /// Writes that of one place.
  RAYDEX_HD void operator()(std::uint64_t place) const {
    if (ranks != nullptr) {
      out[place] = ranks[numbers[place]];
    } else {
      out[numbers[place]] = static_cast<Rank>(place);
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
    typename rank_lists<RowId>::slice listed{0, 0, rank_lists<RowId>::left_out};
    if (rows.count != 0) listed = probes_.lists.from(rows.least);
    const bool serves = listed.place != rank_lists<RowId>::left_out;
    std::uint32_t flags = team.vote(serves);
    if (flags == 0) return false;
    listed_rows next(probes_, team, team.from(listed, first_bit(flags)));
    while (flags != 0) {
      const few_rows wanted = team.from(rows, first_bit(flags));
      flags &= flags - 1;
      listed_rows read = next;
      if (flags != 0) next = {probes_, team, team.from(listed, first_bit(flags))};
      for (unsigned seen = 0;;) {
        const std::uint32_t found = team.vote(read.rank >= wanted.least);
        const unsigned number = seen + count_bits(found & ((1U << team.lane()) - 1));
        if ((found >> team.lane() & 1) != 0 && number < wanted.count)
          put(own, wanted.row + number, wanted.probe, read.row);
        seen += count_bits(found);
        if (seen >= wanted.count) break;
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
                          const typename rank_lists<RowId>::slice& listed)
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
