// SPDX-License-Identifier: Apache-2.0
// Columns that are compared, made alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/host_column.hpp"

namespace raydex::cli {

// A column and where it comes from, for messages.
struct named_part {
  const char* role;  // as `build keys`
  const std::string& name;
  io::host_key_part& part;
};

// Gives two columns one format where that changes no answer: texts the width of the longer ones, or
// both become strings; a column of a CSV file without any value takes the other's type, and of two
// columns of numbers whose types were found, integers beside fractions become double if all are
// exact. Throws `invalid_argument` where they still differ.
void make_alike(const named_part& one, const named_part& other);

// Texts of up to 8 bytes as ones of so many, not fewer.
io::host_column widened(const io::host_column& texts, std::uint8_t width);

// Makes texts strings, and of a column of a CSV file without any value some. Throws
// `invalid_argument` for numbers and times; `why` says what is of strings.
void make_strings(const named_part& one, const char* why);

// Refuses columns of one table, `build` or another, that have not as many rows.
void check_same_rows(const char* table, const std::vector<std::string>& names,
                     const std::vector<std::uint64_t>& rows);

}  // namespace raydex::cli
