// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whole numbers as options name them and lines show them: 1000, 64Mi, or 2^26.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "io/quoted.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

/// Whether a text is a number and nothing else.
template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

/// The number that a text such as 1000, 1e6, 2^26, 64M or 16Mi stands for: k, M, G and T are powers
/// of 1000, Ki, Mi, Gi and Ti of 1024, and a B for bytes may follow. Throws `invalid_argument`
/// naming the option.
inline std::uint64_t parse_size(std::string_view option, std::string_view text) {
  struct unit {
    std::string_view name;
    std::uint64_t size;
  };
  constexpr unit units[] = {{"", 1},
                            {"k", 1000},
                            {"K", 1000},
                            {"M", 1'000'000},
                            {"G", 1'000'000'000},
                            {"T", 1'000'000'000'000},
                            {"Ki", std::uint64_t{1} << 10},
                            {"Mi", std::uint64_t{1} << 20},
                            {"Gi", std::uint64_t{1} << 30},
                            {"Ti", std::uint64_t{1} << 40}};
  std::uint64_t size = 0;
  if (parse_number(text, size)) return size;
  const char* const end_of_text = text.data() + text.size();
  int power = 0;
  if (text.substr(0, 2) == "2^" && parse_number(text.substr(2), power) && power >= 0 && power < 64)
    return std::uint64_t{1} << power;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), end_of_text, number);
  if (code == std::errc() && number >= 0) {
    std::string_view name(end, static_cast<std::size_t>(end_of_text - end));
    if (name.ends_with('B')) name.remove_suffix(1);
    for (const unit& each : units) {
      const double product = number * static_cast<double>(each.size);
      if (name == each.name && product < 0x1p64 && product == std::floor(product))
        return static_cast<std::uint64_t>(product);
    }
  }
  throw invalid_argument(
      fmt::format("{}: {} is not a whole number such as 1000, 1e6, 64M, 16Mi or 2^26", option,
                  in_quotes(text)));
}

/// What the help says of it.
inline constexpr const char* sizes_help =
    "Numbers of rows and bytes may be 1000, 1e6, 64k (M, G, T: powers of 1000), 64Ki (Mi, Gi, Ti:\n"
    "powers of 1024), also 64KiB, or 2^26.";

/// `2^k` where it is a power of two of at least 2^10, else digits.
inline std::string size_text(std::uint64_t size) {
  return size >= 1024 && std::has_single_bit(size) ? fmt::format("2^{}", std::countr_zero(size))
                                                   : fmt::format("{}", size);
}

}  // namespace raydex::io
