// SPDX-License-Identifier: Apache-2.0
// Columns that are compared, made alike.
#include "apps/cli/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "apps/cli/build_arguments.hpp"
#include "io/read.hpp"
#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

// Whether no row has a value.
bool has_no_value(const io::host_column& cells) {
  for (std::uint64_t i = 0; i < cells.size; ++i)
    if (cells.has_value(i)) return false;
  return true;
}

// A column of a format and as many rows, whose cells `write(from, to)` makes of those before.
template <class Write>
io::host_column rewritten(const io::host_column& from, key_format format, const Write& write) {
  const std::shared_ptr<std::byte[]> cells =
      std::make_unique<std::byte[]>(from.size * format.width);
  for (std::uint64_t i = 0; i < from.size; ++i)
    write(from.cells.get() + i * from.view().step(), cells.get() + i * format.width);
  return {.format = format,
          .size = from.size,
          .stride = 0,
          .cells = {cells, cells.get()},
          .validity = from.validity};
}

// Strings without a value.
io::host_strings no_strings(const io::host_column& from) {
  const std::shared_ptr<char[]> none = std::make_unique<char[]>(1);
  return {.size = from.size,
          .bytes = {none, none.get()},
          .offsets = std::vector<std::uint64_t>(from.size + 1),
          .validity = from.validity};
}

// Texts as strings, without what fills them up.
io::host_strings as_strings(const io::host_column& from) {
  const std::size_t width = from.format.width;
  const std::shared_ptr<char[]> bytes = std::make_unique<char[]>(from.size * width + 1);
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(from.size + 1);
  for (std::uint64_t i = 0; i < from.size; ++i) {
    char* const to = bytes.get() + offsets.back();
    std::memcpy(to, from.cells.get() + i * from.view().step(), width);
    std::size_t length = width;
    while (length != 0 && to[length - 1] == '\0')
      --length;
    offsets.push_back(offsets.back() + length);
  }
  return {.size = from.size,
          .bytes = {bytes, bytes.get()},
          .offsets = std::move(offsets),
          .validity = from.validity};
}

bool are_texts(const io::host_column& cells) {
  return cells.format.type == key_type::bytes;
}

// Whether doubles hold all of these 64-bit integers.
bool are_exact_doubles(const io::host_column& cells) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  for (std::uint64_t i = 0; i < cells.size; ++i) {
    std::int64_t cell = 0;
    std::memcpy(&cell, cells.cells.get() + i * sizeof cell, sizeof cell);
    if (cell < -most || cell > most) return false;
  }
  return true;
}

// These integers as doubles.
io::host_column as_doubles(const io::host_column& integers) {
  return rewritten(integers, format_of<double>, [](const std::byte* from, std::byte* to) {
    std::int64_t cell = 0;
    std::memcpy(&cell, from, sizeof cell);
    const auto number = static_cast<double>(cell);
    std::memcpy(to, &number, sizeof number);
  });
}

// Makes a column strings where that can be done.
void adapt_to_strings(const named_part& one) {
  const auto* const cells = std::get_if<io::host_column>(&one.part);
  if (cells == nullptr) return;
  if (are_texts(*cells)) {
    one.part = as_strings(*cells);
  } else if (io::finds_type(one.name) && has_no_value(*cells)) {
    one.part = no_strings(*cells);
  }
}

// How a column is read as strings.
std::string how_to_read_as_strings(const std::string& name) {
  if (!io::names_column(name)) return {};
  return fmt::format("; name the type: {}:{}:string", io::path_of(name), io::column_of(name));
}

// Makes one like the other, which stays as it is, where that can be done.
void adapt(const named_part& one, const named_part& other) {
  auto* const cells = std::get_if<io::host_column>(&one.part);
  if (cells == nullptr) return;
  const auto* const others = std::get_if<io::host_column>(&other.part);
  const bool is_found = io::finds_type(one.name);
  if (others == nullptr) return adapt_to_strings(one);
  const key_format wanted = others->format;
  if (cells->format == wanted) return;
  if (is_found && has_no_value(*cells)) {
    one.part = rewritten(*cells, wanted, [](const std::byte*, std::byte*) {});
  } else if (are_texts(*cells) && are_texts(*others) && cells->format.width < wanted.width) {
    one.part = widened(*cells, wanted.width);
  } else if (is_found && io::finds_type(other.name) && cells->format == format_of<std::int64_t> &&
             wanted == format_of<double> && are_exact_doubles(*cells)) {
    one.part = as_doubles(*cells);
  }
}

// Refuses times beside what is none.
void check_times(const named_part& one, const named_part& other) {
  const auto* const cells = std::get_if<io::host_column>(&one.part);
  const auto* const others = std::get_if<io::host_column>(&other.part);
  if (cells == nullptr || others == nullptr || cells->times == others->times ||
      has_no_value(*cells) || has_no_value(*others))
    return;
  throw invalid_argument(fmt::format("{} {} are {}, but {} {} are {}", one.role, one.name,
                                     io::type_name(cells->format, cells->times), other.role,
                                     other.name, io::type_name(others->format, others->times)));
}

// Has bits say that a row has no value.
void drop(std::vector<std::uint8_t>& validity, std::uint64_t rows, std::uint64_t row) {
  if (validity.empty()) validity.assign((rows + 7) / 8, 0xff);
  validity[row / 8] = static_cast<std::uint8_t>(validity[row / 8] & ~(1U << row % 8));
}

[[noreturn]] void refuse_between(const named_part& one, std::uint64_t row,
                                 const kept_column& keys) {
  throw invalid_argument(
      fmt::format("{} {}: the value in row {} lies between two values of the index's type, {}",
                  one.role, one.name, row + 1, keys.type));
}

// Nanoseconds in the unit of keys, in their format.
io::host_column in_unit(const named_part& one, const io::host_column& from, const kept_column& keys,
                        between inexact) {
  const auto unit = static_cast<std::int64_t>(keys.unit);
  std::vector<std::uint8_t> validity = from.validity;
  std::uint64_t row = 0;
  io::host_column made = rewritten(from, *keys.format, [&](const std::byte* cell, std::byte* to) {
    std::int64_t count = 0;
    std::memcpy(&count, cell, sizeof count);
    const std::int64_t rest = (count % unit + unit) % unit;
    std::int64_t floor = count / unit - (count < 0 && rest != 0 ? 1 : 0);
    if (rest != 0 && from.has_value(row)) {
      if (inexact == between::refused) refuse_between(one, row, keys);
      if (inexact == between::missing) drop(validity, from.size, row);
      if (inexact == between::upper) ++floor;
    }
    // A count of days fits 32 bits, as those of nanoseconds that have 64 do.
    std::memcpy(to, &floor, keys.format->width);
    ++row;
  });
  made.validity = std::move(validity);
  made.times = keys.times;
  return made;
}

// Strings as texts of so many bytes.
io::host_column as_texts(const named_part& one, const io::host_strings& from,
                         const kept_column& keys, between inexact) {
  const std::size_t width = keys.format->width;
  const std::shared_ptr<std::byte[]> cells = std::make_unique<std::byte[]>(from.size * width);
  std::vector<std::uint8_t> validity = from.validity;
  for (std::uint64_t row = 0; row < from.size; ++row) {
    if (!from.has_value(row)) continue;
    const std::string_view text = from.at(row);
    std::byte* const to = cells.get() + row * width;
    std::memcpy(to, text.data(), std::min(text.size(), width));
    if (text.size() <= width || inexact == between::lower) continue;
    if (inexact == between::missing) {
      drop(validity, from.size, row);
      continue;
    }
    // The next text of this width.
    std::size_t last = width;
    while (last != 0 && to[last - 1] == std::byte{0xff})
      to[--last] = std::byte{0};
    if (inexact == between::refused || last == 0) refuse_between(one, row, keys);
    to[last - 1] = static_cast<std::byte>(std::to_integer<unsigned>(to[last - 1]) + 1);
  }
  return {.format = *keys.format,
          .size = from.size,
          .stride = 0,
          .cells = {cells, cells.get()},
          .validity = std::move(validity)};
}

[[noreturn]] void refuse_kept(const named_part& one, const std::string& path,
                              const kept_column& keys) {
  const auto* const cells = std::get_if<io::host_column>(&one.part);
  std::string how;
  if (cells != nullptr && !keys.format) how = how_to_read_as_strings(one.name);
  if (cells != nullptr && keys.format && keys.times == io::time_kind::none)
    how = how_to_read_as({one.role, one.name, cells->format, cells->times}, *keys.format);
  throw invalid_argument(fmt::format(
      "{} {} are {}, but the keys of {} are {}{}", one.role, one.name,
      cells != nullptr ? io::type_name(cells->format, cells->times) : "strings", path,
      keys.times != io::time_kind::none ? io::type_name(*keys.format, keys.times) : keys.type,
      how));
}

}  // namespace

void make_like_kept(const named_part& one, const std::string& path, const kept_column& keys,
                    between inexact) {
  auto* const cells = std::get_if<io::host_column>(&one.part);
  const bool are_kept_texts = keys.format && keys.format->type == key_type::bytes;
  const bool is_nothing = cells != nullptr && io::finds_type(one.name) && has_no_value(*cells);
  if (!keys.format || are_kept_texts) {
    adapt_to_strings(one);
    const auto* const texts = std::get_if<io::host_strings>(&one.part);
    if (texts == nullptr) refuse_kept(one, path, keys);
    if (are_kept_texts) one.part = as_texts(one, *texts, keys, inexact);
    return;
  }
  if (cells == nullptr) refuse_kept(one, path, keys);
  if (is_nothing) {
    one.part = rewritten(*cells, *keys.format, [](const std::byte*, std::byte*) {});
    return;
  }
  if (cells->format == format_of<std::int64_t> && keys.format == format_of<double> &&
      cells->times == io::time_kind::none && io::finds_type(one.name) && are_exact_doubles(*cells))
    *cells = as_doubles(*cells);
  if (cells->times != keys.times) refuse_kept(one, path, keys);
  if (keys.times != io::time_kind::none) {
    *cells = in_unit(one, *cells, keys, inexact);
  } else if (cells->format != *keys.format) {
    refuse_kept(one, path, keys);
  }
}

io::host_column make_prefixes_like_kept(const named_part& one, const std::string& path,
                                        const kept_column& keys) {
  adapt_to_strings(one);
  const auto* const prefixes = std::get_if<io::host_strings>(&one.part);
  if (prefixes == nullptr || !keys.format || keys.format->type != key_type::bytes)
    refuse_kept(one, path, keys);
  const io::host_strings texts = *prefixes;
  const std::size_t width = keys.format->width;
  io::host_column lower = as_texts(one, texts, keys, between::missing);
  std::uint64_t row = 0;
  io::host_column upper = rewritten(lower, *keys.format, [&](const std::byte* from, std::byte* to) {
    std::memcpy(to, from, width);
    const std::size_t size = std::min(texts.at(row).size(), width);
    std::memset(to + size, 0xff, width - size);
    ++row;
  });
  one.part = std::move(lower);
  return upper;
}

void make_alike(const named_part& one, const named_part& other) {
  check_times(one, other);
  adapt(one, other);
  adapt(other, one);
  const auto* const cells = std::get_if<io::host_column>(&one.part);
  const auto* const others = std::get_if<io::host_column>(&other.part);
  if (cells != nullptr && others != nullptr) {
    return check_same_type({one.role, one.name, cells->format},
                           {other.role, other.name, others->format});
  }
  if (cells == nullptr && others == nullptr) return;
  const bool first_is_text = cells == nullptr;
  const named_part& text = first_is_text ? one : other;
  const named_part& number = first_is_text ? other : one;
  const io::host_column& plain = first_is_text ? *others : *cells;
  throw invalid_argument(fmt::format("{} {} are {}, but {} {} are strings{}", number.role,
                                     number.name, io::type_name(plain.format, plain.times),
                                     text.role, text.name, how_to_read_as_strings(number.name)));
}

io::host_column widened(const io::host_column& texts, std::uint8_t width) {
  const std::size_t own = texts.format.width;
  return rewritten(texts, key_format::bytes(width),
                   [&](const std::byte* from, std::byte* to) { std::memcpy(to, from, own); });
}

void make_strings(const named_part& one, const char* why) {
  adapt_to_strings(one);
  const auto* const cells = std::get_if<io::host_column>(&one.part);
  if (cells == nullptr) return;
  throw invalid_argument(fmt::format("{} {} are {}, but {}{}", one.role, one.name,
                                     io::type_name(cells->format, cells->times), why,
                                     how_to_read_as_strings(one.name)));
}

void check_same_rows(const char* table, const std::vector<std::string>& names,
                     const std::vector<std::uint64_t>& rows) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (rows[i] == rows[0]) continue;
    throw invalid_argument(fmt::format("{} {}: it has {} rows, but {} has {}", table, names[i],
                                       rows[i], names[0], rows[0]));
  }
}

}  // namespace raydex::cli
