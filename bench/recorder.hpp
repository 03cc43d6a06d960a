// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a run of `raydex bench` says while it goes on, and what it has found so far.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/output_file.hpp"

namespace raydex::bench {

/// Says on a terminal what is going on, in one line that goes away again; prints and keeps rows.
class recorder {
 public:
  /// So many measurements are to come; the file `json`, if one is named, keeps their rows.
  recorder(std::size_t total, std::string json) : total_(total), json_(std::move(json)) {}
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  ~recorder() { say(""); }

  /// What is going on.
  void say(std::string_view text) const {
    if (shown_) std::fputs(fmt::format("\r\x1b[K{}", text).c_str(), stderr);
  }
  /// The next measurement begins.
  void measuring(std::string_view text) {
    say(fmt::format("measuring {} of {}, {}", ++done_, total_, text));
  }

  /// A line for the table.
  void print(const std::string& line) const {
    say("");
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  /// Prints a row and keeps it, once for each experiment that wants it. The file is written anew,
  /// so that it is a whole list of what was measured, whatever comes next.
  template <class Row>
  void add(Row row, const std::vector<std::string>& wanted_by) {
    wrong_ += row.measured.wrong;
    for (const std::string& name : wanted_by) {
      row.experiment = name;
      rows_.push_back(to_json(row));
    }
    print(table_line(row));
    if (!json_.empty()) io::write_text(json_, rows_.dump(1) + "\n");
  }

  /// Answers of all rows that were wrong.
  std::uint64_t wrong() const noexcept { return wrong_; }

 private:
  bool shown_ = isatty(fileno(stderr)) != 0;
  std::size_t total_;
  std::string json_;
  std::size_t done_ = 0;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  std::uint64_t wrong_ = 0;
};

}  // namespace raydex::bench
