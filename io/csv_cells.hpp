// SPDX-License-Identifier: Apache-2.0
// The cells of a column, made from the texts of a CSV file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv.hpp"
#include "io/host_column.hpp"

namespace raydex::io {

// What is wrong with a text of more bytes than its column has room for.
std::string too_long(std::size_t bytes, std::size_t most);

// Takes the fields of some successive rows one by one, and finds their type on the way if none is
// given. A cell takes 8 bytes until `join`, whatever its type, and a missing one twice that; texts
// that may become strings are held beside.
class csv_cells {
 public:
  // Messages name the file and the column; both must outlive this.
  csv_cells(const std::string& file, const csv_column& column) : file_(&file), column_(&column) {}

  // Adds the text of a field. Throws `invalid_argument` if it does not fit the others.
  void add(std::string_view text, std::uint64_t line);

  // The column that parts make up, which are in the order of the file. Throws `invalid_argument` if
  // they do not fit each other. Leaves nothing behind.
  static host_key_part join(std::vector<csv_cells> parts);

 private:
  struct sighting {
    std::uint64_t line;
    std::string text;
  };

  [[noreturn]] void fail(const sighting& at, std::string_view problem) const;
  std::uint64_t typed_cell(std::string_view text, std::uint64_t line) const;
  template <class T>
  std::uint64_t number_cell(std::string_view text, std::uint64_t line) const;
  std::uint64_t text_cell(std::string_view text, std::uint64_t line, std::size_t width) const;
  std::uint64_t guessed_cell(std::string_view text, std::uint64_t line);
  std::uint64_t string_cell(std::string_view text);
  bool are_times() const;
  bool are_strings() const;
  void check_one_kind() const;
  std::optional<std::uint64_t> time_cell(std::string_view text, std::uint64_t line);
  void check_one_kind_of_texts() const;
  void turn_to_floats();
  void turn_from_strings(bool are_times);
  void learn_from(const csv_cells& later);
  host_column join_cells(std::vector<csv_cells>& parts, const std::vector<std::uint64_t>& begins,
                         std::vector<std::uint8_t> validity) const;
  static host_strings join_strings(std::vector<csv_cells>& parts,
                                   const std::vector<std::uint64_t>& begins,
                                   std::vector<std::uint8_t> validity);
  void drop_cells();
  key_format guessed_type() const;

  const std::string* file_;
  const csv_column* column_;
  std::vector<std::uint64_t> cells_;    // the first bytes hold the cell; of `bytes_`, its end there
  std::vector<std::uint64_t> missing_;  // the numbers of those that are
  std::string bytes_;                   // texts that may become strings, one after the other

  // What a column without a given type has shown so far.
  std::optional<sighting> number_;     // its first number
  std::optional<sighting> text_;       // its first text
  std::optional<sighting> too_large_;  // its first integer beyond int64
  std::optional<sighting> inexact_;    // its first integer that no double is
  std::optional<sighting> local_;      // its first time without a zone
  std::optional<sighting> zoned_;      // its first time with one
  std::optional<sighting> no_time_;    // its first text that is no time
  bool floats_ = false;                // whether its cells are doubles
  bool fractions_ = false;             // whether some number was not an integer
  std::size_t longest_ = 1;  // bytes of its longest text, more than fit if one ends in NUL
};

}  // namespace raydex::io
