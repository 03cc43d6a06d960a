// SPDX-License-Identifier: Apache-2.0
// Columns by the names that a command line gives them.
#include "io/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "io/csv.hpp"
#include "io/dtype.hpp"
#include "io/npy_header.hpp"
#include "io/pyarrow_table.hpp"
#include "io/quoted.hpp"
#include "io/table_format.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace fs = std::filesystem;

namespace {

// Where the path of a table ends and its columns begin; `npos` where that is no such name.
std::size_t end_of_table_path(std::string_view name) {
  std::size_t colon = name.find(':');
  for (; colon != name.npos; colon = name.find(':', colon + 1)) {
    const std::string_view path = name.substr(0, colon);
    if (table_format_of(path) != table_format::none) break;
  }
  return colon;
}

struct column_name {
  std::string path;
  csv_column column;
};

column_name split(const std::string& name) {
  const std::size_t colon = end_of_table_path(name);
  column_name parts{name.substr(0, colon), {name.substr(colon + 1), std::nullopt}};
  std::string& column = parts.column.name;
  const std::size_t last = column.rfind(':');
  if (last != std::string::npos) {
    const std::string_view type = std::string_view(column).substr(last + 1);
    parts.column.type = parse_type(type);
    if (type == "string") parts.column.texts = csv_texts::strings;
    if (parts.column.type || parts.column.texts == csv_texts::strings) column.resize(last);
  }
  return parts;
}

// The same of a column without strings.
column_name split_short(const std::string& name) {
  column_name parts = split(name);
  if (parts.column.texts == csv_texts::times) return parts;
  throw invalid_argument(
      fmt::format("{}: strings of any length are keys of `raydex query` and of joins by equal keys "
                  "only; here texts have up to 8 bytes: {}:{}:bytes8",
                  name, parts.path, parts.column.name));
}

// Refuses a table without a column name, and a column of what is no table.
void check_is_array(const std::string& name) {
  if (names_column(name + ":")) {
    throw invalid_argument(fmt::format("{0}: which column? name it: {0}:column", name));
  }
  std::error_code absent;
  const std::string path = name.substr(0, name.find(':'));
  if (path.size() < name.size() && !fs::exists(name, absent) && fs::exists(path, absent)) {
    throw invalid_argument(
        fmt::format("{}: columns are named of tables, whose names end in .csv, .tsv, .bed, .vcf, "
                    ".csv.gz, .parquet, .arrow or .feather; of an .npy file, which is one array, "
                    "give the path alone",
                    name));
  }
}

[[noreturn]] void wrong_shape(const std::string& name, const std::vector<std::uint64_t>& shape,
                              std::string_view wanted) {
  throw invalid_argument(
      fmt::format("{}: its shape is {}; {} is needed", name, printable(to_string(shape)), wanted));
}

host_column read_array(const std::string& name) {
  check_is_array(name);
  npy_array array = read_npy(name);
  if (array.shape.size() != 1) wrong_shape(name, array.shape, "one dimension");
  return {.format = array.dtype,
          .size = array.shape[0],
          .stride = 0,
          .cells = std::move(array.cells),
          .validity = {}};
}

// Hands over a column that is known to be of this kind.
template <class Column>
void give(host_key_part read, Column& to) {
  to = std::move(std::get<Column>(read));
}
void give(host_key_part read, host_key_part& to) {
  to = std::move(read);
}

// Rows of a column, which shares its cells with them.
host_column slice(const host_column& all, std::uint64_t begin, std::uint64_t count) {
  host_column part = all;
  part.size = count;
  part.cells = {all.cells, all.cells.get() + begin * all.view().step()};
  if (!all.validity.empty()) {
    const auto first = all.validity.begin() + static_cast<std::ptrdiff_t>(begin / 8);
    part.validity.assign(first, first + static_cast<std::ptrdiff_t>((count + 7) / 8));
  }
  return part;
}

}  // namespace

bool names_column(std::string_view name) {
  return end_of_table_path(name) != std::string_view::npos;
}

std::string with_type(const std::string& name, key_format type) {
  const column_name parts = split(name);
  return fmt::format("{}:{}:{}", parts.path, parts.column.name, to_string(type));
}

std::string path_of(const std::string& name) {
  return names_column(name) ? split(name).path : name;
}

std::string column_of(const std::string& name) {
  return split(name).column.name;
}

bool finds_type(const std::string& name) {
  if (!names_column(name)) return false;
  const csv_column column = split(name).column;
  return !column.type && column.texts == csv_texts::times;
}

std::vector<std::string> split_list(std::string_view option, const std::string& list) {
  std::vector<std::string> names;
  std::string table;  // the CSV file of the last one
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) {
      throw invalid_argument(
          fmt::format("{} {}: a name in the list is empty; names are separated by single commas",
                      option, list));
    }
    if (names_column(item)) {
      table = path_of(item);
    } else if (item.ends_with(".npy")) {
      table.clear();
    }
    names.push_back(names_column(item) || table.empty() ? item : fmt::format("{}:{}", table, item));
  }
  return names;
}

void column_reading::add(const std::string& name, host_column& to) {
  if (names_column(name)) {
    const column_name parts = split_short(name);
    tables_[parts.path].push_back({parts.column, &to});
  } else {
    to = read_array(name);
  }
}

void column_reading::add(const std::string& name, host_ranges& to) {
  if (!names_column(name)) {
    range_reader reader(name);
    to = reader.next(reader.size());
    return;
  }
  column_name parts = split_short(name);
  csv_column upper = parts.column;
  const std::size_t comma = upper.name.find(',');
  if (comma == std::string::npos) {
    throw invalid_argument(
        fmt::format("{}: ranges have two columns: {}:lower,upper", name, parts.path));
  }
  parts.column.name.resize(comma);
  upper.name.erase(0, comma + 1);
  std::vector<table_column>& table = tables_[parts.path];
  table.push_back({parts.column, &to.lower});
  table.push_back({upper, &to.upper});
  ranges_.emplace_back(name, &to);
}

void column_reading::add(const std::string& name, host_key_part& to) {
  if (names_column(name)) {
    column_name parts = split(name);
    if (finds_type(name)) parts.column.texts = csv_texts::any_length;
    tables_[parts.path].push_back({parts.column, &to});
  } else {
    to = read_array(name);
  }
}

void column_reading::add_texts(const std::string& name, host_key_part& to) {
  const column_name parts = split(name);
  tables_[parts.path].push_back({{parts.column.name, std::nullopt, csv_texts::verbatim}, &to});
}

void column_reading::read() {
  for (auto& [path, wanted] : tables_) {
    std::vector<csv_column> columns;
    for (const table_column& one : wanted)
      columns.push_back(one.column);
    const bool is_by_pyarrow =
        table_format_of(path) == table_format::arrow || !compression_of(path).empty();
    std::vector<host_key_part> read =
        is_by_pyarrow ? read_by_pyarrow(path, columns) : read_csv(path, columns);
    for (std::size_t i = 0; i < read.size(); ++i)
      std::visit([&](auto* to) { give(std::move(read[i]), *to); }, wanted[i].to);
  }
  for (const auto& [name, read] : ranges_) {
    const std::string lower = type_name(read->lower.format, read->lower.times);
    const std::string upper = type_name(read->upper.format, read->upper.times);
    if (lower == upper) continue;
    throw invalid_argument(
        fmt::format("{0}: the lower ends are {1} and the upper ends are {2}; name one type for "
                    "both: {0}:int64",
                    name, lower, upper));
  }
}

host_column read_column(const std::string& name) {
  host_column column;
  column_reading reading;
  reading.add(name, column);
  reading.read();
  return column;
}

range_reader::range_reader(host_ranges read)
    : format_(read.lower.format),
      times_(read.lower.times),
      size_(read.lower.size),
      columns_(std::move(read)) {}

range_reader::range_reader(const std::string& name) {
  check_is_array(name);
  file_ = open_input(name);
  array_.emplace(file_->stream, file_->size, name);
  const npy_header& header = array_->header();
  if (header.shape.size() != 2 || header.shape[1] != 2) {
    wrong_shape(name, header.shape, "n x 2, lower and upper ends,");
  }
  format_ = header.dtype;
  size_ = header.shape[0];
}

host_ranges range_reader::next(std::uint64_t count) {
  const std::uint64_t begin = done_;
  done_ += count;
  if (!array_) return {slice(columns_.lower, begin, count), slice(columns_.upper, begin, count)};
  const std::uint64_t width = format_.width;
  host_column lower{.format = format_,
                    .size = count,
                    .stride = 2 * width,
                    .cells = array_->read(2 * width * count),
                    .validity = {}};
  host_column upper = lower;
  upper.cells = {lower.cells, lower.cells.get() + (count != 0 ? width : 0)};
  return {std::move(lower), std::move(upper)};
}

}  // namespace raydex::io
