// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a run of `raydex bench` says while it goes on, and what it has found so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "lab/report.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {

/// Says on a terminal what is going on, in one line that goes away again; prints and keeps rows.
class recorder {
 public:
  /// So many measurements on a device are to come; the file `json`, if one is named, keeps their
  /// rows. Where it is standard output, the table goes to stderr.
  recorder(device_info device, std::size_t total, std::string json);
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  ~recorder() { say(""); }

  /// What is going on.
  void say(std::string_view text) const;
  /// The next measurement begins.
  void measuring(std::string_view text);

  /// A line above the next one that is printed; where an error comes first, there is none.
  void announce(std::string line);
  /// A line among the rows.
  void print(const std::string& line);
  /// Prints a row and keeps it, once for each experiment that wants it. The file is written anew,
  /// so that it is a whole list of what was measured, whatever comes next.
  void add(report_row row, const std::vector<std::string>& wanted_by);

  /// Ends the run: where JSON goes to standard output, this is when.
  void finish() const;

  /// Answers of all rows that were wrong.
  std::uint64_t wrong() const noexcept { return wrong_; }

 private:
  bool shown_;
  device_info device_;
  std::size_t total_;
  std::string json_;
  std::FILE* table_;
  std::vector<std::string> announced_;
  std::size_t done_ = 0;
  std::vector<report_row> rows_;
  std::uint64_t wrong_ = 0;
};

}  // namespace raydex::bench
