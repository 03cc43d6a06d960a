// SPDX-License-Identifier: Apache-2.0
// Tables of several columns for tests of joins, with keys as texts, which know nothing of how
// columns are laid out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tests/joins/joined_rows.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

using bytes1 = std::array<char, 1>;
using bytes2 = std::array<char, 2>;
using bytes3 = std::array<char, 3>;

using table_column =
    std::variant<cells_of<std::int32_t>, cells_of<std::uint64_t>, cells_of<std::int64_t>,
                 cells_of<float>, cells_of<double>, cells_of<bytes1>, cells_of<bytes2>,
                 cells_of<bytes3>, cells_of<std::string>>;
// Columns of equal sizes.
using table = std::vector<table_column>;

// Strings in the backend's memory. They do not begin with the first byte there, and missing ones
// have bytes, too.
struct placed_strings {
  buffer<char> bytes;
  buffer<std::uint32_t> narrow;
  buffer<std::uint64_t> wide;
  buffer<std::uint8_t> bits;
  string_column view;

  placed_strings(const session& at, const cells_of<std::string>& content, bool wide_offsets)
      : bits(at.upload(bitmap(content))) {
    std::string all = "..";
    std::vector<std::uint64_t> offsets{all.size()};
    for (const std::string& one : cells(content)) {
      all += one;
      offsets.push_back(all.size());
    }
    bytes = at.upload(all);
    wide = at.upload(offsets);
    narrow = at.upload(std::vector<std::uint32_t>(offsets.begin(), offsets.end()));
    view.bytes = bytes.data();
    view.offsets = wide_offsets ? static_cast<const void*>(wide.data()) : narrow.data();
    view.wide_offsets = wide_offsets;
    view.size = content.size();
    if (any_missing(content)) view.validity = bits.data();
  }
};

// A table in the backend's memory.
struct placed_table {
  key_parts parts;
  std::vector<std::shared_ptr<const void>> held;

  placed_table(const session& at, const table& content, bool wide_offsets = false) {
    for (const table_column& one : content)
      std::visit([&](const auto& cells) { place(at, cells, wide_offsets); }, one);
  }

 private:
  template <class T>
  void place(const session& at, const cells_of<T>& cells, bool /*wide_offsets*/) {
    const auto made = std::make_shared<const placed<T>>(at, cells);
    parts.emplace_back(made->view);
    held.push_back(made);
  }
  void place(const session& at, const cells_of<std::string>& cells, bool wide_offsets) {
    const auto made = std::make_shared<const placed_strings>(at, cells, wide_offsets);
    parts.emplace_back(made->view);
    held.push_back(made);
  }
};

// A few values of each type, the first ones among those that break things.
template <class T>
T value_of(std::uint64_t number) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, std::string>) {
    // Of 0 to 40 characters, equal up to the last one, which may be what ends a string elsewhere.
    std::string text(number % 41, 'x');
    if (!text.empty()) text.back() = "x\0y\xff"[number / 41 % 4];
    return text;
  } else if constexpr (std::is_floating_point_v<T>) {
    const std::array odd{T(0),
                         -T(0),
                         limits::quiet_NaN(),
                         -limits::quiet_NaN(),
                         limits::infinity(),
                         -limits::infinity()};
    return number < odd.size() ? odd[number] : static_cast<T>(number) / 4;
  } else if constexpr (std::is_integral_v<T>) {
    const std::array odd{limits::min(), limits::max(), static_cast<T>(limits::max() - 1)};
    return number < odd.size() ? odd[number] : static_cast<T>(number);
  } else {
    return dense_key<T>(number * 0x01'0101);
  }
}

// `size` rows of columns like those of `shape`. Rows are of `different` kinds, and some cells are
// those of other kinds, so that rows may differ in one column only.
inline table make_table(const table& shape, std::size_t size, std::uint64_t different, bool missing,
                        std::mt19937_64& random) {
  std::vector<std::uint64_t> kinds(size);
  for (std::uint64_t& kind : kinds)
    kind = below(random, different);
  table made = shape;
  for (std::size_t part = 0; part < made.size(); ++part) {
    std::visit(
        [&]<class T>(cells_of<T>& cells) {
          cells.resize(size);
          for (std::size_t i = 0; i < size; ++i) {
            if (missing && below(random, 4 * made.size()) == 0) continue;
            const bool other = below(random, 5 * made.size()) == 0;
            cells[i] = value_of<T>((other ? below(random, different) : kinds[i]) + part);
          }
        },
        made[part]);
  }
  return made;
}

// A text that is equal where cells are.
template <class T>
std::string text_of(const T& cell) {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(encode(cell));
  } else {
    return std::string(cell.begin(), cell.end());
  }
}

using row_key = std::vector<std::optional<std::string>>;

// The key of each row. A table without columns has rows, too: all keys are equal then.
inline std::vector<row_key> keys_of(const table& content, std::size_t rows) {
  std::vector<row_key> keys(rows);
  for (const table_column& one : content) {
    std::visit(
        [&](const auto& cells) {
          for (std::size_t i = 0; i < rows; ++i)
            keys[i].push_back(cells[i] ? std::optional(text_of(*cells[i])) : std::nullopt);
        },
        one);
  }
  return keys;
}

inline std::size_t rows_in(const table& content) {
  return std::visit([](const auto& cells) { return cells.size(); }, content.front());
}

inline bool can_match(const row_key& key, bool missing_equal) {
  return missing_equal || std::ranges::find(key, std::optional<std::string>()) == key.end();
}

// The build rows whose key equals that of each probe row.
inline found_rows find_equal(const table& build, const table& probe, bool missing_equal) {
  std::map<row_key, std::vector<std::uint64_t>> rows;
  const auto keys = keys_of(build, rows_in(build));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (can_match(keys[i], missing_equal)) rows[keys[i]].push_back(i);
  }
  found_rows found;
  for (const row_key& key : keys_of(probe, rows_in(probe))) {
    const auto place = rows.find(key);
    found.push_back(place != rows.end() ? place->second : std::vector<std::uint64_t>{});
  }
  return found;
}

}  // namespace raydex::test
