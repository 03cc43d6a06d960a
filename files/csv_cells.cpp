// SPDX-License-Identifier: Apache-2.0
// The cells of a column, made from the texts of a CSV file.
#include "files/csv_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include "files/dtype.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

constexpr std::size_t widest = 8;

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 5> words{"", "NA", "N/A", "null", "NULL"};
  return std::ranges::find(words, text) != words.end();
}

// A number that is all of the text, or why there is none.
template <class T>
std::pair<T, std::errc> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return {value, stop == end ? error : std::errc::invalid_argument};
}

// The bytes of a value, at the front of a cell.
template <class T>
std::uint64_t to_cell(const T& value) {
  std::uint64_t cell = 0;
  std::memcpy(&cell, &value, sizeof value);
  return cell;
}

}  // namespace

csv_cells::csv_cells(std::string file, std::string column, std::optional<key_format> type)
    : file_(std::move(file)), column_(std::move(column)), type_(type) {}

void csv_cells::fail(const sighting& at, std::string_view what) const {
  constexpr std::size_t shown = 40;
  throw invalid_argument(fmt::format("{}: line {}: '{}{}' in column {} {}", file_, at.line,
                                     at.text.substr(0, shown), at.text.size() > shown ? "..." : "",
                                     column_, what));
}

void csv_cells::add(std::string_view text, std::uint64_t line) {
  if (is_missing(text)) {
    add_missing();
    return;
  }
  cells_.push_back(type_ ? typed_cell(text, line) : guessed_cell(text, line));
  if (!validity_.empty()) validity_.resize(cells_.size() / 8 + 1, 0xff);
}

void csv_cells::add_missing() {
  const std::size_t row = cells_.size();
  cells_.push_back(0);
  validity_.resize(cells_.size() / 8 + 1, 0xff);
  validity_[row / 8] = static_cast<std::uint8_t>(validity_[row / 8] & ~(1u << row % 8));
}

template <class T>
std::uint64_t csv_cells::number_cell(std::string_view text, std::uint64_t line) const {
  const auto [value, error] = parse_number<T>(text);
  if (error == std::errc::result_out_of_range) {
    fail({line, std::string(text)}, fmt::format("is out of the range of {}", to_string(*type_)));
  }
  if (error != std::errc()) {
    fail({line, std::string(text)}, fmt::format("is not of type {}", to_string(*type_)));
  }
  return to_cell(value);
}

std::uint64_t csv_cells::text_cell(std::string_view text, std::uint64_t line,
                                   std::size_t width) const {
  if (text.size() > width) {
    fail({line, std::string(text)}, fmt::format("has {} bytes, more than {}", text.size(), width));
  }
  std::uint64_t cell = 0;
  std::memcpy(&cell, text.data(), text.size());
  return cell;
}

std::uint64_t csv_cells::typed_cell(std::string_view text, std::uint64_t line) const {
  switch (type_->type) {
    case key_type::uint32:
      return number_cell<std::uint32_t>(text, line);
    case key_type::uint64:
      return number_cell<std::uint64_t>(text, line);
    case key_type::int32:
      return number_cell<std::int32_t>(text, line);
    case key_type::int64:
      return number_cell<std::int64_t>(text, line);
    case key_type::float32:
      return number_cell<float>(text, line);
    case key_type::float64:
      return number_cell<double>(text, line);
    case key_type::bytes:
      break;
  }
  return text_cell(text, line, type_->width);
}

std::uint64_t csv_cells::guessed_cell(std::string_view text, std::uint64_t line) {
  const auto [integer, no_integer] = parse_number<std::int64_t>(text);
  auto number = static_cast<double>(integer);
  auto no_number = no_integer;
  if (no_integer != std::errc()) std::tie(number, no_number) = parse_number<double>(text);
  const bool is_text = no_number == std::errc::invalid_argument;
  std::optional<sighting>& first = is_text ? text_ : number_;
  if (!first) first = sighting{line, std::string(text)};
  if (text_ && number_) {
    fail(*text_, fmt::format("is not a number, '{}' in line {} is one; to read the column as text: "
                             "{}:{}:S8",
                             number_->text, number_->line, file_, column_));
  }
  if (is_text) {
    longest_ = std::max(longest_, text.size());
    return text_cell(text, line, widest);
  }
  if (no_number == std::errc::result_out_of_range) {
    fail({line, std::string(text)}, "is out of the range of double");
  }
  if (no_integer == std::errc::invalid_argument) fractions_ = true;
  if (no_integer == std::errc::result_out_of_range && !too_large_) {
    too_large_ = sighting{line, std::string(text)};
  }
  if (no_integer != std::errc() && !floats_) turn_to_floats();
  return floats_ ? to_cell(number) : to_cell(integer);
}

void csv_cells::turn_to_floats() {
  for (std::uint64_t& cell : cells_)
    cell = to_cell(static_cast<double>(std::bit_cast<std::int64_t>(cell)));
  floats_ = true;
}

key_format csv_cells::guessed_type() const {
  if (text_) return key_format::bytes(static_cast<std::uint8_t>(longest_));
  if (too_large_ && !fractions_) {
    fail(*too_large_, fmt::format("is out of the range of int64; to read it as another type: "
                                  "{0}:{1}:u8 or {0}:{1}:f8",
                                  file_, column_));
  }
  return floats_ ? format_of<double> : format_of<std::int64_t>;
}

host_column csv_cells::finish() {
  const key_format format = type_ ? *type_ : guessed_type();
  const std::uint64_t size = cells_.size();
  const auto owner = std::make_shared<std::vector<std::uint64_t>>(std::move(cells_));
  auto* bytes = reinterpret_cast<std::byte*>(owner->data());
  for (std::size_t i = 0; format.width < widest && i < size; ++i)
    std::memmove(bytes + i * format.width, bytes + i * widest, format.width);
  return {.format = format,
          .size = size,
          .stride = 0,
          .cells = {owner, bytes},
          .validity = std::move(validity_)};
}

}  // namespace raydex::io
