// SPDX-License-Identifier: Apache-2.0
// Answers as a column of an .npy or a CSV file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/output_file.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// Refuses an output whose name ends in what is not written: `.csv` is, whatever its case, and
// `binary`, which is `.npy` or `.npz`. A name without an ending is binary.
void check_ending(const std::string& path, std::string_view binary);

// Whether answers go to a path as CSV: its name ends in .csv, or it is `-`, standard output. All
// else is .npy, or .npz.
bool is_csv_output(std::string_view path);

// Writes a column of numbers in parts. In CSV its name is the first line; numbers are as short as
// what is read back as the same number, and `none`, where it is given, is an empty field. Nothing
// is written before there are cells, if only none at all.
class column_writer {
 public:
  column_writer(output_file& file, std::string_view name, key_format cell, std::uint64_t size,
                std::optional<std::uint64_t> none = std::nullopt);

  // Appends cells. `counts`, where they are given: of how many values each cell is made; in CSV one
  // of none is an empty field.
  void write(std::span<const std::byte> cells, std::span<const std::uint64_t> counts = {});

 private:
  void begin();

  output_file& file_;
  std::string name_;
  key_format cell_;
  std::uint64_t size_;
  std::optional<std::uint64_t> none_;
  bool is_csv_;
  bool has_begun_ = false;
};

// Writes the rows that probes match as two columns of a CSV file, `probe,row`: a line for each
// match, in parts.
class match_writer {
 public:
  explicit match_writer(output_file& file) : file_(file) {}

  // Appends the matches of further probes, `offsets` telling which are whose.
  void write(std::span<const std::uint64_t> offsets, key_format row,
             std::span<const std::byte> rows);

 private:
  output_file& file_;
  std::uint64_t probes_ = 0;
  bool has_begun_ = false;
};

}  // namespace raydex::io
