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

#include "io/npy_header.hpp"
#include "io/output_file.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::io {

// An array in C order.
struct npy_array {
  key_format dtype;
  std::vector<std::uint64_t> shape;
  std::shared_ptr<const std::byte> cells;
};

// Reads an array of versions 1.0 to 3.0 piece by piece. Throws as `read_npy`.
class npy_reader {
 public:
  // Reads what precedes the cells in a stream of `size` bytes, and checks that the cells fill the
  // rest. The stream must outlive the reader; messages call it `name`.
  npy_reader(std::istream& stream, std::uint64_t size, std::string name);

  // What the cells are.
  const npy_header& header() const noexcept { return header_; }
  // The bytes of all cells.
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Reads the next bytes of the cells.
  std::shared_ptr<const std::byte> read(std::uint64_t bytes);

 private:
  [[noreturn]] void fail(const std::string& problem) const;
  void take(void* to, std::uint64_t count);
  std::uint64_t number(std::size_t width);
  std::string dictionary();
  std::uint64_t bytes_of_cells() const;

  std::istream& stream_;
  std::uint64_t left_;  // bytes
  std::string name_;
  npy_header header_;
  std::uint64_t bytes_ = 0;
};

// Reads a file of versions 1.0 to 3.0. Checks the file's size before it allocates anything. Throws
// `invalid_argument` with one line that names the file.
npy_array read_npy(const std::string& path);

// The same from a stream of `size` bytes; messages call it `name`.
npy_array read_npy(std::istream& stream, std::uint64_t size, const std::string& name);

// Writes what precedes the cells of an array in C order; the cells must follow.
void begin_npy(output_file& file, key_format dtype, std::span<const std::uint64_t> shape);
// The same for `size` cells in one dimension.
void begin_npy(output_file& file, key_format dtype, std::uint64_t size);

// Writes `cells` as an array of one dimension.
void write_npy(output_file& file, key_format dtype, std::span<const std::byte> cells);

}  // namespace raydex::io
