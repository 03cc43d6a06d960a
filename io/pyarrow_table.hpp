// SPDX-License-Identifier: Apache-2.0
// Columns of tables that pyarrow reads: Parquet, Arrow, and compressed CSV.
#pragma once

#include <span>
#include <string>
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

}  // namespace raydex::io
