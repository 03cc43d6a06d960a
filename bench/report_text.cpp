// SPDX-License-Identifier: Apache-2.0
#include "bench/report_text.hpp"

#include <fmt/format.h>

#include <ctime>
#include <iterator>

namespace raydex::bench {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(units)) {
    amount /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", amount, amount < 10 && unit != 0 ? 2 : 0, units[unit]);
}

constexpr const char* line_format =
    "{:<16} {:<6} {:>10} {:>7} {:>10} {:>9} {:>6} {:>9} {:>9}  {:<7}  {}";

}  // namespace

std::string table_head(const char* build_ratio) {
  return fmt::format(line_format, "structure", "result", "build ms", build_ratio, "lookup ms",
                     "M/s", "ratio", "resident", "peak", "answers", "workload");
}

std::string table_line(const table_figures& figures) {
  std::string text = fmt::format(
      line_format, figures.structure, figures.result, fmt::format("{:.3f}", figures.build_ms),
      fmt::format("{:.2f}", figures.build_ratio), fmt::format("{:.3f}", figures.lookup_ms),
      fmt::format("{:.1f}", figures.per_s / 1e6), fmt::format("{:.3f}", figures.ratio),
      bytes_text(figures.resident_bytes), bytes_text(figures.build_peak_bytes),
      figures.wrong == 0 ? "correct" : "WRONG", figures.workload);
  if (figures.wrong != 0) text += fmt::format(" ({} wrong)", figures.wrong);
  return text;
}

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

std::string date_text() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[sizeof "2000-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace raydex::bench
