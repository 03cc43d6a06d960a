// SPDX-License-Identifier: Apache-2.0
// What dictionaries read of columns, and write of numbers, however they find keys.
#pragma once

#include <cstdint>
#include <variant>

#include "raydex/composite_keys.hpp"
#include "raydex/core/lookups/key_dictionary.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

inline const validity_bitmap& validity_of(const key_part& part) {
  return std::visit([](const auto& cells) -> const validity_bitmap& { return cells.validity; },
                    part);
}

inline core::key_cells key_cells_of(const key_part& part) {
  return std::visit([](const auto& cells) { return key_cells_of(cells); }, part);
}

// What is common to the strings of a column; zeros where there are none.
template <executor Executor>
core::common_bytes find_common_bytes(const context& on, const core::key_cells& strings,
                                     std::uint64_t size) {
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t row = 0;
  if (strings.fixed.validity != nullptr) {
    buffer<std::uint64_t> first(on, 1);
    Executor::set(on, first.data(), none);
    Executor::for_each(on, core::find_first_valid{strings.fixed, first.data()}, size);
    row = Executor::read(on, first.data());
  }
  if (size == 0 || row == none) return {0, 0, 0, 0};
  constexpr std::uint64_t chunk = core::find_common_bytes::chunk;
  core::common_bytes all{none, none, 0, 0};
  buffer<std::uint64_t> found(on, sizeof all / sizeof(std::uint64_t));
  Executor::copy_in(on, found.data(), &all, sizeof all);
  Executor::for_each_in_warps(
      on,
      core::find_common_bytes{strings, row, size,
                              reinterpret_cast<core::common_bytes*>(found.data())},
      (size + chunk - 1) / chunk);
  Executor::copy_out(on, &all, found.data(), sizeof all);
  return all;
}

// Strings, and where each begins and the last one ends.
struct copied_strings {
  buffer<std::uint64_t> offsets;
  buffer<char> bytes;
};

// Copies the strings of some rows.
template <executor Executor, class RowId>
copied_strings copy_strings(const context& on, const core::key_cells& of, const RowId* rows,
                            std::uint64_t size) {
  copied_strings made;
  if (size == 0) return made;
  made.offsets = {on, size + 1};
  Executor::clear(on, made.offsets.data());
  Executor::for_each(on, core::put_string_sizes<RowId>{of, rows, made.offsets.data() + 1}, size);
  Executor::inclusive_sum(on, made.offsets.data() + 1, size);
  made.bytes = {on, Executor::read(on, made.offsets.data() + size)};
  Executor::for_each_in_groups(
      on, core::copy_strings<RowId>{of, rows, made.offsets.data(), made.bytes.data()}, size);
  return made;
}

// Room for so many numbers of a dictionary that has `keys`: they go up to twice as many.
inline packed_keys room_for_numbers(const context& on, std::uint64_t keys, std::uint64_t size) {
  packed_keys made;
  if (keys < std::uint64_t{1} << 31) {
    made.narrow = {on, size};
  } else {
    made.format = key_format(key_type::uint64);
    made.wide = {on, size};
  }
  return made;
}

using numbers_at = std::variant<std::uint32_t*, std::uint64_t*>;

inline numbers_at at(packed_keys& made, std::uint64_t first) {
  if (made.format.width == 4) return made.narrow.data() + first;
  return made.wide.data() + first;
}

// Writes which keys are missing.
template <executor Executor>
void put_missing(const context& on, const key_part& keys, packed_keys& made) {
  if (validity_of(keys) == nullptr) return;
  const std::uint64_t size = size_of({keys});
  made.validity = {on, (size + 7) / 8};
  Executor::for_each(on,
                     core::put_validity{composite_of({keys}, false), size, made.validity.data()},
                     made.validity.size());
}

}  // namespace raydex
