// SPDX-License-Identifier: Apache-2.0
// How an index over composite keys, or numbers of a dictionary, takes rows that these have no place
// for: its keys are taken apart, and packed again beside those of the new rows. It is done in host
// memory, since it is seldom done.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "raydex/composite_keys.hpp"
#include "raydex/error.hpp"
#include "src/interface/cells_of_codes.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/host_copies.hpp"
#include "src/interface/option_table.hpp"
#include "src/interface/packed_columns.hpp"

namespace raydex {

namespace {

bool are_bytes(const std::optional<key_format>& format) {
  return !format || format->type == key_type::bytes;
}

// Whether cells of a column that had one format may have another one.
bool may_become(const std::optional<key_format>& own, const std::optional<key_format>& other) {
  if (own == other) return true;
  return own && are_bytes(own) && are_bytes(other) && (!other || other->width > own->width);
}

// Cells that a key had, and new ones behind them: in host memory at first, then the backend's.
class joined_cells {
 public:
  joined_cells(const host_copies& by, const unpacked_column& had, const key_part& added)
      : had_(had.codes.size()), size_(had_ + size_of(added)) {
    join_validity(by, had, added);
    if (const auto* const fixed = std::get_if<column>(&added)) {
      format_ = fixed->format;
      join_fixed(by, had, *fixed);
    } else {
      join_strings(by, had, std::get<string_column>(added));
    }
    by.place(bytes_);
    by.place(offsets_);
    by.place(validity_);
  }

  key_part view() const {
    if (format_) return column(*format_, bytes_.data(), size_, validity_.data());
    return string_column{bytes_.data(), offsets_.data(), true, size_, validity_.data()};
  }

 private:
  static std::uint64_t size_of(const key_part& cells) {
    return std::visit([](const auto& one) { return one.size; }, cells);
  }

  void join_validity(const host_copies& by, const unpacked_column& had, const key_part& added) {
    const validity_bitmap others = std::visit([](const auto& one) { return one.validity; }, added);
    if (others == nullptr && std::ranges::all_of(had.there, [](auto is) { return is != 0; }))
      return;
    validity_ = {by.host(), (size_ + 7) / 8};
    std::ranges::fill(validity_, std::uint8_t{0});
    for (std::uint64_t i = 0; i < size_; ++i) {
      const std::uint64_t bit = others.offset + i - had_;
      const bool is_there =
          i < had_ ? had.there[i] != 0
                   : others.bits == nullptr || (others.bits[bit / 8] >> bit % 8 & 1) != 0;
      if (is_there) validity_[i / 8] |= static_cast<std::uint8_t>(1U << i % 8);
    }
  }

  void join_fixed(const host_copies& by, const unpacked_column& had, const column& added) {
    const std::size_t width = added.format.width;
    bytes_ = {by.host(), saturated_product(size_, width)};
    std::ranges::fill(bytes_, char{0});  // what longer byte strings are padded with
    for (std::uint64_t i = 0; i < had_; ++i)
      put_cell(had.codes[i], *had.format, bytes_.data() + i * width);
    const auto* const from = static_cast<const char*>(added.data);
    for (std::uint64_t i = 0; i < added.size; ++i)
      std::memcpy(bytes_.data() + (had_ + i) * width, from + i * added.step(), width);
  }

  void join_strings(const host_copies& by, const unpacked_column& had, const string_column& added) {
    const auto offset = [&](std::uint64_t i) -> std::uint64_t {
      return added.wide_offsets ? static_cast<const std::uint64_t*>(added.offsets)[i]
                                : static_cast<const std::uint32_t*>(added.offsets)[i];
    };
    // Calls f(bytes, size) for each string.
    const auto for_each = [&](const auto& f) {
      for (std::uint64_t i = 0; i < had_; ++i)
        with_string(had, i, f);
      for (std::uint64_t i = 0; i < added.size; ++i)
        f(added.bytes + offset(i), offset(i + 1) - offset(i));
    };
    offsets_ = {by.host(), size_ + 1};
    offsets_[0] = 0;
    std::uint64_t at = 0;
    for_each([&](const char* /*bytes*/, std::uint64_t size) {
      offsets_[at + 1] = offsets_[at] + size;
      ++at;
    });
    bytes_ = {by.host(), offsets_[size_]};
    char* to = bytes_.data();
    for_each([&](const char* bytes, std::uint64_t size) { to = std::copy_n(bytes, size, to); });
  }

  // Calls f(bytes, size) with a string that the key had.
  template <class F>
  static void with_string(const unpacked_column& had, std::uint64_t i, const F& f) {
    if (had.there[i] == 0) return f(nullptr, 0);
    const std::uint64_t code = had.codes[i];
    if (!had.format) {
      const std::uint64_t begin = had.words.offsets[code];
      return f(had.words.bytes.data() + begin, had.words.offsets[code + 1] - begin);
    }
    const auto bytes = bytes_of(code, had.format->width);
    std::uint64_t size = had.format->width;
    while (size != 0 && bytes[size - 1] == 0)
      --size;
    f(bytes.data(), size);
  }

  std::uint64_t had_;
  std::uint64_t size_;
  std::optional<key_format> format_;
  buffer<char> bytes_;
  buffer<std::uint64_t> offsets_;
  buffer<std::uint8_t> validity_;
};

// Numbers of keys, and others behind them that are missing.
packed_keys with_missing(const host_copies& by, packed_keys keys, std::uint64_t missing) {
  packed_keys made;
  made.format = keys.format;
  const auto there = by.fetch(std::move(keys.validity));
  const auto copy = [&]<class Number>(buffer<Number>& of, buffer<Number>& to) {
    const auto from = by.fetch(std::move(of));
    to = {by.host(), from.size() + missing};
    std::ranges::fill(std::ranges::copy(from, to.begin()).out, to.end(), Number{0});
    made.validity = {by.host(), (to.size() + 7) / 8};
    std::ranges::fill(made.validity, std::uint8_t{0});
    for (std::uint64_t i = 0; i < from.size(); ++i)
      if (there.size() == 0 || (there[i / 8] >> i % 8 & 1) != 0)
        made.validity[i / 8] |= static_cast<std::uint8_t>(1U << i % 8);
    by.place(to);
    by.place(made.validity);
  };
  keys.format.width == 4 ? copy(keys.narrow, made.narrow) : copy(keys.wide, made.wide);
  return made;
}

// Entries that an index has, in host memory, to which rows come.
template <class RowId>
struct held_entries {
  buffer<std::uint64_t> codes;
  buffer<RowId> rows;

  held_entries(const host_copies& by, const index& of) {
    const std::uint64_t size = of.info().entries;
    codes = {by.device(), size};
    rows = {by.device(), size};
    of.entries(by.device(), codes, rows);
    codes = by.fetch(std::move(codes));
    rows = by.fetch(std::move(rows));
  }
};

// Builds an index like another one, over its rows and others.
template <class RowId>
std::unique_ptr<index> build_like(const host_copies& by, const index_info& info, packed_keys keys,
                                  const buffer<RowId>& held, const column& added) {
  const fetched_part others(by, added);
  const auto& from = std::get<column>(others.view());
  // Rows without a key count, too, and so does the largest row that there ever was.
  const bool has_largest = (info.n == 0 && info.max_row_id == 0) ||
                           std::ranges::find(held, info.max_row_id) != held.end();
  const std::uint64_t missing = std::max<std::uint64_t>(info.n - info.entries, has_largest ? 0 : 1);
  buffer<RowId> rows(by.host(), held.size() + added.size + missing);
  auto* to = std::ranges::copy(held, rows.begin()).out;
  for (std::uint64_t i = 0; i < added.size; ++i)
    std::memcpy(to++, static_cast<const std::byte*>(from.data) + i * from.step(), sizeof(RowId));
  std::fill(to, rows.end(), static_cast<RowId>(info.max_row_id));
  if (missing != 0) keys = with_missing(by, std::move(keys), missing);
  // Of rows that are the places of their keys, structures take no list; those of 64 bits stay so.
  RowId place = 0;
  const bool are_places = sizeof(RowId) == sizeof(std::uint32_t) &&
                          std::ranges::all_of(rows, [&](RowId row) { return row == place++; });
  by.place(rows);
  return build(info.structure, info.where, by.device(), keys.view(),
               are_places ? std::nullopt : std::optional(column(rows)), options_in(info.options));
}

// Checks the index that is to grow, and the rows that it gets.
void check_growth(const index_info& info, key_format keys, const column& rows, std::uint64_t size) {
  check_explicit_rows("rows", rows, size);
  if (const key_format needed(info.row_ids == row_id_type::uint32 ? key_type::uint32
                                                                  : key_type::uint64);
      rows.format != needed)
    throw invalid_argument(fmt::format("rows: they are {}, but those of the index are {}",
                                       to_string(rows.format), to_string(needed)));
  if (info.key != keys)
    throw invalid_argument(fmt::format("over: its keys are {}, but numbers of this key are {}",
                                       to_string(info.key), to_string(keys)));
}

// Calls f(entries) with those of an index.
template <class F>
auto with_entries(const host_copies& by, const index& of, const F& f) {
  return of.info().row_ids == row_id_type::uint32 ? f(held_entries<std::uint32_t>(by, of))
                                                  : f(held_entries<std::uint64_t>(by, of));
}

}  // namespace

grown_index composite_keys::grown(const context& on, const index& over,
                                  std::span<const key_part> columns, const column& rows) const try {
  check_space(on, where_);
  const std::uint64_t size =
      check_key(where_, "columns", key_parts(columns.begin(), columns.end()));
  if (columns.size() != parts_.size())
    throw invalid_argument(
        fmt::format("columns: {}, but the key has {}", columns.size(), parts_.size()));
  for (std::size_t p = 0; p < columns.size(); ++p) {
    const auto format = format_of_part(columns[p]);
    if (may_become(parts_[p].format, format)) continue;
    throw invalid_argument(fmt::format("columns: column {} is {}, but that of the key is {}", p + 1,
                                       text_of(format), text_of(parts_[p].format)));
  }
  check_growth(over.info(), format(), rows, size);
  const host_copies by(where_, on);
  return with_entries(by, over, [&](auto held) -> grown_index {
    std::vector<joined_cells> cells;
    std::vector<composite_column> all;
    std::vector<unpacked_column> unpacked = packed_->unpack(by, std::move(held.codes));
    for (std::size_t p = 0; p < unpacked.size(); ++p) {
      const unpacked_column had = std::move(unpacked[p]);
      cells.emplace_back(by, had, fetched_part(by, columns[p]).view());
      all.emplace_back(cells.back().view(), parts_[p].descending, parts_[p].missing);
    }
    packed_keys numbers;
    // A place for each number between the first and the last one leaves none for room.
    const bool has_room = over.info().structure != "direct";
    composite_keys made(where_, on, all, &numbers,
                        has_room ? std::span(parts_) : std::span<const composite_part>());
    auto built = build_like(by, over.info(), std::move(numbers), held.rows, rows);
    return {std::move(made), std::move(built)};
  });
} catch (...) {
  rethrow_as_error();
}

grown_dictionary key_dictionary::grown(const context& on, const index& over, const key_part& keys,
                                       const column& rows) const try {
  check_space(on, where_);
  const std::uint64_t size = check_key(where_, "keys", {keys});
  check_format(keys);
  check_growth(over.info(), format_of_numbers(), rows, size);
  const host_copies by(where_, on);
  return with_entries(by, over, [&](auto held) -> grown_dictionary {
    unpacked_column had{format_, std::move(held.codes), {by.host(), held.rows.size()}, {}};
    std::ranges::fill(had.there, std::uint8_t{1});
    buffer<std::uint64_t> codes_of_numbers;
    if (format_) {
      codes_of_numbers = by.fetch(codes(on));
    } else {
      had.words = by.fetch(this->keys(on));
    }
    for (std::uint64_t& code : had.codes) {
      code = place_of(code);
      // An index may come from a file that somebody changed.
      if (code >= this->size())
        throw invalid_argument("over: some of its keys are no numbers of this dictionary");
      if (format_) code = codes_of_numbers[code];
    }
    const joined_cells cells(by, had, fetched_part(by, keys).view());
    packed_keys numbers;
    key_dictionary made(where_, on, cells.view(), &numbers, nullptr, numbering_);
    auto built = build_like(by, over.info(), std::move(numbers), held.rows, rows);
    return {std::move(made), std::move(built)};
  });
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
