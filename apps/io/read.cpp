// SPDX-License-Identifier: Apache-2.0
// Columns by the names that a command line gives them.
#include "io/read.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "io/csv.hpp"
#include "io/dtype.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

constexpr std::string_view csv_mark = ".csv:";

struct csv_name {
  std::string path;
  std::string column;
  std::optional<key_format> type;
};

csv_name split(const std::string& name) {
  const std::size_t colon = name.find(csv_mark) + csv_mark.size() - 1;
  csv_name parts{name.substr(0, colon), name.substr(colon + 1), std::nullopt};
  const std::size_t last = parts.column.rfind(':');
  if (last != std::string::npos) {
    parts.type = parse_type(std::string_view(parts.column).substr(last + 1));
    if (parts.type) parts.column.resize(last);
  }
  return parts;
}

npy_array read_array(const std::string& name) {
  if (name.ends_with(".csv")) {
    throw invalid_argument(fmt::format("{0}: which column? name it: {0}:column", name));
  }
  return read_npy(name);
}

[[noreturn]] void wrong_shape(const std::string& name, const npy_array& array,
                              std::string_view wanted) {
  throw invalid_argument(
      fmt::format("{}: its shape is {}; {} is needed", name, to_string(array.shape), wanted));
}

}  // namespace

bool is_csv(std::string_view name) {
  return name.find(csv_mark) != std::string_view::npos;
}

host_column read_column(const std::string& name) {
  if (is_csv(name)) {
    const csv_name parts = split(name);
    return std::move(read_csv(parts.path, std::array{parts.column}, parts.type).front());
  }
  npy_array array = read_array(name);
  if (array.shape.size() != 1) wrong_shape(name, array, "one dimension");
  return {.format = array.dtype,
          .size = array.shape[0],
          .stride = 0,
          .cells = std::move(array.cells),
          .validity = {}};
}

host_ranges read_ranges(const std::string& name) {
  if (is_csv(name)) {
    const csv_name parts = split(name);
    const std::size_t comma = parts.column.find(',');
    if (comma == std::string::npos) {
      throw invalid_argument(
          fmt::format("{}: ranges have two columns: {}:lower,upper", name, parts.path));
    }
    const std::array ends{parts.column.substr(0, comma), parts.column.substr(comma + 1)};
    std::vector<host_column> columns = read_csv(parts.path, ends, parts.type);
    if (columns[0].format != columns[1].format) {
      throw invalid_argument(fmt::format("{}: {} is {} and {} is {}; name one type for both: {}:i8",
                                         name, ends[0], dtype_name(columns[0].format), ends[1],
                                         dtype_name(columns[1].format), name));
    }
    return {std::move(columns[0]), std::move(columns[1])};
  }
  const npy_array array = read_array(name);
  if (array.shape.size() != 2 || array.shape[1] != 2) {
    wrong_shape(name, array, "n x 2, lower and upper ends,");
  }
  const std::uint64_t width = array.dtype.width;
  host_column lower{.format = array.dtype,
                    .size = array.shape[0],
                    .stride = 2 * width,
                    .cells = array.cells,
                    .validity = {}};
  host_column upper = lower;
  upper.cells = {array.cells, array.cells.get() + (upper.size != 0 ? width : 0)};
  return {std::move(lower), std::move(upper)};
}

}  // namespace raydex::io
