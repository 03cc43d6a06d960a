// SPDX-License-Identifier: Apache-2.0
// Columns by the names that a command line gives them: `K.npy`, `t.csv:column`, `t.csv:column:i8`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "files/host_column.hpp"
#include "files/input_file.hpp"
#include "files/npy.hpp"

namespace raydex::io {

// Whether a name is that of a CSV column.
bool is_csv(std::string_view name);

// The file of such a name.
std::string path_of(const std::string& name);

// Reads a column. Throws `invalid_argument` with one line that names the file.
host_column read_column(const std::string& name);

// Reads ranges batch by batch: from an n x 2 array of lower and upper ends, of which only one batch
// at a time is in memory, or from two columns of a CSV file, `t.csv:lower,upper`. Throws as
// `read_column`.
class range_reader {
 public:
  explicit range_reader(const std::string& name);
  range_reader(const range_reader&) = delete;
  range_reader& operator=(const range_reader&) = delete;

  // The format of the ends.
  key_format format() const noexcept { return format_; }
  // How many ranges there are.
  std::uint64_t size() const noexcept { return size_; }
  // The next ranges. `count` is a multiple of 8 unless none follow.
  host_ranges next(std::uint64_t count);

 private:
  key_format format_;
  std::uint64_t size_ = 0;
  std::uint64_t done_ = 0;
  std::optional<input_file> file_;
  std::optional<npy_reader> array_;  // in the file
  host_ranges columns_;              // of a CSV file
};

// Reads all ranges.
host_ranges read_ranges(const std::string& name);

}  // namespace raydex::io
