// SPDX-License-Identifier: Apache-2.0
// The cells of a column, made from the texts of a CSV file.
#include "io/csv_cells.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "io/iso_time.hpp"
#include "io/quoted.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

constexpr std::size_t widest = 8;

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 5> words{"", "NA", "N/A", "null", "NULL"};
  return std::ranges::find(words, text) != words.end();
}

// The float nearest to a number that from_chars does not round: infinity or 0, as NumPy reads it.
float nearest(const std::string& text, float /*as*/) {
  return std::strtof(text.c_str(), nullptr);
}
double nearest(const std::string& text, double /*as*/) {
  return std::strtod(text.c_str(), nullptr);
}

// A number that is all of the text, or why there is none.
template <class T>
std::pair<T, std::errc> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end) return {value, std::errc::invalid_argument};
  if constexpr (std::is_floating_point_v<T>) {
    if (error == std::errc::result_out_of_range)
      return {nearest(std::string(text), value), std::errc()};
  }
  return {value, error};
}

// The digits of a whole number, such as 12 of "+12.00", with its sign if it is negative; empty
// where a text is none.
std::string_view whole_digits(std::string_view text, bool& negative) {
  negative = text.starts_with('-');
  if (text.starts_with('+') || negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view digits = text.substr(0, point);
  const bool is_whole = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos &&
                        text.substr(std::min(point + 1, text.size())).find_first_not_of('0') ==
                            std::string_view::npos;
  return is_whole ? digits : std::string_view();
}

// Whether a text is a whole number that the double nearest to it is not.
bool is_inexact(std::string_view text, double nearest) {
  constexpr double exact = 9007199254740992;  // 2^53, up to which doubles are all integers
  if (std::abs(nearest) < exact || !std::isfinite(nearest)) return false;
  bool negative = false;
  std::string_view digits = whole_digits(text, negative);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return !digits.empty() && digits != fmt::format("{:.0f}", std::abs(nearest));
}

// Whether a text may be a date as it is written in some countries: 11/27/2026, 27.11.2026 9:30.
bool may_be_date(std::string_view text) {
  constexpr int last_part = 3;
  for (int part = 1;; ++part) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > 4) return false;
    text.remove_prefix(digits);
    if (part == last_part) {
      const bool time_follows =
          text.size() > 1 && text[0] == ' ' && text[1] >= '0' && text[1] <= '9';
      return text.empty() || time_follows;
    }
    if (text.empty() || (text[0] != '/' && text[0] != '.')) return false;
    text.remove_prefix(1);
  }
}

// The bytes of a value, at the front of a cell.
template <class T>
std::uint64_t to_cell(const T& value) {
  std::uint64_t cell = 0;
  std::memcpy(&cell, &value, sizeof value);
  return cell;
}

}  // namespace

void csv_cells::fail(const sighting& at, std::string_view problem) const {
  throw invalid_argument(fmt::format("{}: line {}: '{}' in column {} {}", *file_, at.line,
                                     printable(at.text, 40), printable(column_->name), problem));
}

void csv_cells::add(std::string_view text, std::uint64_t line) {
  if (column_->texts != csv_texts::verbatim && is_missing(text)) {
    missing_.push_back(cells_.size());
    cells_.push_back(bytes_.size());  // 0 but of strings
  } else if (column_->texts >= csv_texts::strings) {
    cells_.push_back(string_cell(text));
  } else {
    cells_.push_back(column_->type ? typed_cell(text, line) : guessed_cell(text, line));
  }
}

template <class T>
std::uint64_t csv_cells::number_cell(std::string_view text, std::uint64_t line) const {
  auto [value, error] = parse_number<T>(text);
  if constexpr (std::is_integral_v<T>) {
    // Where some are missing, others write integers as 5.0.
    bool negative = false;
    const std::string_view digits = whole_digits(text, negative);
    if (error == std::errc::invalid_argument && !digits.empty())
      std::tie(value, error) = parse_number<T>(text.substr(0, text.find('.')));
  }
  if (error == std::errc::result_out_of_range) {
    fail({line, std::string(text)},
         fmt::format("is out of the range of {}", to_string(*column_->type)));
  }
  if (error != std::errc()) {
    fail({line, std::string(text)}, fmt::format("is not of type {}", to_string(*column_->type)));
  }
  return to_cell(value);
}

std::string too_long(std::size_t bytes, std::size_t most) {
  constexpr std::size_t widest_key = 8;
  return fmt::format("has {} bytes, more than {}{}", bytes, most,
                     most < widest_key
                         ? ""
                         : "; keys of raydex query and raydex join take longer texts, as strings");
}

std::uint64_t csv_cells::text_cell(std::string_view text, std::uint64_t line,
                                   std::size_t width) const {
  if (text.size() > width && may_be_date(text)) {
    fail({line, std::string(text)},
         "is a text; dates and times are written as 2026-01-31 or 2026-01-31T09:30:00");
  }
  if (text.size() > width) {
    fail({line, std::string(text)}, too_long(text.size(), width));
  }
  std::uint64_t cell = 0;
  std::memcpy(&cell, text.data(), text.size());
  return cell;
}

std::uint64_t csv_cells::typed_cell(std::string_view text, std::uint64_t line) const {
  switch (column_->type->type) {
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
  return text_cell(text, line, column_->type->width);
}

std::uint64_t csv_cells::guessed_cell(std::string_view text, std::uint64_t line) {
  const auto [integer, no_integer] = parse_number<std::int64_t>(text);
  auto number = static_cast<double>(integer);
  auto no_number = no_integer;
  if (no_integer != std::errc()) std::tie(number, no_number) = parse_number<double>(text);
  const bool is_text = no_number == std::errc::invalid_argument;
  std::optional<sighting>& first = is_text ? text_ : number_;
  if (!first) first = sighting{line, std::string(text)};
  check_one_kind();
  if (is_text) {
    const auto time = time_cell(text, line);
    if (column_->texts == csv_texts::any_length) return string_cell(text);
    if (time) return *time;
    if (text.ends_with('\0'))
      fail({line, std::string(text)}, "ends in a NUL byte, which is not told from padding");
    longest_ = std::max(longest_, text.size());
    return text_cell(text, line, widest);
  }
  if (no_integer == std::errc::invalid_argument) fractions_ = true;
  if (no_integer == std::errc::result_out_of_range && !too_large_) {
    too_large_ = sighting{line, std::string(text)};
  }
  if (no_integer == std::errc()) number = static_cast<double>(integer);
  if (!inexact_ && is_inexact(text, number)) inexact_ = sighting{line, std::string(text)};
  if (no_integer != std::errc() && !floats_) turn_to_floats();
  return floats_ ? to_cell(number) : to_cell(integer);
}

// The nanoseconds of a text that is a time.
std::optional<std::uint64_t> csv_cells::time_cell(std::string_view text, std::uint64_t line) {
  const bool may_be_strings = column_->texts == csv_texts::any_length;
  if (may_be_strings && no_time_) return std::nullopt;
  const std::optional<iso_time> time = parse_iso_time(text);
  const bool is_time = time && (time->nanoseconds || !may_be_strings);
  std::optional<sighting>& first = !is_time ? no_time_ : time->has_zone ? zoned_ : local_;
  if (!first) first = sighting{line, std::string(text)};
  check_one_kind_of_texts();
  if (!is_time) return std::nullopt;
  if (!time->nanoseconds)
    fail({line, std::string(text)}, "is a time out of the range of nanoseconds, 1678 to 2261");
  return to_cell(*time->nanoseconds);
}

// Whether they are times, by all that is known of the column.
bool csv_cells::are_times() const {
  return (local_ || zoned_) && !(local_ && zoned_) && !no_time_;
}

// Where they may be strings, those that are not all times of one kind are.
void csv_cells::check_one_kind_of_texts() const {
  if (column_->texts == csv_texts::any_length) return;
  const std::optional<sighting>& time = local_ ? local_ : zoned_;
  if (time && no_time_)
    fail(*no_time_,
         fmt::format("is not a time, {} in line {} is one", in_quotes(time->text), time->line));
  if (local_ && zoned_)
    fail(*local_,
         fmt::format("has no zone, {} in line {} has one", in_quotes(zoned_->text), zoned_->line));
}

std::uint64_t csv_cells::string_cell(std::string_view text) {
  // What ends in a NUL byte is not told from padding in short texts.
  longest_ = std::max(longest_, text.ends_with('\0') ? widest + 1 : text.size());
  bytes_ += text;
  return bytes_.size();
}

// Whether they become strings, by all that is known of the column.
bool csv_cells::are_strings() const {
  if (column_->texts >= csv_texts::strings) return true;
  return column_->texts == csv_texts::any_length && text_ && longest_ > widest && !are_times();
}

void csv_cells::check_one_kind() const {
  if (!text_ || !number_) return;
  fail(*text_,
       fmt::format("is not a number, {} in line {} is one; to read the column as text: "
                   "{}:{}:{}",
                   in_quotes(number_->text), number_->line, *file_, printable(column_->name),
                   column_->texts == csv_texts::any_length ? "string" : "bytes8"));
}

void csv_cells::turn_to_floats() {
  for (std::uint64_t& cell : cells_)
    cell = to_cell(static_cast<double>(std::bit_cast<std::int64_t>(cell)));
  floats_ = true;
}

// Takes cells out of `bytes_`: texts of up to 8 bytes, or times.
void csv_cells::turn_from_strings(bool are_times) {
  std::uint64_t begin = 0;
  for (std::uint64_t& cell : cells_) {
    const std::uint64_t end = std::exchange(cell, 0);
    const std::string_view text = std::string_view(bytes_).substr(begin, end - begin);
    if (!are_times) {
      std::memcpy(&cell, text.data(), text.size());
    } else if (const auto time = parse_iso_time(text)) {  // else it is missing
      cell = to_cell(time->nanoseconds.value());
    }
    begin = end;
  }
}

// Takes in what rows that come later have shown.
void csv_cells::learn_from(const csv_cells& later) {
  if (!number_) number_ = later.number_;
  if (!text_) text_ = later.text_;
  if (!too_large_) too_large_ = later.too_large_;
  if (!inexact_) inexact_ = later.inexact_;
  if (!local_) local_ = later.local_;
  if (!zoned_) zoned_ = later.zoned_;
  if (!no_time_) no_time_ = later.no_time_;
  floats_ = floats_ || later.floats_;
  fractions_ = fractions_ || later.fractions_;
  longest_ = std::max(longest_, later.longest_);
}

key_format csv_cells::guessed_type() const {
  check_one_kind();
  check_one_kind_of_texts();
  if (are_times()) return format_of<std::int64_t>;
  if (text_) return key_format::bytes(static_cast<std::uint8_t>(longest_));
  if (too_large_ && !fractions_) {
    fail(*too_large_, fmt::format("is out of the range of int64; to read it as another type: "
                                  "{0}:{1}:uint64 or {0}:{1}:double",
                                  *file_, printable(column_->name)));
  }
  if (floats_ && inexact_) {
    fail(*inexact_,
         fmt::format("is a whole number that no double is, and others are no integers; to read it "
                     "rounded: {0}:{1}:double",
                     *file_, printable(column_->name)));
  }
  return floats_ ? format_of<double> : format_of<std::int64_t>;
}

host_key_part csv_cells::join(std::vector<csv_cells> parts) {
  csv_cells all(*parts.front().file_, *parts.front().column_);
  std::vector<std::uint64_t> begins{0};
  bool some_missing = false;
  for (const csv_cells& part : parts) {
    all.learn_from(part);
    begins.push_back(begins.back() + part.cells_.size());
    some_missing = some_missing || !part.missing_.empty();
  }
  std::vector<std::uint8_t> validity;
  if (some_missing) {
    validity.assign(begins.back() / 8 + 1, 0xff);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const std::uint64_t one : parts[i].missing_) {
        const std::uint64_t row = begins[i] + one;
        validity[row / 8] = static_cast<std::uint8_t>(validity[row / 8] & ~(1u << row % 8));
      }
    }
  }
  if (all.are_strings()) {
    all.check_one_kind();
    return join_strings(parts, begins, std::move(validity));
  }
  return all.join_cells(parts, begins, std::move(validity));
}

// Parts whose rows begin at `begins`, as cells of one type.
host_column csv_cells::join_cells(std::vector<csv_cells>& parts,
                                  const std::vector<std::uint64_t>& begins,
                                  std::vector<std::uint8_t> validity) const {
  const key_format format = column_->type ? *column_->type : guessed_type();
  const std::shared_ptr<std::byte[]> cells =
      std::make_unique_for_overwrite<std::byte[]>(begins.back() * format.width);
  tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
    csv_cells& part = parts[i];
    if (floats_ && !part.floats_) part.turn_to_floats();
    if (!part.bytes_.empty()) part.turn_from_strings(are_times());
    std::byte* to = cells.get() + begins[i] * format.width;
    for (const std::uint64_t& cell : part.cells_) {
      std::memcpy(to, &cell, format.width);
      to += format.width;
    }
    part.drop_cells();
  });
  return {.format = format,
          .size = begins.back(),
          .stride = 0,
          .cells = {cells, cells.get()},
          .validity = std::move(validity),
          .times = !are_times() ? time_kind::none
                   : zoned_     ? time_kind::zoned
                                : time_kind::local};
}

// The same as strings.
host_strings csv_cells::join_strings(std::vector<csv_cells>& parts,
                                     const std::vector<std::uint64_t>& begins,
                                     std::vector<std::uint8_t> validity) {
  std::vector<std::uint64_t> byte_begins{0};
  for (const csv_cells& part : parts)
    byte_begins.push_back(byte_begins.back() + part.bytes_.size());
  const std::shared_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(byte_begins.back());
  std::vector<std::uint64_t> offsets(begins.back() + 1);
  tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
    csv_cells& part = parts[i];
    std::memcpy(bytes.get() + byte_begins[i], part.bytes_.data(), part.bytes_.size());
    std::uint64_t* to = offsets.data() + begins[i] + 1;
    for (const std::uint64_t end : part.cells_)
      *to++ = byte_begins[i] + end;
    part.drop_cells();
  });
  return {.size = begins.back(),
          .bytes = {bytes, bytes.get()},
          .offsets = std::move(offsets),
          .validity = std::move(validity)};
}

void csv_cells::drop_cells() {
  std::vector<std::uint64_t>().swap(cells_);
  std::string().swap(bytes_);
}

}  // namespace raydex::io
