// SPDX-License-Identifier: Apache-2.0
// Columns of CSV files: comma-separated, the first row holds the names, quotes as in RFC 4180.
#pragma once

#include <istream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/host_column.hpp"

namespace raydex::io {

// Reads columns in one pass over the file. Spaces around unquoted fields and blank lines are
// skipped. A field that is empty, NA, N/A, null or NULL, quoted or not, is missing.
//
// Without a given type, a column is int64 if all its present fields are integers, float64 if they
// are numbers, and bytes, as wide as its longest field, if none is a number. A column without any
// field is int64. Throws `invalid_argument` with one line that names the file and, if it can, the
// line.
std::vector<host_column> read_csv(const std::string& path, std::span<const std::string> columns,
                                  std::optional<key_format> type);

// The same from a stream; messages call it `name`.
std::vector<host_column> read_csv(std::istream& stream, const std::string& name,
                                  std::span<const std::string> columns,
                                  std::optional<key_format> type);

}  // namespace raydex::io
