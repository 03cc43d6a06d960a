// SPDX-License-Identifier: Apache-2.0
// Arrays in .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "io/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "io/input_file.hpp"
#include "io/npy_header.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

class npy_reader {
 public:
  npy_reader(std::istream& stream, std::uint64_t size, const std::string& name)
      : stream_(stream), left_(size), name_(name) {}

  npy_array read() {
    const npy_header header = parse_npy_header(dictionary(), name_);
    if (header.fortran_order && header.shape.size() > 1) {
      fail("it is in Fortran order; C order is read (in NumPy: numpy.ascontiguousarray)");
    }
    const std::uint64_t expected = bytes(header);
    if (expected > left_) {
      fail(fmt::format("it is truncated: {} bytes of cells expected, {} found", expected, left_));
    }
    if (expected < left_) {
      fail(fmt::format("{} bytes follow the {} bytes of its cells", left_ - expected, expected));
    }
    std::shared_ptr<std::byte[]> cells = std::make_unique_for_overwrite<std::byte[]>(expected);
    take(cells.get(), expected);
    return {header.dtype, header.shape, {cells, cells.get()}};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw invalid_argument(fmt::format("{}: {}", name_, what));
  }

  void take(void* to, std::uint64_t count) {
    if (count > left_ || !stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(count)))
      fail("it is truncated: it ends before its cells begin");
    left_ -= count;
  }

  // A little-endian number.
  std::uint64_t number(std::size_t width) {
    std::array<unsigned char, 4> raw{};
    take(raw.data(), width);
    return raw[0] | std::uint64_t{raw[1]} << 8 | std::uint64_t{raw[2]} << 16 |
           std::uint64_t{raw[3]} << 24;
  }

  std::string dictionary() {
    std::string magic(npy_magic.size(), '\0');
    if (left_ < magic.size()) fail("it is not an .npy file: too short");
    take(magic.data(), magic.size());
    if (magic != npy_magic) fail("it is not an .npy file: it does not begin with \\x93NUMPY");
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

  // Bytes of all cells.
  std::uint64_t bytes(const npy_header& header) const {
    // A length of 0 makes the product 0, wherever it stands.
    for (const std::uint64_t length : header.shape)
      if (length == 0) return 0;
    std::uint64_t product = header.dtype.width;
    for (const std::uint64_t length : header.shape) {
      if (product > std::numeric_limits<std::uint64_t>::max() / length) {
        fail(fmt::format("its shape {} is of more than 2^64 bytes, {} found",
                         to_string(header.shape), left_));
      }
      product *= length;
    }
    return product;
  }

  std::istream& stream_;
  std::uint64_t left_;
  const std::string& name_;
};

}  // namespace

npy_array read_npy(std::istream& stream, std::uint64_t size, const std::string& name) {
  return npy_reader(stream, size, name).read();
}

npy_array read_npy(const std::string& path) {
  input_file file = open_input(path);
  return read_npy(file.stream, file.size, path);
}

void begin_npy(output_file& file, key_format dtype, std::uint64_t size) {
  const std::string preamble = npy_preamble(dtype, std::array{size});
  file.write(std::as_bytes(std::span(preamble)));
}

void write_npy(output_file& file, key_format dtype, std::span<const std::byte> cells) {
  begin_npy(file, dtype, cells.size() / dtype.width);
  file.write(cells);
}

}  // namespace raydex::io
