// SPDX-License-Identifier: Apache-2.0
// Any text as a CSV file: it is read, or refused with invalid_argument. The first byte of an input
// chooses the type that the columns are read as; each is read with tabs, too, as .tsv, .bed and
// .vcf.
#include "io/csv.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

#include "io/dtype.hpp"
#include "raydex/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array types{"", "u4", "u8", "i4", "i8", "f4", "f8", "S1", "S3", "S8"};
  if (size == 0) return 0;
  const auto type = raydex::io::parse_type(types.at(data[0] % types.size()));
  using raydex::io::csv_texts;
  const std::size_t part_size = 1 + data[0] / types.size();
  const auto read = [&](raydex::io::table_format format, const char* first, const char* second) {
    const std::array<raydex::io::csv_column, 4> columns{{{first, type, csv_texts::any_length},
                                                         {first, {}, csv_texts::times},
                                                         {second, type},
                                                         {second, {}, csv_texts::verbatim}}};
    std::istringstream stream(std::string(data + 1, data + size));
    try {
      raydex::io::read_csv(stream, "t.csv", columns, format, part_size);
    } catch (const raydex::invalid_argument&) {
      return;
    }
  };
  using raydex::io::table_format;
  read(table_format::csv, "a", "b");
  read(table_format::tsv, "a", "b");
  read(table_format::bed, "chrom", "start");
  read(table_format::vcf, "CHROM", "POS");
  return 0;
}
