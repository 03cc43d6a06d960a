// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a batch of probes is answered, written once for all structures and backends. A structure
/// brings an `ordered_view`; a backend brings teams and runs the operations below for all probes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/column.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/interval.hpp"

namespace raydex::core {

/// The probes of a batch.
template <class Key>
struct probe_set {
  encoded_column<Key> lower;  ///< points, or lower ends
  encoded_column<Key> upper;  ///< upper ends; not read for points
  std::uint64_t size;         ///< number of probes
  bool is_points;             ///< whether these are points

  /// Reads probe `i`; false if it matches nothing, being missing or empty.
  RAYDEX_HD bool read(std::uint64_t i, interval<Key>& probe) const {
    if (!lower.valid(i)) return false;
    probe.lower = lower[i];
    if (is_points) {
      probe.upper = probe.lower;
      return true;
    }
    if (!upper.valid(i)) return false;
    probe.upper = upper[i];
    return !probe.empty();
  }
};

/// Which probe to answer, and where among the results to put the answer. The two differ only where
/// a backend answers probes in another order than it writes results.
struct ticket {
  std::uint64_t probe;   ///< number of the probe; one that does not exist is passed over
  std::uint64_t result;  ///< number of the result
};

/// Reads the probes of N tickets; what matches nothing becomes a search for key 0.
template <std::size_t N, class Key>
RAYDEX_HD inline void read_probes(const probe_set<Key>& probes, const ticket (&tickets)[N],
                                  interval<Key> (&wanted)[N], bool (&matches)[N]) {
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j) {
    matches[j] = tickets[j].probe < probes.size && probes.read(tickets[j].probe, wanted[j]);
    if (!matches[j]) wanted[j] = {};
  }
}

/// Finds the ranks [begin, end) of the matches of N tickets a lane.
template <std::size_t N, class View, class Team>
RAYDEX_HD inline void find_matches(Team& team, const View& view,
                                   const probe_set<typename View::key_type>& probes,
                                   const ticket (&tickets)[N],
                                   typename View::row_id_type (&begin)[N],
                                   typename View::row_id_type (&end)[N]) {
  using key = typename View::key_type;
  interval<key> wanted[N];
  bool matches[N];
  read_probes(probes, tickets, wanted, matches);
  key lower[N];
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j)
    lower[j] = wanted[j].lower;
  typename View::found at[N];
  view.locate(team, lower, at);
  view.locate_ends(team, wanted, at, end);
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j) {
    begin[j] = at[j].rank;
    if (!matches[j]) end[j] = begin[j];
  }
}

/// @name Operations. `run(team, tickets, out)` answers N tickets a lane and writes the results to
/// `out`. Those that visit every match gather them in a `partial`, which `team.scan` may fill in
/// several lanes and then merge.
/// @{

/// Writes the smallest matching row id of each probe, a range.
template <class View>
struct first_rows {
  using result = typename View::row_id_type;  ///< what is written a probe

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  result* out;                                ///< a row id a probe

  /// The smallest row id so far.
  struct partial {
    result smallest = std::numeric_limits<result>::max();  ///< none at first
    /// Takes over the matches of another lane.
    RAYDEX_HD void merge(const partial& other) {
      smallest = other.smallest < smallest ? other.smallest : smallest;
    }
  };
  /// Takes match `k` of a ticket.
  RAYDEX_HD void add(partial& all, const ticket&, std::uint64_t /*k*/, result row,
                     result* /*to*/) const {
    all.merge({row});
  }
  /// Writes a ticket's answer.
  RAYDEX_HD void finish(const ticket& of, const partial& all, result* to) const {
    if (of.probe < probes.size) to[of.result] = all.smallest;
  }

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], result* to) const {
    result begin[N];
    result end[N];
    find_matches(team, view, probes, tickets, begin, end);
    team.scan(*this, tickets, begin, end, to);
  }
};

/// The same where the probes are points: what the search found is the answer.
template <class View>
struct first_of_points {
  using result = typename View::row_id_type;  ///< what is written a probe

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch, of points
  result* out;                                ///< a row id a probe

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], result* to) const {
    using key = typename View::key_type;
    key wanted[N];
    bool exists[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = tickets[j].probe;
      exists[j] = i < probes.size && probes.lower.valid(i);
      wanted[j] = exists[j] ? probes.lower.raw(i) : 0;
    }
    probes.lower.encode_all(wanted);
    typename View::found at[N];
    view.locate(team, wanted, at);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const bool hit = exists[j] && at[j].hit;
      if (team.owns_lookups() && tickets[j].probe < probes.size) {
        to[tickets[j].result] = hit ? at[j].row : std::numeric_limits<result>::max();
      }
    }
  }
};

/// Writes the number of matches of each probe.
template <class View>
struct count_rows {
  using result = std::uint64_t;  ///< what is written a probe

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  result* out;                                ///< a count a probe

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], result* to) const {
    typename View::row_id_type begin[N];
    typename View::row_id_type end[N];
    find_matches(team, view, probes, tickets, begin, end);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      if (team.owns_lookups() && tickets[j].probe < probes.size) {
        to[tickets[j].result] = end[j] - begin[j];
      }
    }
  }
};

/// Writes the sum over the matches of each probe.
template <class View, class Sum>
struct sum_rows {
  using result = typename Sum::result;  ///< what is written a probe
  using partial = Sum;                  ///< what the matches are gathered in

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  value_column values;                        ///< what to add up
  result* out;                                ///< a sum a probe

  /// Takes match `k` of a ticket.
  RAYDEX_HD void add(Sum& sum, const ticket&, std::uint64_t /*k*/, std::uint64_t row,
                     result* /*to*/) const {
    sum.add(values, row);
  }
  /// Writes a ticket's answer.
  RAYDEX_HD void finish(const ticket& of, const Sum& sum, result* to) const {
    if (of.probe < probes.size) to[of.result] = sum.get();
  }

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], result* to) const {
    typename View::row_id_type begin[N];
    typename View::row_id_type end[N];
    find_matches(team, view, probes, tickets, begin, end);
    team.scan(*this, tickets, begin, end, to);
  }
};

/// Writes the matching row ids of each probe, those of probe i from `out[offsets[i]]` on.
template <class View>
struct list_rows {
  using result = typename View::row_id_type;  ///< what is written a match

  /// Rows are written as they are met.
  struct partial {
    /// Nothing to take over.
    RAYDEX_HD void merge(const partial&) {}
  };

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  const std::uint64_t* offsets;               ///< where the rows of each probe begin
  result* out;                                ///< the row ids of all probes

  /// Writes match `k` of a ticket.
  RAYDEX_HD void add(partial&, const ticket& of, std::uint64_t k, result row, result* to) const {
    to[offsets[of.probe] + k] = row;
  }
  /// Nothing is left to write.
  RAYDEX_HD void finish(const ticket&, const partial&, result* /*to*/) const {}

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], result* to) const {
    typename View::row_id_type begin[N];
    typename View::row_id_type end[N];
    find_matches(team, view, probes, tickets, begin, end);
    team.scan(*this, tickets, begin, end, to);
  }
};
/// @}

}  // namespace raydex::core
