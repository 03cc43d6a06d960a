// SPDX-License-Identifier: Apache-2.0
// Ranges in Eytzinger order as the lightweight paper scans them (sections 3.2 and 5.7): on each
// level the matches are side by side from where the search for the lower end passes, up to the
// first key above the upper end. One search is enough, and nothing is computed from ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/keys/interval.hpp"
#include "raydex/core/lookups/eytzinger.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "src/cuda/warp.cuh"

namespace raydex::cuda {

struct path_policy {
  // A thread that met more matches on a level leaves the levels below, which have more, to its
  // warp.
  static constexpr unsigned most_alone = 32;
};

// Operations that take matches in any order.
template <class Operation>
concept takes_any_order = requires {
  typename Operation::partial;
  requires !std::is_same_v<Operation,
                           core::list_rows<std::remove_const_t<decltype(Operation::view)>>>;
};

// Such an operation, shown its matches in that order by groups of `lanes` threads a probe.
template <class Operation>
struct along_path {
  using view_type = std::remove_const_t<decltype(Operation::view)>;
  using key = typename view_type::key_type;
  using row_id = typename view_type::row_id_type;
  using result = typename Operation::result;
  using gathered = typename Operation::partial;

  view_type view;
  core::probe_set<key> probes;
  result* out;
  Operation visitor;
  unsigned lanes;
  bool shared;  // whether a warp scans for a thread that has many matches

  template <std::size_t N, class Team>
  __device__ void run(Team& team, const core::ticket (&tickets)[N],
                      const core::fetched_probes<key, N>& fetched, result* to) const {
    core::interval<key> wanted[N];
    bool matches[N];
    probes.decode(fetched, wanted, matches);
    for (std::size_t j = 0; j < N; ++j) {
      gathered all = descend(team, tickets[j], wanted[j], matches[j], to);
      for (unsigned distance = 1; distance < lanes; distance *= 2) {
        const gathered other = from_lane(all, (lane_of_warp() + distance) % warp);
        if (lane() + distance < lanes) all.merge(other);
      }
      if (team.owns_lookups()) visitor.finish(tickets[j], all, to);
    }
  }

 private:
  // Where a search is: the first slot of its level, and its node on this level.
  struct place {
    std::uint64_t begin;
    row_id node;
  };

  __device__ unsigned lane() const { return lane_of_warp() % lanes; }
  __device__ unsigned width() const { return view.fan_out_of_nodes() - 1; }  // keys of a node
  __device__ std::uint64_t first_slot(const place& at) const {
    return at.begin + std::uint64_t{at.node} * width();
  }
  __device__ place next(const place& at, unsigned below) const {
    return {at.begin * view.fan_out_of_nodes() + width(),
            static_cast<row_id>(at.node * view.fan_out_of_nodes() + below)};
  }

  // What this thread takes of the matches of its group's probe, and of those that a warp shares.
  template <class Team>
  __device__ gathered descend(Team& team, const core::ticket& of, const core::interval<key>& wanted,
                              bool matches, result* to) const {
    gathered own;
    place rest{view.size(), 0};  // where a warp goes on
    for (place at{}; at.begin < view.size();) {
      const std::uint64_t first = first_slot(at);
      const key lower[1] = {wanted.lower};
      unsigned below[1];
      team.rank(
          width(),
          [&](std::size_t /*m*/, unsigned i) {
            return first + i < view.size() ? view.key_in(team.pinned, first + i)
                                           : static_cast<key>(-1);
          },
          lower, below);
      const place under = next(at, below[0]);
      if (matches && at.begin < rest.begin) {
        const unsigned found =
            scan(own, of, first + below[0], under.begin, wanted.upper, lane(), lanes, to);
        if (shared && found > path_policy::most_alone) rest = under;
      }
      at = under;
    }
    for (unsigned left = __ballot_sync(all_lanes, rest.begin < view.size() ? 1 : 0); left != 0;
         left &= left - 1) {
      const auto whose = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      gathered part;
      scan_below(part, from_lane(of, whose), from_lane(rest, whose), from_lane(wanted, whose), to);
      for (unsigned distance = warp / 2; distance > 0; distance /= 2)
        part.merge(from_partner(part, distance));
      if (lane_of_warp() == whose) own.merge(part);
    }
    return own;
  }

  // Goes on down nodes of one key, by a warp.
  __device__ void scan_below(gathered& part, const core::ticket& of, place at,
                             const core::interval<key>& wanted, result* to) const {
    while (at.begin < view.size()) {
      const std::uint64_t first = first_slot(at);
      const bool below = first < view.size() && view.key_in({}, first) < wanted.lower;
      const place under = next(at, below ? 1 : 0);
      scan(part, of, first + (below ? 1 : 0), under.begin, wanted.upper, lane_of_warp(), warp, to);
      at = under;
    }
  }

  // Takes a lane's share of a level from a slot on, up to the first key above the upper end, and
  // returns how many matches that were.
  __device__ unsigned scan(gathered& part, const core::ticket& of, std::uint64_t first,
                           std::uint64_t end, key upper, unsigned lane, unsigned step,
                           result* to) const {
    if (end > view.size()) end = view.size();
    unsigned found = 0;
    for (std::uint64_t slot = first + lane; slot < end && view.key_in({}, slot) <= upper;
         slot += step) {
      visitor.add(part, of, 0, view.row_id_in(slot), to);
      ++found;
    }
    return found;
  }
};

}  // namespace raydex::cuda
