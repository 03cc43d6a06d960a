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
  tsv,
  bed,
  vcf,
  arrow  // of Parquet or Arrow, read by pyarrow
};

// Whether the name of a file ends so, whatever its case.
inline bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending, std::equal_to(),
                            [](unsigned char c) { return std::tolower(c); });
}

// What a name has behind the ending of its format if pyarrow decompresses the file, or nothing.
inline std::string_view compression_of(std::string_view path) {
  for (const std::string_view ending : {".gz", ".bz2", ".zst", ".lz4", ".br"})
    if (ends_in(path, ending)) return ending;
  return {};
}

// The format of a file by what its name ends in. Texts may be compressed.
inline table_format table_format_of(std::string_view path) {
  for (const std::string_view ending : {".parquet", ".arrow", ".feather", ".ipc"})
    if (ends_in(path, ending)) return table_format::arrow;
  path.remove_suffix(compression_of(path).size());
  if (ends_in(path, ".csv")) return table_format::csv;
  if (ends_in(path, ".tsv")) return table_format::tsv;
  if (ends_in(path, ".bed")) return table_format::bed;
  if (ends_in(path, ".vcf")) return table_format::vcf;
  return table_format::none;
}

}  // namespace raydex::io
