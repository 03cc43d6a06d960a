// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whole numbers as options name them and lines show them: 1000, or 2^26.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "raydex/error.hpp"

namespace raydex::io {

/// Whether a text is a number and nothing else.
template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

/// The number that a text such as 1000 or 2^26 stands for. Throws `invalid_argument` naming the
/// option.
inline std::uint64_t parse_size(std::string_view option, std::string_view text) {
  std::uint64_t size = 0;
  int power = 0;
  if (text.substr(0, 2) == "2^") {
    if (parse_number(text.substr(2), power) && power >= 0 && power < 64)
      return std::uint64_t{1} << power;
  } else if (parse_number(text, size)) {
    return size;
  }
  throw invalid_argument(
      fmt::format("{}: '{}' is not a whole number such as 1000 or 2^26", option, text));
}

/// `2^k` where it is a power of two of at least 2^10, else digits.
inline std::string size_text(std::uint64_t size) {
  return size >= 1024 && std::has_single_bit(size) ? fmt::format("2^{}", std::countr_zero(size))
                                                   : fmt::format("{}", size);
}

}  // namespace raydex::io
