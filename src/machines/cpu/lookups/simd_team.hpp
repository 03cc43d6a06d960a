// SPDX-License-Identifier: Apache-2.0
// A core with vector registers, as a team of core/lookups/team.hpp. Every step begins by
// prefetching what it will read for all its lookups, so that their cache misses overlap.
#pragma once

#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/team.hpp"
#include "src/machines/cpu/lookups/simd_kernels.hpp"
#include "src/machines/cpu/parallel.hpp"

namespace raydex::cpu {

struct simd_team : core::single_lane {
  // A core's caches keep what is read often by themselves.
  static constexpr core::pinned_memory pinned{};

  template <class Key, std::size_t M, class Keys>
  static void rank(unsigned /*width*/, const Keys& keys, const Key (&wanted)[M],
                   unsigned (&ranks)[M]) {
    rank_runs_at([&](std::size_t m) { return keys.run(m); }, wanted, ranks);
  }

  template <class Key, class Position, std::size_t M>
  static void rank_in_lines(const Key* pivots, const Position (&nodes)[M], const Key (&wanted)[M],
                            unsigned (&ranks)[M]) {
    constexpr unsigned width = core::line_pivots<Key>;
    rank_runs_at(
        [&](std::size_t m) {
          return core::run_of(pivots + std::uint64_t{nodes[m]} * width, width);
        },
        wanted, ranks);
  }

  template <class Key, class Position, std::size_t M>
  static void rank_quantised(const core::quantised_node<Key>* nodes, const Position (&node)[M],
                             const Key (&wanted)[M], unsigned (&ranks)[M]) {
    const core::quantised_node<Key>* at[M];
    for (std::size_t m = 0; m < M; ++m) {
      at[m] = nodes + node[m];
      __builtin_prefetch(at[m]);
    }
    best_kernels<Key>().separators(at, wanted, ranks, M);
  }

  template <class Entries, std::size_t M>
  static void search_leaf(const Entries& entries, const typename Entries::row_id_type (&leaves)[M],
                          const typename Entries::key_type (&wanted)[M], unsigned (&ranks)[M],
                          core::found_entry<typename Entries::row_id_type> (&own)[M]) {
    rank_runs_at(
        [&](std::size_t m) {
          return entries.run(leaves[m] * core::line_entries, core::line_entries);
        },
        wanted, ranks);
    read_found(entries, leaves, wanted, ranks, own);
  }

  template <class Buckets, std::size_t M>
  static void find_in_buckets(const Buckets& table, const std::uint32_t (&buckets)[M],
                              const typename Buckets::key_type (&hashes)[M], unsigned (&slots)[M],
                              typename Buckets::row_id_type (&rows)[M], std::size_t count) {
    kernels_of<Buckets>().in_buckets(table, buckets, hashes, slots, rows, count);
  }
  template <class Buckets, std::size_t M>
  static void find_in_homes(const Buckets& table,
                            const core::hash_function<typename Buckets::key_type>& hash,
                            std::uint32_t homes_count, const typename Buckets::key_type (&keys)[M],
                            typename Buckets::key_type (&hashes)[M], std::uint32_t (&homes)[M],
                            unsigned (&slots)[M], typename Buckets::row_id_type (&rows)[M]) {
    kernels_of<Buckets>().in_homes(table, hash, homes_count, keys, hashes, homes, slots, rows, M);
  }

  // Ranges of a lookup each; the long ones are divided among cores.
  template <std::size_t N, class Operation, class Rank, class Out>
  static void scan(const Operation& operation, const core::ticket (&tickets)[N],
                   const Rank (&begin)[N], const Rank (&end)[N], Out* out) {
    using partial = typename Operation::partial;
    using view = std::remove_const_t<decltype(operation.view)>;
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t size = end[j] - begin[j];
      const auto scan_part = [&](std::uint64_t from, std::uint64_t to) {
        partial part;
        scan_ranks(operation.view, begin[j], from, to, [&](std::uint64_t k, auto row) {
          operation.add(part, tickets[j], k, row, out);
        });
        return part;
      };
      if constexpr (core::addressed<view>) {
        if (size > most_alone) {
          operation.finish(tickets[j], merge_blocks<partial>(size, most_alone, scan_part), out);
          continue;
        }
      }
      operation.finish(tickets[j], scan_part(0, size), out);
    }
  }

 private:
  template <class Buckets>
  static const bucket_kernels<Buckets>& kernels_of() {
    using kernels = table_kernels<typename Buckets::key_type, typename Buckets::row_id_type>;
    static const kernels best = kernels::best();
    return best.kernels_for(Buckets{});
  }

  static constexpr std::uint64_t most_alone = 1 << 15;  // matches that one core scans

  // Calls visit(k, row) for the k-th matches, [from, to), of those that begin at a rank. A loop
  // that the compiler turns into vector instructions where row ids lie side by side.
  template <class View, class Rank, class Visit>
  static void scan_ranks(const View& view, Rank begin, std::uint64_t from, std::uint64_t to,
                         const Visit& visit) {
    if constexpr (core::over_entries<View>) {
      for (std::uint64_t k = from; k < to; ++k)
        visit(k, view.row_id(static_cast<Rank>(begin + k)));
    } else if (from == 0) {
      view.scan(begin, static_cast<Rank>(begin + to), 0, 1, visit);
    } else {
      view.scan(static_cast<Rank>(begin + from), static_cast<Rank>(begin + to), 0, 1,
                [&](std::uint64_t k, auto row) { visit(from + k, row); });
    }
  }

  template <class RunAt, class Key, std::size_t M>
  static void rank_runs_at(const RunAt& run_at, const Key (&wanted)[M], unsigned (&ranks)[M]) {
    const auto ranked = [&]<int Words>(core::key_run<Words>) {
      core::key_run<Words> runs[M];
      for (std::size_t m = 0; m < M; ++m) {
        runs[m] = run_at(m);
        __builtin_prefetch(runs[m].words);
        constexpr std::uint32_t line = 16;  // words
        if (runs[m].count * Words > line) __builtin_prefetch(runs[m].words + line);
      }
      best_kernels<Key>().template of_runs<Words>()(runs, wanted, ranks, M);
    };
    ranked(decltype(run_at(std::size_t{0})){});
  }
};
static_assert(core::node_team<simd_team> && core::line_team<simd_team> &&
                  core::bucket_team<simd_team>,
              "a core must search all structures with vectors");

}  // namespace raydex::cpu
