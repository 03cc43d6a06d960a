// SPDX-License-Identifier: Apache-2.0
// Files to read from.
#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <string>

namespace raydex::io {

// A regular file, opened.
struct input_file {
  std::ifstream stream;
  std::uint64_t size;  // bytes
};

// Throws `invalid_argument` with the file's name and the system's reason.
input_file open_input(const std::string& path);

// Read the next line, without its end, or so many bytes, from a stream that messages call `name`.
// Return whether they were there. Throw `invalid_argument` if the system fails to read, and
// `std::bad_alloc` if memory is short.
bool read_line(std::istream& stream, const std::string& name, std::string& line);
bool read_bytes(std::istream& stream, const std::string& name, void* to, std::uint64_t count);

}  // namespace raydex::io
