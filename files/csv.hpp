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
// Without a type, a column whose present fields are all integers is of int64, one of numbers of
// float64, one without any number of bytes, as wide as its longest field; one without any field of
// int64. Throws `invalid_argument` with one line that names the file and, where it can, the line.
std::vector<host_column> read_csv(const std::string& path, std::span<const std::string> columns,
                                  std::optional<key_format> type);

// The same from a stream; messages call it `name`.
std::vector<host_column> read_csv(std::istream& stream, const std::string& name,
                                  std::span<const std::string> columns,
                                  std::optional<key_format> type);

}  // namespace raydex::io
