// SPDX-License-Identifier: Apache-2.0
// Runs operations of core on this machine's cores. Results do not depend on their number: every
// probe is answered by itself.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_scan.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "raydex/core/group.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cpu/joins/key_columns.hpp"
#include "src/machines/cpu/lookups/simd_kernels.hpp"
#include "src/machines/cpu/lookups/simd_team.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/joins/equal_rows.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/machine.hpp"

namespace raydex::cpu {

// A group of one, with vector registers.
struct lone_thread : core::group_of_one {
  static constexpr unsigned compared = 32;
  template <class Number>
  static std::uint32_t at_least(const Number* numbers, Number least) {
    static const compare_numbers<Number> best = best_kernels<Number>().at_least;
    return best(numbers, least);
  }
};

struct executor {
  // Probes answered together, so that their cache misses overlap.
  static constexpr std::size_t together = 64;

  // Measured on two cores with 2^20 and 2^24 values, chunks of 16 and 64, floats and doubles.
  static constexpr std::uint64_t entries_per_change = 4;

  static constexpr bool hides_latency_by_threads = false;
  static constexpr bool walks_along = true;
  static constexpr bool writes_in_tiles = false;  // its caches do that

  // The root of a tree is to stay in the first-level cache.
  static constexpr std::size_t fast_memory() { return std::size_t{1} << 15; }
  static constexpr std::size_t node_cache() { return std::numeric_limits<std::size_t>::max(); }

  template <class Operation>
  static void run(const context& /*on*/, const batch_plan& /*plan*/, const Operation& operation) {
    static_assert(core::operation<Operation>,
                  "an operation has a result, a view, probes and an output");
    if constexpr (core::has_plain<Operation>) {
      if (operation.probes.are_plain()) return run_all(operation.plain());
    }
    run_all(operation);
  }

  template <class Key, class RowId>
  static sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                               const std::optional<column>& row_ids,
                                               const entry_order& order = {}) {
    return cpu::sort_column<Key, RowId>(on, keys, row_ids, order);
  }
  template <class Key, class RowId>
  static constexpr bool sorts_rows = false;
  template <class Key, class RowId>
  static std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                          const column& probe,
                                                          const equality& how) {
    return cpu::find_equal_rows<Key, RowId>(on, build, probe, how);
  }
  template <class Key, class RowId>
  static sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                             const entry_order& order = {}) {
    return cpu::sort_edits<Key, RowId>(on, batch, order);
  }
  template <class Key, class RowId>
  static auto edited(const context& on, const core::strided_list<Key, RowId>& entries,
                     const sorted_edits<Key, RowId>& batch) {
    return cpu::edited(on, entries, batch);
  }

  template <class Function>
  static void for_each(const context& /*on*/, const Function& f, std::uint64_t size) {
    for_blocks(size, size <= 256 ? 256 : 64, [&](std::uint64_t begin, std::uint64_t end) {
      if constexpr (requires { f.template some<together>(begin, 1, end); }) {
        for (std::uint64_t i = begin; i < end; i += together)
          f.template some<together>(i, 1, end);
      } else {
        for (std::uint64_t i = begin; i < end; ++i)
          f(i);
      }
    });
  }
  static void for_each(const context& /*on*/, const core::put_key_hashes& put, std::uint64_t size) {
    put_numbers(put, size);
  }
  template <class Key>
  static void for_each(const context& /*on*/, const core::put_packed_keys<Key>& put,
                       std::uint64_t size) {
    put_numbers(put, size);
  }
  template <class RowId>
  static void for_each(const context& /*on*/, const core::drop_different_keys<RowId>& drop,
                       std::uint64_t size) {
    drop_different(drop, size);
  }
  template <class Function>
  static void for_each_alone(const context& on, const Function& f, std::uint64_t size) {
    for_each(on, f, size);
  }

  template <class Function>
  static void for_each_in_groups(const context& on, const Function& f, std::uint64_t size) {
    for_each_group(on, f, size, 64);
  }
  template <class Function>
  static void for_each_in_warps(const context& on, const Function& f, std::uint64_t size) {
    for_each_group(on, f, size, 1);
  }
  template <class Function>
  static void for_each_by_lines(const context& /*on*/, const Function& f, std::uint64_t size) {
    for_blocks(size, together, [&](std::uint64_t begin, std::uint64_t end) {
      for (; begin < end; begin += together)
        f.template some<together>(lone_thread{}, begin, 1, end);
    });
  }
  template <class Function>
  static void for_each_in_blocks(const context& on, const Function& f, std::uint64_t size) {
    for_each_group(on, f, size, 1);
  }

  template <class Number>
  static void inclusive_sum(const context& /*on*/, Number* numbers, std::uint64_t size) {
    scan(numbers, size, Number{}, [](Number sum, const Number& next) {
      if constexpr (requires { sum.merge(next); }) {
        sum.merge(next);
      } else {
        sum += next;
      }
      return sum;
    });
  }
  static void inclusive_minimum(const context& /*on*/, std::uint64_t* numbers, std::uint64_t size) {
    scan(numbers, size, ~std::uint64_t{0},
         [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
  }

  template <class T>
  static void clear(const context& /*on*/, T* numbers, std::uint64_t size = 1) {
    std::fill_n(numbers, size, T{0});
  }
  template <class T>
  static void copy(const context& /*on*/, T* to, const T* from, std::uint64_t size) {
    for_blocks(size, std::uint64_t{1} << 16, [&](std::uint64_t begin, std::uint64_t end) {
      std::memcpy(to + begin, from + begin, (end - begin) * sizeof(T));
    });
  }
  template <class T>
  static void set(const context& /*on*/, T* number, T value) {
    *number = value;
  }
  static std::uint64_t read(const context& /*on*/, const std::uint64_t* number) { return *number; }
  static void copy_in(const context& /*on*/, void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);  // null, if there are none
  }
  static void copy_out(const context& /*on*/, void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  static void synchronise(const context& /*on*/) {}

 private:
  template <class Operation>
  static void run_all(const Operation& operation) {
    const std::uint64_t size = operation.probes.size;
    // In units of `together`, so that only the last unit is not full.
    const std::uint64_t units = (size + together - 1) / together;
    // Few at a time where there are not enough of them for all cores. Four take about as long as
    // it takes another core to begin.
    const std::uint64_t grain = units <= 4 ? 4 : std::clamp<std::uint64_t>(units / 1024, 1, 16);
    for_blocks(units, grain, [&](std::uint64_t begin, std::uint64_t end) {
      simd_team team;
      for (std::uint64_t unit = begin; unit < end; ++unit) {
        const std::uint64_t first = unit * together;
        if constexpr (requires { operation.template run_plain<together>(team, first); }) {
          if (first + together <= size) {
            operation.template run_plain<together>(team, first);
            continue;
          }
        }
        core::ticket tickets[together];
        for (std::size_t j = 0; j < together; ++j)
          tickets[j] = {first + j, first + j};
        core::answer_probes(operation, team, tickets, operation.probes.fetch(tickets),
                            operation.out);
      }
    });
  }

  template <class Function>
  static void for_each_group(const context& /*on*/, const Function& f, std::uint64_t size,
                             std::uint64_t grain) {
    for_blocks(size, grain, [&](std::uint64_t begin, std::uint64_t end) {
      // On the stack, since edits have no way back once they have begun.
      constexpr std::size_t bytes = std::max(Function::most_scratch_bytes, std::size_t{1});
      alignas(std::max_align_t) std::byte scratch[bytes];
      for (std::uint64_t i = begin; i < end; ++i)
        f(lone_thread{}, scratch, i);
    });
  }

  // Combines each number with those before it.
  template <class Number, class Combine>
  static void scan(Number* numbers, std::uint64_t size, const Number& none,
                   const Combine& combine) {
    const default_floats floats;
    tbb::parallel_scan(
        tbb::blocked_range<std::uint64_t>(0, size, 1 << 16), none,
        [&, watched = watch::of_this_thread()](const auto& range, Number all, bool is_final) {
          if (watched != nullptr && watched == watch::of_this_thread()) watch::look();
          for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
            all = combine(all, numbers[i]);
            if (is_final) numbers[i] = all;
          }
          return all;
        },
        combine);
  }
};
static_assert(raydex::executor<executor>, "the cpu backend must run all that structures ask for");

}  // namespace raydex::cpu
