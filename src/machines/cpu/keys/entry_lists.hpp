// SPDX-License-Identifier: Apache-2.0
// What edits do with sorted lists of entries on cpu, over oneTBB.
#pragma once

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "raydex/core/keys/edits.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cpu/executor.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex::cpu {

struct entry_lists : executor {
  static constexpr std::uint64_t entries_of_block = 1 << 14;

  // Copies the entries without a mark; `to` has room for just these.
  template <class Key, class RowId>
  static void select_unmarked(const context& on, const core::strided_list<Key, RowId>& list,
                              const std::uint8_t* marks, sorted_column<Key, RowId>& to) {
    const std::uint64_t blocks = (list.size + entries_of_block - 1) / entries_of_block;
    const auto end_of = [&](std::uint64_t b) {
      return std::min(list.size, (b + 1) * entries_of_block);
    };
    buffer<std::uint64_t> ends(on, blocks);
    tbb::parallel_for(std::uint64_t{0}, blocks, [&](std::uint64_t b) {
      ends.data()[b] = static_cast<std::uint64_t>(
          std::count(marks + b * entries_of_block, marks + end_of(b), std::uint8_t{0}));
    });
    std::partial_sum(ends.data(), ends.data() + blocks, ends.data());
    tbb::parallel_for(std::uint64_t{0}, blocks, [&](std::uint64_t b) {
      std::uint64_t next = b == 0 ? 0 : ends.data()[b - 1];
      for (std::uint64_t i = b * entries_of_block; i < end_of(b); ++i) {
        if (marks[i] != 0) continue;
        const core::entry<Key, RowId> one = list[i];
        to.keys[next] = one.key;
        to.row_ids[next] = one.row;
        ++next;
      }
    });
  }

  // Merges two lists into `to`, which has room for both.
  template <class Key, class RowId>
  static void merge(const context& /*on*/, const core::strided_list<Key, RowId>& a,
                    const core::entry_list<Key, RowId>& b, sorted_column<Key, RowId>& to) {
    // A block of the first list each, with what of the second one comes before its last entry; the
    // last block takes the rest.
    const std::uint64_t blocks = std::max<std::uint64_t>(1, a.size / entries_of_block);
    const auto begin_in_b = [&](std::uint64_t block) {
      return block == 0 ? 0 : b.below(a[block * entries_of_block]);
    };
    tbb::parallel_for(std::uint64_t{0}, blocks, [&](std::uint64_t block) {
      const bool last = block + 1 == blocks;
      std::uint64_t i = block * entries_of_block;
      const std::uint64_t a_end = last ? a.size : i + entries_of_block;
      std::uint64_t j = begin_in_b(block);
      const std::uint64_t b_end = last ? b.size : begin_in_b(block + 1);
      for (std::uint64_t out = i + j; i < a_end || j < b_end; ++out) {
        const bool first = j == b_end || (i < a_end && !(b[j] < a[i]));
        const core::entry<Key, RowId> next = first ? a[i++] : b[j++];
        to.keys.data()[out] = next.key;
        to.row_ids.data()[out] = next.row;
      }
    });
  }
};

}  // namespace raydex::cpu
