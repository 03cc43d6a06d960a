// SPDX-License-Identifier: Apache-2.0
// Columns of tables that pyarrow reads: Parquet, Arrow, and compressed CSV.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv.hpp"
#include "io/host_column.hpp"

namespace raydex::io {

// Reads columns by a process of Python, RAYDEX_PYTHON or else python3, which hands them over in a
// temporary file. Of a compressed CSV file they are what `read_csv` makes of it; else, without a
// given type, integers and booleans are int64, or uint64 where one is beyond it, floats double, and
// times their nanoseconds. Throws `invalid_argument` for a table that is at fault, `unavailable`
// where Python or pyarrow is missing, with one line that names the file.
std::vector<host_key_part> read_by_pyarrow(const std::string& path,
                                           std::span<const csv_column> columns);

// Columns of a stream in Arrow's IPC format on standard input, which such a process reads batch by
// batch. Throws as `read_by_pyarrow`.
class arrow_input {
 public:
  // `begin`: what was read of standard input already. Messages call it `name`. Columns whose names
  // are empty are all that there are.
  arrow_input(std::string_view begin, std::string name, std::vector<csv_column> columns);
  arrow_input(const arrow_input&) = delete;
  arrow_input& operator=(const arrow_input&) = delete;
  ~arrow_input();

  // The columns of the next batch, which may have no rows; waits for it. Nothing at the end.
  std::vector<host_key_part> next();

 private:
  std::string name_;
  std::vector<csv_column> columns_;
  pid_t process_ = 0;
  std::ifstream stream_;
};

// A column that is written: of numbers, where `none` is a missing one.
struct arrow_field {
  std::string name;
  key_format format;
  std::optional<std::uint64_t> none;
};

// Columns as a stream in Arrow's IPC format on standard output, written by such a process.
class arrow_output {
 public:
  explicit arrow_output(std::span<const arrow_field> fields);
  arrow_output(const arrow_output&) = delete;
  arrow_output& operator=(const arrow_output&) = delete;
  ~arrow_output();

  // Writes a batch at once: the cells of each column.
  void write(std::uint64_t rows, std::span<const std::span<const std::byte>> columns);
  // Ends the stream. Throws `error` if it could not be written.
  void finish();

 private:
  void send(std::span<const std::byte> bytes);

  int to_ = -1;
  pid_t process_ = 0;
};

}  // namespace raydex::io
