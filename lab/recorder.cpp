// SPDX-License-Identifier: Apache-2.0
#include "lab/recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "io/output_file.hpp"
#include "lab/json_option.hpp"

namespace raydex::bench {

recorder::recorder(device_info device, std::size_t total, std::string json)
    : shown_(isatty(fileno(stderr)) != 0),
      device_(std::move(device)),
      total_(total),
      json_(std::move(json)),
      table_(json_ == standard_output ? stderr : stdout) {}

void recorder::say(std::string_view text) const {
  if (shown_) std::fputs(fmt::format("\r\x1b[K{}", text).c_str(), stderr);
}

void recorder::measuring(std::string_view text) {
  say(fmt::format("measuring {} of {}, {}", ++done_, total_, text));
}

void recorder::announce(std::string line) {
  announced_.push_back(std::move(line));
}

void recorder::print(const std::string& line) {
  say("");
  announced_.push_back(line);
  for (const std::string& next : announced_)
    std::fputs((next + '\n').c_str(), table_);
  announced_.clear();
  std::fflush(table_);
}

void recorder::add(report_row row, const std::vector<std::string>& wanted_by) {
  wrong_ += row.wrong;
  row.device = device_;
  row.date = date_text();
  print(table_line(row));
  for (const std::string& name : wanted_by) {
    row.experiment = name;
    rows_.push_back(row);
  }
  if (writes_file(json_)) io::write_text(json_, to_json(rows_));
}

void recorder::finish() const {
  if (json_ == standard_output) io::write_text(json_, to_json(rows_));
}

}  // namespace raydex::bench
