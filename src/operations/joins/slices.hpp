// SPDX-License-Identifier: Apache-2.0
// Batches of a join in slices, so that what probes are turned into takes bounded scratch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "raydex/core/joins/key_cells.hpp"
#include "raydex/join.hpp"
#include "src/interface/column_slice.hpp"
#include "src/operations/lookups/built_index.hpp"

namespace raydex {

// Cells from `first` on.
inline string_column slice(string_column strings, std::uint64_t first, std::uint64_t size) {
  const std::uint64_t width = strings.wide_offsets ? 8 : 4;
  strings.offsets = static_cast<const std::byte*>(strings.offsets) + first * width;
  strings.validity = strings.validity.from(first);
  strings.size = size;
  return strings;
}
inline key_parts slice(const key_parts& parts, std::uint64_t first, std::uint64_t size) {
  key_parts sliced;
  for (const key_part& part : parts)
    sliced.push_back(
        std::visit([&](const auto& cells) { return key_part(slice(cells, first, size)); }, part));
  return sliced;
}

// Rows of a key; of none, 0.
inline std::uint64_t size_of(const key_parts& parts) {
  if (parts.empty()) return 0;
  return std::visit([](const auto& cells) { return cells.size; }, parts.front());
}

// The formats of the columns of a key; nothing for strings.
inline std::vector<std::optional<key_format>> formats_of(const key_parts& parts) {
  std::vector<std::optional<key_format>> formats;
  for (const key_part& part : parts) {
    const column* const cells = std::get_if<column>(&part);
    formats.push_back(cells != nullptr ? std::optional(cells->format) : std::nullopt);
  }
  return formats;
}

inline core::key_cells key_cells_of(const column& cells) {
  return {cells_of(cells)};
}
inline core::key_cells key_cells_of(const string_column& strings) {
  return {{nullptr, 0, strings.validity.first_byte(), {}, strings.validity.first_bit()},
          strings.bytes,
          strings.offsets,
          strings.wide_offsets,
          true,
          strings.size};
}
static_assert(core::composite_cells::most == most_key_parts + 2,
              "a key has its columns there, and two values beside it");
inline core::composite_cells composite_of(const key_parts& parts, bool missing_equal) {
  core::composite_cells all;
  for (const key_part& part : parts)
    all.parts[all.count++] =
        std::visit([](const auto& cells) { return key_cells_of(cells); }, part);
  all.missing_equal = missing_equal;
  return all;
}

// Calls f(first, size) for slices of `size` rows, one after the other.
template <class F>
void for_each_slice(std::uint64_t size, const F& f) {
  constexpr std::uint64_t most = std::uint64_t{1} << 22;
  for (std::uint64_t first = 0; first < size; first += most)
    f(first, std::min(most, size - first));
}

// The type of row numbers of so many rows.
inline row_id_type row_ids_of(std::uint64_t rows) {
  return rows < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
}

// Calls f(RowId()) for a type of row ids.
template <class F>
auto with_row_id(row_id_type type, const F& f) {
  return type == row_id_type::uint32 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

// The description of a join by order: rows are in the order of a tree's entries.
inline join_info info_by_order(backend where, key_comparison keys, std::uint64_t entries,
                               std::uint64_t bytes) {
  return {.structure = "pivot_tree",
          .options = "",
          .where = where,
          .keys = keys,
          .keys_differ = false,
          .entries = entries,
          .resident_bytes = bytes};
}

}  // namespace raydex
