// SPDX-License-Identifier: Apache-2.0
// Arrays in .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "io/input_file.hpp"
#include "io/quoted.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

// What a file is that begins so, and what to do with it.
std::string_view other_kind(std::string_view begin) {
  if (begin.starts_with("PK")) {
    return " but an archive, as .npz files are; save one array: numpy.save(file, archive['name'])";
  }
  if (begin.starts_with("PAR1") || begin.starts_with("ARROW1")) {
    return " but a table of Parquet or Arrow; write its columns as .npy or CSV, in pandas: "
           "table['name'].to_csv('file.csv', index=False)";
  }
  if (begin.starts_with("\x1f\x8b")) return " but compressed by gzip; decompress it: gunzip";
  return "; raydex reads .npy files, and columns of CSV files named so: file.csv:column";
}

}  // namespace

npy_reader::npy_reader(std::istream& stream, std::uint64_t size, std::string name)
    : stream_(stream), left_(size), name_(std::move(name)) {
  header_ = parse_npy_header(dictionary(), name_);
  if (header_.fortran_order && header_.shape.size() > 1) {
    fail("it is in Fortran order; C order is read (in NumPy: numpy.ascontiguousarray)");
  }
  bytes_ = bytes_of_cells();
  if (bytes_ > left_) {
    fail(fmt::format("it is truncated: {} bytes of cells expected, {} found", bytes_, left_));
  }
  if (bytes_ < left_) {
    fail(fmt::format("{} bytes follow the {} bytes of its cells", left_ - bytes_, bytes_));
  }
}

std::shared_ptr<const std::byte> npy_reader::read(std::uint64_t bytes) {
  std::shared_ptr<std::byte[]> cells = std::make_unique_for_overwrite<std::byte[]>(bytes);
  take(cells.get(), bytes);
  return {cells, cells.get()};
}

void npy_reader::fail(const std::string& problem) const {
  throw invalid_argument(fmt::format("{}: {}", name_, problem));
}

void npy_reader::take(void* to, std::uint64_t count) {
  if (count > left_ || !read_bytes(stream_, name_, to, count)) fail("it is truncated");
  left_ -= count;
}

// A little-endian number.
std::uint64_t npy_reader::number(std::size_t width) {
  std::array<unsigned char, 4> raw{};
  take(raw.data(), width);
  return raw[0] | std::uint64_t{raw[1]} << 8 | std::uint64_t{raw[2]} << 16 |
         std::uint64_t{raw[3]} << 24;
}

std::string npy_reader::dictionary() {
  std::string magic(npy_magic.size(), '\0');
  magic.resize(std::min<std::uint64_t>(left_, magic.size()));
  take(magic.data(), magic.size());
  if (magic != npy_magic) fail(fmt::format("it is not an .npy file{}", other_kind(magic)));
  const std::uint64_t major = number(1);
  const std::uint64_t minor = number(1);
  if (major < 1 || major > 3 || minor != 0) {
    fail(fmt::format("it is of .npy version {}.{}; 1.0, 2.0 and 3.0 are read", major, minor));
  }
  const std::uint64_t length = number(major == 1 ? 2 : 4);
  if (length > left_) {
    fail(fmt::format("it is truncated: a header of {} bytes expected, {} found", length, left_));
  }
  std::string text(length, '\0');
  take(text.data(), length);
  return text;
}

std::uint64_t npy_reader::bytes_of_cells() const {
  // A length of 0 makes the product 0, wherever it stands.
  for (const std::uint64_t length : header_.shape)
    if (length == 0) return 0;
  std::uint64_t product = header_.dtype.width;
  for (const std::uint64_t length : header_.shape) {
    if (product > std::numeric_limits<std::uint64_t>::max() / length) {
      fail(fmt::format("its shape {} is of more than 2^64 bytes, {} found",
                       printable(to_string(header_.shape)), left_));
    }
    product *= length;
  }
  return product;
}

npy_array read_npy(std::istream& stream, std::uint64_t size, const std::string& name) {
  npy_reader reader(stream, size, name);
  const npy_header& header = reader.header();
  return {header.dtype, header.shape, reader.read(reader.bytes())};
}

npy_array read_npy(const std::string& path) {
  input_file file = open_input(path);
  return read_npy(file.stream, file.size, path);
}

void begin_npy(output_file& file, key_format dtype, std::span<const std::uint64_t> shape) {
  const std::string preamble = npy_preamble(dtype, shape);
  file.write(std::as_bytes(std::span(preamble)));
}

void begin_npy(output_file& file, key_format dtype, std::uint64_t size) {
  begin_npy(file, dtype, std::array{size});
}

void write_npy(output_file& file, key_format dtype, std::span<const std::byte> cells) {
  begin_npy(file, dtype, cells.size() / dtype.width);
  file.write(cells);
}

}  // namespace raydex::io
