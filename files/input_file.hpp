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

// Read from a stream that messages call `name`: its next line, without the end, or as many bytes.
// Return whether they were there. Throw `invalid_argument` where the system fails to read, and
// `std::bad_alloc` where memory is short.
bool read_line(std::istream& stream, const std::string& name, std::string& line);
bool read_bytes(std::istream& stream, const std::string& name, void* to, std::uint64_t count);

}  // namespace raydex::io
