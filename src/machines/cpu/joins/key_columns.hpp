// SPDX-License-Identifier: Apache-2.0
// Keys of several columns: turned into one number each, a column at a time, so that the format of
// its cells is looked at once; and compared where hashes are equal, fetched some time before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::cpu {

// Has this core fetch the cells of a key, but not the bytes of strings: where they begin has to be
// read first.
inline void prefetch_cells(const core::composite_cells& keys, std::uint64_t row) {
  for (unsigned p = 0; p < keys.count; ++p) {
    const core::key_cells& part = keys.parts[p];
    if (part.is_strings) {
      core::prefetch(static_cast<const std::byte*>(part.offsets) +
                     row * (part.wide_offsets ? 8 : 4));
    } else {
      core::prefetch(part.fixed.data + row * part.fixed.stride);
    }
  }
}
// And then those bytes.
inline void prefetch_strings(const core::composite_cells& keys, std::uint64_t row) {
  for (unsigned p = 0; p < keys.count; ++p) {
    const core::key_cells& part = keys.parts[p];
    if (!part.is_strings) continue;
    const std::uint64_t begin = part.begin(row);
    const std::uint64_t end = part.begin(row + 1);
    if (begin == end) continue;
    core::prefetch(part.bytes + begin);
    core::prefetch(part.bytes + end - 1);  // in another line, maybe
  }
}

// Calls f(i, row) for the rows whose keys are to be compared with others, some time after
// these have been fetched: `row_of(i)` is one, or nothing.
template <class RowOf, class F>
void for_each_fetched(const core::composite_cells& keys, std::uint64_t begin, std::uint64_t end,
                      const RowOf& row_of, const F& f) {
  constexpr std::uint64_t at_once = 32;
  std::optional<std::uint64_t> rows[at_once];
  for (std::uint64_t first = begin; first < end; first += at_once) {
    const std::uint64_t size = std::min(at_once, end - first);
    for (std::uint64_t i = 0; i < size; ++i) {
      rows[i] = row_of(first + i);
      if (rows[i]) prefetch_cells(keys, *rows[i]);
    }
    for (std::uint64_t i = 0; i < size; ++i)
      if (rows[i]) prefetch_strings(keys, *rows[i]);
    for (std::uint64_t i = 0; i < size; ++i)
      if (rows[i]) f(first + i, *rows[i]);
  }
}

// What `put` does, for `size` keys.
void put_numbers(const core::put_key_hashes& put, std::uint64_t size);
void put_numbers(const core::put_packed_keys<std::uint32_t>& put, std::uint64_t size);
void put_numbers(const core::put_packed_keys<std::uint64_t>& put, std::uint64_t size);

// What `drop` does, for `size` probes.
void drop_different(const core::drop_different_keys<std::uint32_t>& drop, std::uint64_t size);
void drop_different(const core::drop_different_keys<std::uint64_t>& drop, std::uint64_t size);

}  // namespace raydex::cpu
