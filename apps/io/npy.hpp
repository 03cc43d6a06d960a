// SPDX-License-Identifier: Apache-2.0
// Arrays in .npy files, of the dtypes that columns have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.hpp"
#include "raydex/core/key.hpp"

namespace raydex::io {

// An array in C order.
struct npy_array {
  key_format dtype;
  std::vector<std::uint64_t> shape;
  std::shared_ptr<const std::byte> cells;
};

// Reads a file of versions 1.0 to 3.0. Nothing is allocated before its size was seen to fit. Throws
// `invalid_argument` with one line that names the file.
npy_array read_npy(const std::string& path);

// The same from a stream of `size` bytes; messages call it `name`.
npy_array read_npy(std::istream& stream, std::uint64_t size, const std::string& name);

// Writes what stands before the `size` cells of an array of one dimension, which are to follow.
void begin_npy(output_file& file, key_format dtype, std::uint64_t size);

// Writes `cells` as an array of one dimension.
void write_npy(output_file& file, key_format dtype, std::span<const std::byte> cells);

}  // namespace raydex::io
