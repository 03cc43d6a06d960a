// SPDX-License-Identifier: Apache-2.0
// Which tables files are, by their names.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <string_view>

namespace raydex::io {

enum class table_format : std::uint8_t {
  none,
  csv,
  compressed_csv,  // read by pyarrow
  arrow            // of Parquet or Arrow, likewise
};

// The format of a file by what its name ends in, whatever its case.
inline table_format table_format_of(std::string_view path) {
  const auto is = [&](std::string_view ending) {
    return path.size() >= ending.size() &&
           std::ranges::equal(path.substr(path.size() - ending.size()), ending, std::equal_to(),
                              [](unsigned char c) { return std::tolower(c); });
  };
  if (is(".csv")) return table_format::csv;
  if (is(".csv.gz") || is(".csv.bz2") || is(".csv.zst") || is(".csv.lz4") || is(".csv.br"))
    return table_format::compressed_csv;
  if (is(".parquet") || is(".arrow") || is(".feather") || is(".ipc")) return table_format::arrow;
  return table_format::none;
}

}  // namespace raydex::io
