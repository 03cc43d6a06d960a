// SPDX-License-Identifier: Apache-2.0
// The rows of a join as an .npy or a CSV file, written in parts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/csv_lines.hpp"
#include "io/host_column.hpp"
#include "io/output_file.hpp"

namespace raydex::io {

// Writes row numbers: as .npy an n x 2 array of probe and build rows, as CSV the columns
// `probe,build`, where no row is an empty field; or without build rows one column. As CSV also
// distances of these rows, if there are any.
class row_number_writer {
 public:
  // `size`: how many rows the join has. `pairs`: whether they have build rows.
  // `distance`: the format of distances, of 8 bytes.
  row_number_writer(output_file& file, std::uint64_t size, bool pairs,
                    std::optional<key_format> distance = std::nullopt);

  // Appends rows; `not_found<std::uint64_t>` is no row.
  void write(std::span<const std::uint64_t> probe_rows, std::span<const std::uint64_t> build_rows,
             std::span<const std::uint64_t> distances = {});

 private:
  output_file& file_;
  bool pairs_;
  bool is_csv_;
  std::optional<key_format> distance_;
};

// A column of one table of a join, and its name in the output.
struct output_column {
  std::string name;
  bool of_build;  // whether of the build table, or of the probe table
  host_key_part cells;
};

// Writes what stands in the rows as CSV: texts as they are, numbers as `column_writer` does, and
// nothing where there is no row or no value. The first line has the names.
class joined_row_writer {
 public:
  // The columns must outlive it.
  joined_row_writer(output_file& file, std::span<const output_column> columns);

  // Appends rows; `not_found<std::uint64_t>` is no row.
  void write(std::span<const std::uint64_t> probe_rows, std::span<const std::uint64_t> build_rows);

 private:
  output_file& file_;
  std::span<const output_column> columns_;
};

}  // namespace raydex::io
