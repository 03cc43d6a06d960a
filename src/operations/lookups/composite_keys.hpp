// SPDX-License-Identifier: Apache-2.0
// What the backends' composite keys have in common.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "raydex/core/lookups/composite_keys.hpp"
#include "src/interface/composite_numbers.hpp"
#include "src/operations/joins/numbered_keys.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

// The columns of keys.
inline core::numbered_columns numbered(std::span<const composite_part> parts,
                                       std::span<const column> columns) {
  core::numbered_columns all;
  for (const column& cells : columns) {
    all.parts[all.count] = numbered(parts[all.count]);
    all.parts[all.count++].cells = key_cells_of(cells);
  }
  return all;
}

// Room for numbers of keys.
inline packed_keys room_for_packed(const context& on, std::span<const composite_part> parts,
                                   std::uint64_t size) {
  packed_keys made;
  made.format = packed_format(parts);
  if (made.format.width == 4) {
    made.narrow = {on, size};
  } else {
    made.wide = {on, size};
  }
  return made;
}

// Writes the spans of columns. Waits for the stream.
template <class Executor>
void find_composite_spans(const context& on, std::span<const column> columns,
                          std::span<composite_part> parts) {
  core::composite_cells cells;
  for (const column& one : columns)
    cells.parts[cells.count++] = key_cells_of(one);
  const auto spans = spans_of<Executor>(on, cells, columns.front().size, cells.count);
  for (std::size_t p = 0; p < spans.size(); ++p) {
    if (!spans[p].any()) continue;
    parts[p].first = spans[p].first();
    parts[p].last = spans[p].above;
  }
}

// Writes the greatest common divisor of what the codes of each column are apart from its first one,
// 0 where they are not. Waits for the stream.
template <class Executor>
void find_composite_steps(const context& on, std::span<const column> columns,
                          std::span<composite_part> parts) {
  constexpr std::uint64_t chunk = core::find_code_steps::chunk;
  const std::uint64_t size = columns.front().size;
  std::vector<std::uint64_t> found((size + chunk - 1) / chunk);
  buffer<std::uint64_t> numbers(on, found.size());
  for (std::size_t p = 0; p < columns.size(); ++p) {
    Executor::for_each_in_warps(
        on, core::find_code_steps{key_cells_of(columns[p]), parts[p].first, size, numbers.data()},
        found.size());
    Executor::copy_out(on, found.data(), numbers.data(), numbers.bytes());
    parts[p].step = std::accumulate(found.begin(), found.end(), std::uint64_t{0},
                                    core::find_code_steps::divisor);
  }
}

// `are_rows`: whether all values are within the spans. Points without a number have one that is no
// key's, if there is one, which is searched for faster than a bitmap is read.
template <class Executor>
packed_keys pack_composite_keys(const context& on, std::span<const composite_part> parts,
                                std::span<const column> columns, bool are_rows) {
  const std::uint64_t size = columns.front().size;
  packed_keys made = room_for_packed(on, parts, size);
  bool all_match = are_rows;
  for (std::size_t p = 0; p < columns.size(); ++p)
    all_match &= parts[p].missing != missing_cells::unmatched || columns[p].validity == nullptr;
  if (are_rows ? !all_match : is_full(parts)) made.validity = {on, (size + 7) / 8};
  const auto write = [&]<class Code>(Code* numbers) {
    using put = core::put_composite_keys<Code>;
    Executor::for_each_in_warps(
        on, put{numbered(parts, columns), size, numbers, made.validity.data(), all_match},
        (size + put::chunk - 1) / put::chunk);
  };
  made.format.width == 4 ? write(made.narrow.data()) : write(made.wide.data());
  return made;
}

template <class Executor>
packed_keys pack_closest_numbers(const context& on, std::span<const composite_part> parts,
                                 std::span<const column> columns, closest_number which) {
  const std::uint64_t size = columns.front().size;
  packed_keys made = room_for_packed(on, parts, size);
  made.validity = {on, (size + 7) / 8};
  core::numbered_columns keys = numbered(parts, columns);
  for (; keys.count < parts.size(); ++keys.count)
    keys.parts[keys.count] = numbered(parts[keys.count]);
  const auto write = [&]<class Code>(Code* numbers) {
    const core::put_closest_numbers<Code> put{
        .keys = keys,
        .given = static_cast<unsigned>(columns.size()),
        .before = which == closest_number::at_most || which == closest_number::below,
        .or_equal = which == closest_number::at_most || which == closest_number::at_least,
        .size = size,
        .out = numbers,
        .validity = made.validity.data()};
    Executor::for_each(on, put, made.validity.size());
  };
  made.format.width == 4 ? write(made.narrow.data()) : write(made.wide.data());
  return made;
}

// Writes the places of keys among those of a dictionary. `before`: the closest packed keys;
// `itself`: the keys, null if they are none of the dictionary's; `needed`: columns without whose
// values there is no place; `numbers`: of the keys before.
template <class Executor>
void place_among(const context& on, const packed_keys& before, const packed_keys* itself,
                 const key_parts& needed, packed_keys& numbers) {
  const auto write = [&]<class Code, class Number>(const buffer<Code>& last, const Code* own,
                                                   buffer<Number>& places) {
    Executor::for_each(
        on,
        core::put_places<Code, Number>{last.data(), before.validity.data(), own,
                                       itself == nullptr ? nullptr : itself->validity.data(),
                                       composite_of(needed, false), places.size(), places.data(),
                                       numbers.validity.data()},
        numbers.validity.size());
  };
  const auto write_numbers = [&](const auto& last, const auto* own) {
    numbers.format.width == 4 ? write(last, own, numbers.narrow) : write(last, own, numbers.wide);
  };
  if (before.format.width == 4) {
    write_numbers(before.narrow, itself == nullptr ? nullptr : itself->narrow.data());
  } else {
    write_numbers(before.wide, itself == nullptr ? nullptr : itself->wide.data());
  }
}

template <class Executor>
packed_ranges pack_composite_ranges(const context& on, std::span<const composite_part> parts,
                                    std::span<const column> equal,
                                    const std::optional<column>& lower,
                                    const std::optional<column>& upper) {
  const std::uint64_t size = lower ? lower->size : upper ? upper->size : equal.front().size;
  const bool bounded = lower || upper;
  packed_ranges made{room_for_packed(on, parts, size), room_for_packed(on, parts, size)};
  const auto write = [&]<class Code>(Code* least, Code* most) {
    core::put_composite_ranges<Code> put;
    put.equal = numbered(parts, equal);
    if (bounded) put.bounded = numbered(parts[equal.size()]);
    put.has_lower = lower.has_value();
    put.has_upper = upper.has_value();
    if (lower) put.lower = key_cells_of(*lower);
    if (upper) put.upper = key_cells_of(*upper);
    put.behind =
        static_cast<std::uint8_t>(bits_of(parts.subspan(equal.size() + (bounded ? 1 : 0))));
    put.least = least;
    put.most = most;
    Executor::for_each(on, put, size);
  };
  made.lower.format.width == 4 ? write(made.lower.narrow.data(), made.upper.narrow.data())
                               : write(made.lower.wide.data(), made.upper.wide.data());
  return made;
}

}  // namespace raydex
