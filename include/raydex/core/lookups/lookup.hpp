// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a batch of probes is answered, written once for all structures and backends. A structure
/// brings a view, such as `ordered_view`; a backend brings teams and runs the operations below for
/// all probes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::core {

/// N probes as they are read, not looked at yet.
template <class Key, std::size_t N>
struct fetched_probes {
  Key lower[N];    ///< bits of points or lower ends
  Key upper[N];    ///< bits of upper ends; none for points
  bool exists[N];  ///< false if a probe is missing
};

/// Which probe to answer, and where among the results to put the answer. The two differ only where
/// a backend answers probes in another order than it writes results.
struct ticket {
  std::uint64_t probe;   ///< number of the probe; one that does not exist is passed over
  std::uint64_t result;  ///< number of the result
};

/// The probes of a batch. If they are `Plain`, which `are_plain` tells, the compiler leaves out
/// what missing ones, ranges and byte strings need.
template <class Key, bool Plain = false>
struct probe_set {
  encoded_column<Key> lower;  ///< points, or lower ends
  encoded_column<Key> upper;  ///< upper ends; not read for points
  std::uint64_t size;         ///< number of probes
  bool is_points;             ///< whether these are points

  /// Whether the probes are points, numbers side by side, none of them missing.
  bool are_plain() const {
    return is_points && lower.validity == nullptr && lower.format.type != key_type::bytes &&
           lower.stride == sizeof(Key);
  }

  /// As many for a view of other keys, whose matches are known.
  template <class Other>
  probe_set<Other> located() const {
    return {{}, {}, size, is_points};
  }

  /// Reads the probes of N tickets, without waiting for what it reads.
  template <std::size_t N>
  RAYDEX_HD fetched_probes<Key, N> fetch(const ticket (&tickets)[N]) const {
    fetched_probes<Key, N> probes;
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = tickets[j].probe;
      probes.exists[j] = i < size && (Plain || (lower.valid(i) && (is_points || upper.valid(i))));
      probes.lower[j] = probes.exists[j] ? bits_of(lower, i) : 0;
      probes.upper[j] = probes.exists[j] && !is_points ? bits_of(upper, i) : 0;
    }
    return probes;
  }

  /// Reads probe `i`; false if it matches nothing, being missing or empty.
  RAYDEX_HD bool read(std::uint64_t i, interval<Key>& probe) const {
    const ticket one[1] = {{i, i}};
    interval<Key> wanted[1];
    bool matches[1];
    decode(fetch(one), wanted, matches);
    if (matches[0]) probe = wanted[0];
    return matches[0];
  }

  /// What N probes want; what matches nothing becomes a search for key 0.
  template <std::size_t N>
  RAYDEX_HD void decode(fetched_probes<Key, N> probes, interval<Key> (&wanted)[N],
                        bool (&matches)[N]) const {
    lower.encode_all(probes.lower);
    if (!is_points) upper.encode_all(probes.upper);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      wanted[j] = {probes.lower[j], is_points ? probes.lower[j] : probes.upper[j]};
      matches[j] = probes.exists[j] && !wanted[j].empty();
      if (!matches[j]) wanted[j] = {};
    }
  }

 private:
  RAYDEX_HD static Key bits_of(const encoded_column<Key>& column, std::uint64_t i) {
    if constexpr (Plain) {
      return load_once(reinterpret_cast<const Key*>(column.data) + i);
    } else {
      return column.raw(i);
    }
  }
};

/// Finds the ranks [begin, end) of the matches of N probes a lane.
template <std::size_t N, class View, class Team>
RAYDEX_HD inline void find_matches(Team& team, const View& view,
                                   const probe_set<typename View::key_type>& batch,
                                   const fetched_probes<typename View::key_type, N>& probes,
                                   typename View::row_id_type (&begin)[N],
                                   typename View::row_id_type (&end)[N]) {
  using key = typename View::key_type;
  interval<key> wanted[N];
  bool matches[N];
  batch.decode(probes, wanted, matches);
  view.locate_matches(team, wanted, begin, end);
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j)
    if (!matches[j]) end[j] = begin[j];
}

/// Operations with a version of their own for plain probes; see `probe_set`.
template <class Operation>
concept has_plain = requires(const Operation& operation) {
  operation.plain();
};

/// The operation that is shown the matches: of one that wraps another, as `answer_traced` does,
/// that other one.
template <class Operation>
RAYDEX_HD inline const auto& visiting(const Operation& operation) {
  if constexpr (requires { operation.operation; }) {
    return operation.operation;
  } else {
    return operation;
  }
}

/// Answers N tickets a lane whose matches are known, those of ranks [begin, end).
template <class Operation, class Team, std::size_t N, class Rank>
RAYDEX_HD inline void answer_matches(const Operation& operation, Team& team,
                                     const ticket (&tickets)[N], const Rank (&begin)[N],
                                     const Rank (&end)[N], typename Operation::result* out) {
  if constexpr (requires { operation.answer(team, tickets, begin, end, out); }) {
    operation.answer(team, tickets, begin, end, out);
  } else {
    team.scan(operation, tickets, begin, end, out);
  }
}

/// Answers N tickets a lane whose probes have been fetched.
template <class Operation, class Team, std::size_t N, class Fetched>
RAYDEX_HD inline void answer_probes(const Operation& operation, Team& team,
                                    const ticket (&tickets)[N], const Fetched& probes,
                                    typename Operation::result* out) {
  if constexpr (requires { operation.run(team, tickets, probes, out); }) {
    operation.run(team, tickets, probes, out);
  } else {
    typename decltype(Operation::view)::row_id_type begin[N];
    typename decltype(Operation::view)::row_id_type end[N];
    find_matches(team, operation.view, operation.probes, probes, begin, end);
    answer_matches(operation, team, tickets, begin, end, out);
  }
}

/// What a machine runs for all probes of a batch: a result, over a view, for probes, into an
/// output.
template <class Operation>
concept operation = requires(const Operation& one) {
  typename Operation::result;  // what is written per probe, or per match
  one.view;                    // the index, by value
  one.probes.size;             // the batch
  one.out;                     // where results go, or null
};

/// @name Operations. Those that visit every match gather them in a `partial`: `add` takes one, and
/// `finish` writes the answer; `team.scan` may do so in several lanes and then merge. Others have
/// an `answer(team, tickets, begin, end, out)` by ranks, or a `run(team, tickets, probes, out)` for
/// which matches need not be found.
/// @{

/// Writes the smallest matching row id of each probe, a range.
template <class View>
struct first_rows {
  using result = typename View::row_id_type;  ///< what is written a probe

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  result* out;                                ///< a row id a probe

  /// The same on another view of the same entries, where matches are known.
  template <class Other>
  first_rows<Other> over(const Other& other) const {
    return {other, probes.template located<typename Other::key_type>(), out};
  }

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
  RAYDEX_HD void finish(const ticket& own, const partial& all, result* to) const {
    if (own.probe < probes.size) to[own.result] = all.smallest;
  }
};

/// The same where the probes are points: what the search found is the answer.
template <class View, bool Plain = false>
struct first_of_points {
  using result = typename View::row_id_type;      ///< what is written a probe
  static constexpr bool first_match_only = true;  ///< nobody asks for the others

  View view;                                         ///< the index
  probe_set<typename View::key_type, Plain> probes;  ///< the batch, of points
  result* out;                                       ///< a row id a probe

  /// The same for plain probes.
  first_of_points<View, true> plain() const {
    return {view, {probes.lower, probes.upper, probes.size, probes.is_points}, out};
  }

  /// Answers N plain probes from `first` on, which all exist; for teams of one lane.
  template <std::size_t N, class Team>
  RAYDEX_HD void run_plain(Team& team, std::uint64_t first) const requires Plain {
    using key = typename View::key_type;
    key keys[N];
    for (std::size_t j = 0; j < N; ++j)
      keys[j] = reinterpret_cast<const key*>(probes.lower.data)[first + j];
    probes.lower.encode_all(keys);
    view.find_rows(team, keys, *reinterpret_cast<result(*)[N]>(out + first));
  }

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N],
                     fetched_probes<typename View::key_type, N> fetched, result* to) const {
    probes.lower.encode_all(fetched.lower);
    result rows[N];
    view.find_rows(team, fetched.lower, rows);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      if (team.owns_lookups() && tickets[j].probe < probes.size) {
        if constexpr (Plain) {
          store_once(to + tickets[j].result, rows[j]);
        } else {
          to[tickets[j].result] = fetched.exists[j] ? rows[j] : std::numeric_limits<result>::max();
        }
      }
    }
  }
};

/// Writes how many keys are below each point, or not above it.
template <class View>
struct rank_points {
  using result = std::uint64_t;  ///< what is written a probe

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch, of points
  bool past;                                  ///< whether equal keys count
  result* out;                                ///< a rank a probe

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N],
                     fetched_probes<typename View::key_type, N> fetched, result* to) const {
    using key = typename View::key_type;
    probes.lower.encode_all(fetched.lower);
    key from[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      from[j] = static_cast<key>(fetched.lower[j] + (past ? 1 : 0));
    typename View::found at[N];
    view.locate(team, from, at);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      if (past && from[j] == 0) at[j].rank = view.size();  // nothing is above the last key
      if (team.owns_lookups() && tickets[j].probe < probes.size) {
        to[tickets[j].result] = fetched.exists[j] ? at[j].rank : std::numeric_limits<result>::max();
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

  /// The same on another view of the same entries, where matches are known.
  template <class Other>
  sum_rows<Other, Sum> over(const Other& other) const {
    return {other, probes.template located<typename Other::key_type>(), values, out};
  }

  /// Takes match `k` of a ticket.
  RAYDEX_HD void add(Sum& sum, const ticket&, std::uint64_t /*k*/, std::uint64_t row,
                     result* /*to*/) const {
    sum.add(values, row);
  }
  /// Writes a ticket's answer.
  RAYDEX_HD void finish(const ticket& own, const Sum& sum, result* to) const {
    if (own.probe < probes.size) to[own.result] = sum.get();
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

  /// The same on another view of the same entries, where matches are known.
  template <class Other>
  list_rows<Other> over(const Other& other) const {
    return {other, probes.template located<typename Other::key_type>(), offsets, out};
  }

  /// Answers N tickets: the offsets tell how many matches each has, so that only the first of them
  /// is searched for.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N],
                     const fetched_probes<typename View::key_type, N>& fetched, result* to) const {
    using key = typename View::key_type;
    interval<key> wanted[N];
    bool matches[N];
    probes.decode(fetched, wanted, matches);
    key lower[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      lower[j] = wanted[j].lower;
    typename View::found at[N];
    view.locate(team, lower, at);
    result begin[N];
    result end[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      begin[j] = end[j] = at[j].rank;
      if (matches[j]) end[j] += static_cast<result>(count(tickets[j].probe));
    }
    team.scan(*this, tickets, begin, end, to);
  }

  /// How many matches a probe has.
  RAYDEX_HD std::uint64_t count(std::uint64_t probe) const {
    return load(offsets + probe + 1) - load(offsets + probe);
  }
  /// Writes match `k` of a ticket.
  RAYDEX_HD void add(partial&, const ticket& own, std::uint64_t k, result row, result* to) const {
    to[load(offsets + own.probe) + k] = row;
  }
  /// Nothing is left to write.
  RAYDEX_HD void finish(const ticket&, const partial&, result* /*to*/) const {}
};

/// Writes how many matches each probe has: `locate_rows` for views that are so fast that its
/// questions cost them time.
template <class View>
struct count_rows {
  using result = std::uint64_t;  ///< what is written per probe

  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  result* out;                                ///< a count per probe

  /// Answers N tickets whose matches are known.
  template <std::size_t N, class Team, class Rank>
  RAYDEX_HD void answer(Team& team, const ticket (&tickets)[N], const Rank (&begin)[N],
                        const Rank (&end)[N], result* to) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      if (team.owns_lookups() && tickets[j].probe < probes.size)
        to[tickets[j].result] = end[j] - begin[j];
  }
};

/// Writes how many matches each probe has and where they begin, or one of both.
template <class View>
struct locate_rows {
  using result = std::uint64_t;  ///< what is written a probe

  View view;                                       ///< the index
  probe_set<typename View::key_type> probes;       ///< the batch
  result* out;                                     ///< a count a probe; or null
  typename View::position_type* begins = nullptr;  ///< the first entry of each; or null
  typename View::row_id_type* counts = nullptr;    ///< the counts, as wide as row ids; or null
  /// Whether of one match the row id is written in place of where it is.
  bool single_rows = false;

  /// Answers N tickets whose matches are known.
  template <std::size_t N, class Team, class Rank>
  RAYDEX_HD void answer(Team& team, const ticket (&tickets)[N], const Rank (&begin)[N],
                        const Rank (&end)[N], result* to) const {
    const bool counts_only = begins == nullptr && counts == nullptr;  // decided once a batch
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      if (!team.owns_lookups() || tickets[j].probe >= probes.size) continue;
      if (counts_only) {
        to[tickets[j].result] = end[j] - begin[j];
      } else {
        put(tickets[j], begin[j], end[j], to);
      }
    }
  }
  /// Writes where the matches of a ticket are.
  template <class Rank>
  RAYDEX_HD void put(const ticket& own, Rank begin, Rank end, result* to) const {
    const Rank count = end - begin;
    if (to != nullptr) to[own.result] = count;
    if (begins != nullptr) begins[own.probe] = count == 1 ? only_match(begin) : begin;
    if (counts != nullptr) counts[own.probe] = static_cast<typename View::row_id_type>(count);
  }

 private:
  template <class Rank>
  RAYDEX_HD Rank only_match(Rank at) const {
    if constexpr (std::is_same_v<Rank, typename View::row_id_type>) {
      if (single_rows) return view.row_id(at);
    }
    return at;
  }
};
/// @}

/// Writes a row id of the closest key on one side of points whose ranks are known: how
/// many keys are below, or also equal, as the side asks.
template <class View>
struct closest_rows {
  using result = typename View::row_id_type;  ///< what is written a probe

  View view;                   ///< the index
  const std::uint64_t* ranks;  ///< of `rank_points`
  bool before;                 ///< whether it is the key before the rank, or that after it
  bool last;                   ///< whether its largest row id is meant where it is before
  result* out;                 ///< a row id a probe

  /// Answers probe `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    constexpr result none = std::numeric_limits<result>::max();
    const std::uint64_t size = view.size();
    const std::uint64_t rank = ranks[i] - (before ? 1 : 0);  // of 0 there is none before
    out[i] = rank < size ? row(static_cast<result>(rank)) : none;
  }

 private:
  // A row id of the key at a rank, which is its last one where the side is before.
  RAYDEX_HD result row(result rank) const {
    const bool first = before && !last;
    return first && rank != 0 && view.repeats(rank) ? view.find(view.key(rank)) : view.row_id(rank);
  }
};

}  // namespace raydex::core
