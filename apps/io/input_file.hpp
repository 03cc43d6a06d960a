// SPDX-License-Identifier: Apache-2.0
// Files to read from.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace raydex::io {

// A regular file, opened.
struct input_file {
  std::ifstream stream;
  std::uint64_t size;  // bytes
};

// Throws `invalid_argument` with the file's name and the system's reason.
input_file open_input(const std::string& path);

}  // namespace raydex::io
