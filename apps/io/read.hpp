// SPDX-License-Identifier: Apache-2.0
// Columns by the names that a command line gives them: `K.npy`, `t.csv:column`, `t.csv:column:i8`.
#pragma once

#include <string>
#include <string_view>

#include "io/host_column.hpp"

namespace raydex::io {

// Whether a name is that of a CSV column.
bool is_csv(std::string_view name);

// Reads a column. Throws `invalid_argument` with one line that names the file.
host_column read_column(const std::string& name);

// Reads ranges: an n x 2 array of lower and upper ends, or two columns of a CSV file,
// `t.csv:lower,upper`.
host_ranges read_ranges(const std::string& name);

}  // namespace raydex::io
