// SPDX-License-Identifier: Apache-2.0
// The cells of a column, made from the texts of a CSV file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/host_column.hpp"

namespace raydex::io {

// Takes a column's fields one by one, and finds its type on the way if none is given. A cell takes
// 8 bytes until `finish`, whatever its type.
class csv_cells {
 public:
  // Messages name the file and the column.
  csv_cells(std::string file, std::string column, std::optional<key_format> type);

  // Adds the text of a field. Throws `invalid_argument` if it does not fit the others.
  void add(std::string_view text, std::uint64_t line);

  // The column. Leaves nothing behind.
  host_column finish();

 private:
  struct sighting {
    std::uint64_t line;
    std::string text;
  };

  [[noreturn]] void fail(const sighting& at, std::string_view what) const;
  void add_missing();
  std::uint64_t typed_cell(std::string_view text, std::uint64_t line) const;
  template <class T>
  std::uint64_t number_cell(std::string_view text, std::uint64_t line) const;
  std::uint64_t text_cell(std::string_view text, std::uint64_t line, std::size_t width) const;
  std::uint64_t guessed_cell(std::string_view text, std::uint64_t line);
  void turn_to_floats();
  key_format guessed_type() const;

  std::string file_;
  std::string column_;
  std::optional<key_format> type_;
  std::vector<std::uint64_t> cells_;    // the first bytes hold the cell
  std::vector<std::uint8_t> validity_;  // empty while nothing is missing

  // What a column without a given type has shown so far.
  std::optional<sighting> number_;     // its first number
  std::optional<sighting> text_;       // its first text
  std::optional<sighting> too_large_;  // its first integer beyond int64
  bool floats_ = false;                // whether its cells are doubles
  bool fractions_ = false;             // whether some number was not an integer
  std::size_t longest_ = 1;            // bytes of its longest text
};

}  // namespace raydex::io
