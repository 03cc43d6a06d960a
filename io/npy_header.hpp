// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: a Python dictionary that describes the array.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// What the first bytes of an .npy file are.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

// An array's description.
struct npy_header {
  key_format dtype;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Reads the dictionary of the file called `name`. Throws `invalid_argument` if the text is no
// dictionary, or if its dtype is not that of a column.
npy_header parse_npy_header(std::string_view dictionary, const std::string& name);

// Everything before the cells of an array in C order: magic, version, length, dictionary.
std::string npy_preamble(key_format dtype, std::span<const std::uint64_t> shape);

// A shape as Python writes it: `(3,)`, `(3, 2)`.
std::string to_string(std::span<const std::uint64_t> shape);

}  // namespace raydex::io
