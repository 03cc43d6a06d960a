// SPDX-License-Identifier: Apache-2.0
// Columns that come on standard input while they are asked for.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv.hpp"
#include "io/host_column.hpp"
#include "io/pyarrow_table.hpp"

namespace raydex::io {

// Whether a name is that of columns on standard input: `-`, `-:column`, or of ranges
// `-:lower,upper`. /dev/stdin is `-`.
bool names_stream(std::string_view name);

// What such a name says behind the colon; nothing of `-`.
std::string columns_of_stream(std::string_view name);

// Columns of a CSV text, or of a stream in Arrow's IPC format, which its first bytes tell. All
// calls throw `invalid_argument` with one line that says what is wrong with it, and `unavailable`
// where pyarrow, which reads Arrow, is missing.
class column_stream {
 public:
  // `names`: of the columns that are wanted; none: all that there are. They are read as what `like`
  // has, a column for each of them. Waits for the first bytes.
  column_stream(const std::vector<std::string>& names, std::vector<host_key_part> like);

  bool is_arrow() const noexcept { return arrow_.has_value(); }
  // The rows that come next, at least one: of CSV those that are whole by now, of Arrow a batch.
  // Waits for them. Nothing at the end.
  std::vector<host_key_part> next();

 private:
  std::vector<host_key_part> taken(std::vector<host_key_part> read) const;

  std::unique_ptr<char[]> bytes_;  // what was read last
  std::vector<host_key_part> like_;
  std::optional<csv_pieces> csv_;
  std::optional<arrow_input> arrow_;
  std::string_view begin_;
  bool has_ended_ = false;
};

}  // namespace raydex::io
