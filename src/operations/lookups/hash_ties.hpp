// SPDX-License-Identifier: Apache-2.0
// Hashes that are sorted by their highest bits alone: few share these, and a pass puts those in
// order.
#pragma once

#include <bit>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex {

// The bits that so many entries of such width are to be sorted by, before `order_ties`: those of
// hashes that one in 2^10 shares with another one, in whole bytes, if that spares two passes of a
// radix sort. Few entries are sorted sooner than ties are looked for.
inline bit_range telling_bits(const entry_order& order, unsigned width, std::uint64_t size) {
  constexpr std::uint64_t few = std::uint64_t{1} << 16;
  const unsigned bits = (static_cast<unsigned>(std::bit_width(size - 1)) + 10 + 7) / 8 * 8;
  if (!order.seed || size < few || bits + 16 > width) return order.bits;
  return {static_cast<int>(width - bits), order.bits.last};
}

// Sorts entries from i on whose hashes share the highest bits, if they begin there; of more than
// `most` only the first ones. Equal hashes stay as they lie.
template <class RowId>
struct order_ties {
  std::uint64_t* hashes;
  RowId* row_ids;
  std::uint64_t size;
  int below;  // that many bits were not sorted by

  static constexpr std::uint64_t most = 256;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t shared = highest(i);
    if (i + 1 == size || highest(i + 1) != shared) return;
    if (i != 0 && highest(i - 1) == shared) return;
    for (std::uint64_t next = i + 1; next < size && next - i < most; ++next) {
      if (highest(next) != shared) return;
      insert(i, next);
    }
  }

 private:
  // Neighbours look at entries while these are moved. On a GPU words are read whole, and caches
  // may have what was there before: these bits are the same.
  RAYDEX_HD std::uint64_t highest(std::uint64_t i) const {
#if defined(__CUDA_ARCH__)
    return hashes[i] >> below;
#else
    return core::load_atomically(hashes + i) >> below;
#endif
  }

  RAYDEX_HD void insert(std::uint64_t first, std::uint64_t i) const {
    const std::uint64_t hash = hashes[i];
    const RowId row = row_ids[i];
    std::uint64_t to = i;
    for (; to != first && hashes[to - 1] > hash; --to) {
      core::store_atomically(hashes + to, hashes[to - 1]);
      row_ids[to] = row_ids[to - 1];
    }
    if (to == i) return;
    core::store_atomically(hashes + to, hash);
    row_ids[to] = row;
  }
};

}  // namespace raydex
