// SPDX-License-Identifier: Apache-2.0
#include "io/iso_time.hpp"

#include <chrono>

namespace raydex::io {

namespace {

// Reads a text from its begin on; what does not fit leaves it without a value.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  bool is_at_end() const { return text_.empty(); }
  bool accept(char wanted) {
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }
  // A number of so many digits, up to `most`.
  std::optional<int> number(int digits, int most) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      const std::optional<int> next = digit();
      if (!next) return std::nullopt;
      value = 10 * value + *next;
    }
    return value <= most ? std::optional(value) : std::nullopt;
  }
  // Up to nine digits behind a point, as nanoseconds.
  std::optional<std::int64_t> fraction() {
    std::int64_t value = 0;
    int count = 0;
    for (std::optional<int> next = digit(); next; next = digit(), ++count)
      if (count < 9) value = 10 * value + *next;
    if (count == 0 || count > 9) return std::nullopt;
    for (; count < 9; ++count)
      value *= 10;
    return value;
  }

 private:
  std::optional<int> digit() {
    if (text_.empty() || text_[0] < '0' || text_[0] > '9') return std::nullopt;
    const int value = text_[0] - '0';
    text_.remove_prefix(1);
    return value;
  }

  std::string_view text_;
};

std::optional<std::int64_t> days(reader& from) {
  const auto year = from.number(4, 9999);
  const auto month = year && from.accept('-') ? from.number(2, 12) : std::nullopt;
  const auto day = month && from.accept('-') ? from.number(2, 31) : std::nullopt;
  if (!day) return std::nullopt;
  const auto date = std::chrono::year(*year) / *month / *day;
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

// Nanoseconds of a day.
std::optional<std::int64_t> time_of_day(reader& from) {
  const auto hours = from.number(2, 23);
  const auto minutes = hours && from.accept(':') ? from.number(2, 59) : std::nullopt;
  if (!minutes) return std::nullopt;
  std::optional<int> seconds = 0;
  std::optional<std::int64_t> fraction = 0;
  if (from.accept(':')) {
    seconds = from.number(2, 59);
    if (from.accept('.')) fraction = from.fraction();
  }
  if (!seconds || !fraction) return std::nullopt;
  return ((*hours * 60 + *minutes) * 60 + *seconds) * std::int64_t{1'000'000'000} + *fraction;
}

// Minutes that a zone is ahead.
std::optional<int> zone(reader& from) {
  if (from.accept('Z')) return 0;
  const bool is_behind = from.accept('-');
  if (!is_behind && !from.accept('+')) return std::nullopt;
  const auto hours = from.number(2, 23);
  if (!hours) return std::nullopt;
  from.accept(':');
  const auto minutes = from.number(2, 59);
  if (!minutes) return std::nullopt;
  const int ahead = *hours * 60 + *minutes;
  return is_behind ? -ahead : ahead;
}

}  // namespace

std::optional<iso_time> parse_iso_time(std::string_view text) {
  reader from(text);
  const auto day = days(from);
  if (!day) return std::nullopt;
  std::int64_t of_day = 0;
  bool has_zone = false;
  std::int64_t minutes = *day * 24 * 60;
  if (from.accept('T') || from.accept(' ')) {
    const auto time = time_of_day(from);
    if (!time) return std::nullopt;
    of_day = *time;
    has_zone = !from.is_at_end();
    if (has_zone) {
      const auto ahead = zone(from);
      if (!ahead) return std::nullopt;
      minutes -= *ahead;
    }
  }
  if (!from.is_at_end()) return std::nullopt;
  constexpr std::int64_t second = 1'000'000'000;
  std::int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(minutes * 60 + of_day / second, second, &nanoseconds) ||
      __builtin_add_overflow(nanoseconds, of_day % second, &nanoseconds))
    return iso_time{std::nullopt, has_zone};
  return iso_time{nanoseconds, has_zone};
}

}  // namespace raydex::io
