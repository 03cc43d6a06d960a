// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the values of an axis are read, and multiplied out.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/lookups/sweep.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {

/// Whether a text is a number and nothing else.
template <class Number>
bool parse(std::string_view text, Number& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

/// @name Reading a value. Throws `invalid_argument` naming the option.
/// @{

/// A whole number, also as a power of two.
inline void read(std::string_view option, std::string_view text, std::uint64_t& out) {
  if (text.substr(0, 2) == "2^") {
    int power = 0;
    if (parse(text.substr(2), power) && power >= 0 && power < 64) {
      out = std::uint64_t{1} << power;
      return;
    }
  } else if (parse(text, out)) {
    return;
  }
  throw invalid_argument(
      fmt::format("{}: '{}' is not a whole number such as 1000 or 2^26", option, text));
}

/// A whole number.
inline void read(std::string_view option, std::string_view text, int& out) {
  if (!parse(text, out)) {
    throw invalid_argument(fmt::format("{}: '{}' is not a whole number", option, text));
  }
}

/// A number.
inline void read(std::string_view option, std::string_view text, double& out) {
  if (!parse(text, out)) {
    throw invalid_argument(fmt::format("{}: '{}' is not a number", option, text));
  }
}

/// One of these values, by its name.
template <class Value>
void read_name(std::string_view option, std::string_view text, Value& out,
               std::initializer_list<Value> values) {
  std::string legal;
  for (const Value value : values) {
    if (text == to_string(value)) {
      out = value;
      return;
    }
    legal += legal.empty() ? "" : ", ";
    legal += to_string(value);
  }
  throw invalid_argument(fmt::format("{}: '{}' is not one of {}", option, text, legal));
}

/// A type of numbers.
inline void read(std::string_view option, std::string_view text, key_format& out) {
  read_name(option, text, out,
            {format_of<float>, format_of<double>, format_of<std::int32_t>, format_of<std::uint32_t>,
             format_of<std::int64_t>, format_of<std::uint64_t>});
}
/// @}

/// Replaces every workload by one for each value of an axis.
template <class Workload, class Value>
void multiply(std::vector<Workload>& all, const char* option, Value Workload::*axis,
              const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  std::vector<Workload> more;
  for (const Workload& base : all) {
    for (const std::string& text : texts)
      read(option, text, more.emplace_back(base).*axis);
  }
  all = std::move(more);
}

/// Throws `invalid_argument` where one of these options is given; says what it is of instead.
inline void refuse(
    const axes& given, const char* instead,
    std::initializer_list<std::pair<const char*, std::vector<std::string> axes::*>> options) {
  for (const auto& [option, axis] : options) {
    if (!(given.*axis).empty()) throw invalid_argument(fmt::format("{}: {}", option, instead));
  }
}

}  // namespace raydex::bench
