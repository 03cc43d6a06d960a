// SPDX-License-Identifier: Apache-2.0
// The rows that match a batch, as bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "raydex/core/lookups/row_id_outputs.hpp"
#include "raydex/index.hpp"
#include "src/interface/watch.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Two threads that set bits atomically take twice as long as one that sets them all, on an AMD
// EPYC.
template <executor Executor, class Set>
void set_all(const context& on, const Set& set, std::uint64_t rows) {
  if constexpr (Executor::hides_latency_by_threads) {
    Executor::for_each(on, set, rows);
  } else {
    for (std::uint64_t i = 0; i < rows; ++i) {
      if (i % (1 << 20) == 0) watch::look();
      set(i);
    }
  }
}

// Calls `set` for the rows of a batch. Probes that share many rows are divided, so that
// row ids take no more scratch than those of the index do.
template <executor Executor, class RowId, bool IsAtomic>
void set_row_bits(const index& of, const context& on, const probes& batch,
                  core::set_row_bits<RowId, IsAtomic> set) {
  const std::uint64_t size = batch.size();
  const std::uint64_t most = std::max(of.info().entries, std::uint64_t{1} << 20);
  {
    buffer<std::uint64_t> offsets(on, size + 1);
    of.offsets(on, batch, offsets);
    const std::uint64_t total = Executor::read(on, offsets.data() + size);
    if (total == 0) return;
    if (total <= most || size == 1) {
      buffer<RowId> rows(on, total);
      of.rows(on, batch, offsets, rows);
      set.rows = rows.data();
      return set_all<Executor>(on, set, total);
    }
  }
  const auto part = [&](std::uint64_t first, std::uint64_t count) {
    set_row_bits<Executor>(
        of, on,
        {slice(batch.lower, first, count), slice(batch.upper, first, count), batch.is_points}, set);
  };
  part(0, size / 2);
  part(size / 2, size - size / 2);
}

template <executor Executor>
bool write_bitset(const index& of, const context& on, const probes& batch, std::uint64_t size,
                  std::uint32_t* words) {
  if (size != 0) Executor::clear(on, words, (size - 1) / 32 + 1);
  buffer<std::uint64_t> is_outside(on, 1);
  Executor::clear(on, is_outside.data());
  with_row_id(of.info().row_ids, [&]<class RowId>(RowId /*type*/) {
    using set = core::set_row_bits<RowId, Executor::hides_latency_by_threads>;
    set_row_bits<Executor>(of, on, batch, set{nullptr, size, words, is_outside.data()});
  });
  return size > of.info().max_row_id || Executor::read(on, is_outside.data()) == 0;
}

}  // namespace raydex
