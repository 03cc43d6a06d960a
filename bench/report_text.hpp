// SPDX-License-Identifier: Apache-2.0
/// @file
/// What reports on keys and on minima are written with.
#pragma once

#include <cstdint>
#include <string>

namespace raydex::bench {

/// The figures of a line of the table.
struct table_figures {
  std::string structure;
  std::string result;
  double build_ms = 0;
  double build_ratio = 0;
  double lookup_ms = 0;
  double per_s = 0;
  double ratio = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t build_peak_bytes = 0;
  std::uint64_t wrong = 0;
  std::string workload;
};

/// The title of a table; `build_ratio` is that of the column.
std::string table_head(const char* build_ratio);
/// A line under it.
std::string table_line(const table_figures& figures);

/// A part of a whole; 0 where the whole is.
double ratio(double part, double whole);
/// The date and time, UTC.
std::string date_text();

}  // namespace raydex::bench
