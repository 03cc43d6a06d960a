// SPDX-License-Identifier: Apache-2.0
// Columns that are compared, made alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/kept_key.hpp"
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

// What becomes of a value that lies between two values of the keys' type.
enum class between : std::uint8_t {
  missing,  // it equals no key
  lower,    // the lower one is taken
  upper,    // the upper one is taken
  refused   // there is no way to ask for it
};

// Makes a column one of the type of an index's keys, which stay as they are: texts get their width,
// nanoseconds their unit; a column of a CSV file without any value takes their type, and integers
// beside fractions become double if all are exact. Throws `invalid_argument` where it still
// differs.
void make_like_kept(const named_part& one, const std::string& path, const kept_column& keys,
                    between inexact);

// The same of strings that keys begin with, as ranges, of an index over texts of up to 8 bytes.
// Returns the upper ends.
io::host_column make_prefixes_like_kept(const named_part& one, const std::string& path,
                                        const kept_column& keys);

// Texts of up to 8 bytes as ones of so many, not fewer.
io::host_column widened(const io::host_column& texts, std::uint8_t width);

// Makes texts strings, and of a column of a CSV file without any value some. Throws
// `invalid_argument` for numbers and times; `why` says what is of strings.
void make_strings(const named_part& one, const char* why);

// Refuses columns of one table, `build` or another, that have not as many rows.
void check_same_rows(const char* table, const std::vector<std::string>& names,
                     const std::vector<std::uint64_t>& rows);

}  // namespace raydex::cli
