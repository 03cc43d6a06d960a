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

#include "raydex/core/group.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/memory.hpp"
#include "src/cpu/lookups/simd_team.hpp"
#include "src/cpu/parallel.hpp"
#include "src/lookups/executor.hpp"

namespace raydex::cpu {

struct executor {
  // Probes answered together, so that their cache misses overlap.
  static constexpr std::size_t together = 64;

  // Measured on two cores with 2^20 and 2^24 values, chunks of 16 and 64, floats and doubles.
  static constexpr std::uint64_t entries_per_change = 4;

  // The root of a tree is to stay in the first-level cache.
  static constexpr std::size_t fast_memory() { return std::size_t{1} << 15; }

  template <class Operation>
  static void run(const context& /*on*/, const batch_plan& /*plan*/, const Operation& operation) {
    // In units of `together`, so that only the last unit is not full.
    const std::uint64_t units = (operation.probes.size + together - 1) / together;
    for_blocks(units, 16, [&](std::uint64_t begin, std::uint64_t end) {
      simd_team team;
      for (std::uint64_t unit = begin; unit < end; ++unit) {
        core::ticket tickets[together];
        for (std::size_t j = 0; j < together; ++j)
          tickets[j] = {unit * together + j, unit * together + j};
        core::answer_probes(operation, team, tickets, operation.probes.fetch(tickets),
                            operation.out);
      }
    });
  }

  template <class Function>
  static void for_each(const context& /*on*/, const Function& f, std::uint64_t size) {
    for_blocks(size, 64, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        f(i);
    });
  }
  template <class Function>
  static void for_each_alone(const context& on, const Function& f, std::uint64_t size) {
    for_each(on, f, size);
  }

  template <class Function>
  static void for_each_in_groups(const context& /*on*/, const Function& f, std::uint64_t size) {
    for_blocks(size, 64, [&](std::uint64_t begin, std::uint64_t end) {
      // On the stack, since edits have no way back once they have begun.
      constexpr std::size_t bytes = std::max(Function::most_scratch_bytes, std::size_t{1});
      alignas(std::max_align_t) std::byte scratch[bytes];
      for (std::uint64_t i = begin; i < end; ++i)
        f(core::group_of_one{}, scratch, i);
    });
  }

  static void inclusive_sum(const context& /*on*/, std::uint64_t* numbers, std::uint64_t size) {
    tbb::parallel_scan(
        tbb::blocked_range<std::uint64_t>(0, size, 1 << 16), std::uint64_t{0},
        [numbers](const auto& range, std::uint64_t sum, bool is_final) {
          for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
            sum += numbers[i];
            if (is_final) numbers[i] = sum;
          }
          return sum;
        },
        std::plus<>());
  }

  template <class T>
  static void clear(const context& /*on*/, T* numbers, std::uint64_t size = 1) {
    std::fill_n(numbers, size, T{0});
  }
  template <class T>
  static void set(const context& /*on*/, T* number, T value) {
    *number = value;
  }
  static std::uint64_t read(const context& /*on*/, const std::uint64_t* number) { return *number; }
  static void copy_out(const context& /*on*/, void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
  }
  static void synchronise(const context& /*on*/) {}
};
static_assert(raydex::executor<executor>, "the cpu backend must run all that structures ask for");

}  // namespace raydex::cpu
