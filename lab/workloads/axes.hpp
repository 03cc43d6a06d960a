// SPDX-License-Identifier: Apache-2.0
/// @file
/// The axes of workloads as options give them: every axis takes a list, and all combinations are
/// made.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/known_words.hpp"
#include "io/sizes.hpp"
#include "lab/workloads/names.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {

/// The values of each axis as given, of keys or of minima. Empty: the workload's default; for
/// uniformity, 0 where probes are ranges; for keys, all values of an array out of a file.
struct axes {
  std::vector<std::string> keys{}, probes{}, batches{}, key_bits{}, uniformity{}, distribution{},
      stride{}, value_bits{}, multiplicity{}, heavy_key{}, insert_order{}, probe_order{},
      hit_rate{}, miss{}, zipf{}, range_hits{}, range_lengths{}, giant_range{}, aggregate{},
      threads{}, waves{}, growth{}, array{}, array_file{}, period{}, values{}, ranges{},
      position_bits{}, changes{}, seed{};
};

/// One of the axes.
using axis = std::vector<std::string> axes::*;

/// What workloads have an axis.
enum class axis_of : std::uint8_t { all, keys, minima };

/// The option that gives an axis.
struct axis_option {
  const char* name;
  axis values;
  axis_of whose;
  const char* help;
  const char* type;  ///< of its values, for the help
};

/// The options of all axes.
std::span<const axis_option> axis_options();

/// Replaces the values of each axis that is given.
void replace(axes& all, const axes& swept);

/// Throws `invalid_argument` where an axis is given that others have alone; says what it is of.
void refuse(const axes& swept, axis_of others, const char* instead);
/// Throws `invalid_argument` where an axis is given.
void refuse(const axes& swept, axis which, const char* instead);

/// @name Reading a value. Throws `invalid_argument` naming the option.
/// @{

/// A number of rows or bytes, as `io::parse_size` reads it.
inline void read(std::string_view option, std::string_view text, std::uint64_t& out) {
  out = io::parse_size(option, text);
}

/// A whole number.
inline void read(std::string_view option, std::string_view text, int& out) {
  if (!io::parse_number(text, out)) {
    throw invalid_argument(fmt::format("{}: '{}' is not a whole number", option, text));
  }
}

/// A number.
inline void read(std::string_view option, std::string_view text, double& out) {
  if (!io::parse_number(text, out)) {
    throw invalid_argument(fmt::format("{}: '{}' is not a number", option, text));
  }
}

/// One of these values, by its name.
template <class Value>
void read_name(std::string_view option, std::string_view text, Value& out,
               const std::vector<Value>& values) {
  std::vector<std::string> legal;
  for (const Value value : values) {
    if (text == to_string(value)) {
      out = value;
      return;
    }
    legal.emplace_back(to_string(value));
  }
  io::refuse_word(option, text, legal);
}

/// A value by its name.
template <named Value>
void read(std::string_view option, std::string_view text, Value& out) {
  read_name(option, text, out, all_values<Value>());
}

/// A type of numbers.
inline void read(std::string_view option, std::string_view text, key_format& out) {
  read_name(option, text, out,
            {format_of<float>, format_of<double>, format_of<std::int32_t>, format_of<std::uint32_t>,
             format_of<std::int64_t>, format_of<std::uint64_t>});
}

/// All of a list.
template <class Value>
std::vector<Value> read_all(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<Value> all;
  for (const std::string& text : texts)
    read(option, text, all.emplace_back());
  return all;
}
/// @}

/// The option that gives an axis.
const char* option_of(axis which);

/// Replaces every workload by one for each value of an axis.
template <class Workload, class Value>
void multiply(std::vector<Workload>& all, Value Workload::*member, const axes& swept, axis which) {
  const std::vector<std::string>& texts = swept.*which;
  if (texts.empty()) return;
  std::vector<Workload> more;
  for (const Workload& base : all) {
    for (const std::string& text : texts)
      read(option_of(which), text, more.emplace_back(base).*member);
  }
  all = std::move(more);
}

}  // namespace raydex::bench
