// SPDX-License-Identifier: Apache-2.0
// Files to read from.
#include "io/input_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "raydex/error.hpp"

namespace raydex::io {

input_file open_input(const std::string& path) {
  std::error_code failure;
  // Sizes are checked against the file's own before memory is asked for, and a pipe has none.
  if (!std::filesystem::is_regular_file(path, failure)) {
    throw invalid_argument(fmt::format("{}: cannot be read: {}", path,
                                       failure ? failure.message() : "not a regular file"));
  }
  input_file file{std::ifstream(path, std::ios::binary), 0};
  if (!file.stream) {
    throw invalid_argument(
        fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
  }
  file.size = std::filesystem::file_size(path);
  return file;
}

}  // namespace raydex::io
