// SPDX-License-Identifier: Apache-2.0
// Columns by the names that a command line gives them: `K.npy`, `t.csv:column`, `t.csv:column:i8`,
// `t.parquet:column`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/csv.hpp"
#include "io/host_column.hpp"
#include "io/input_file.hpp"
#include "io/npy.hpp"

namespace raydex::io {

// Whether a name is that of a column of a table: of a CSV file, or of one that pyarrow reads.
bool names_column(std::string_view name);

// The name of a column of a table, or of two for ranges, with this type.
std::string with_type(const std::string& name, key_format type);

// The file of such a name.
std::string path_of(const std::string& name);
// The column of a table that a name says, without its type.
std::string column_of(const std::string& name);
// Whether a name leaves it to a table what type its column has.
bool finds_type(const std::string& name);

// The names in a list, separated by commas. Behind a column of a table, what is neither that nor
// ends in .npy is a further column of that table: `t.csv:a,b:int64` names `t.csv:a` and
// `t.csv:b:int64`. Throws `invalid_argument`, which names the option, if one is empty.
std::vector<std::string> split_list(std::string_view option, const std::string& list);

// Columns that are read together: a table is read once, however many of its columns are wanted.
// All calls throw `invalid_argument` with one line that names the file.
class column_reading {
 public:
  // Has a column read.
  void add(const std::string& name, host_column& to);
  // Has ranges read: an n x 2 array of lower and upper ends, or two columns of a table,
  // `t.csv:lower,upper`.
  void add(const std::string& name, host_ranges& to);
  // Has a column of a key read, which may be of strings: `t.csv:column:string`, or without a type
  // where a text is longer than 8 bytes.
  void add(const std::string& name, host_key_part& to);
  // Has a column of a table read as it is written into CSV: fields of CSV as they stand, numbers of
  // other tables as numbers, and all else as texts.
  void add_texts(const std::string& name, host_key_part& to);
  // Reads what was added; before it, `to` holds nothing yet.
  void read();

 private:
  struct table_column {
    csv_column column;
    std::variant<host_column*, host_key_part*> to;
  };
  std::map<std::string, std::vector<table_column>> tables_;  // by path
  std::vector<std::pair<std::string, const host_ranges*>> ranges_;
};

// Reads one column.
host_column read_column(const std::string& name);

// Hands out ranges batch by batch: of an n x 2 array in a file only one batch at a time is in
// memory. Throws as `column_reading`.
class range_reader {
 public:
  // Of a file.
  explicit range_reader(const std::string& name);
  // Of what was read.
  explicit range_reader(host_ranges read);
  range_reader(const range_reader&) = delete;
  range_reader& operator=(const range_reader&) = delete;

  // The format of the ends.
  key_format format() const noexcept { return format_; }
  time_kind times() const noexcept { return times_; }
  // How many ranges there are.
  std::uint64_t size() const noexcept { return size_; }
  // The next ranges. `count` is a multiple of 8 unless none follow.
  host_ranges next(std::uint64_t count);

 private:
  key_format format_;
  time_kind times_ = time_kind::none;
  std::uint64_t size_ = 0;
  std::uint64_t done_ = 0;
  std::optional<input_file> file_;
  std::optional<npy_reader> array_;  // in the file
  host_ranges columns_;              // if there is no file
};

}  // namespace raydex::io
