// SPDX-License-Identifier: Apache-2.0
// Files to read from.
#include "io/input_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "raydex/error.hpp"

namespace raydex::io {

namespace {

template <class Work>
bool read(std::istream& stream, const std::string& name, Work&& work) {
  // Without this, a shortage of memory would look like a failure to read.
  stream.exceptions(std::ios::badbit);
  try {
    work();
  } catch (const std::ios_base::failure&) {
    throw invalid_argument(fmt::format("{}: cannot be read to its end", name));
  }
  return !stream.fail();
}

}  // namespace

input_file open_input(const std::string& path) {
  if (path == "-" || path.starts_with("-:")) {
    throw invalid_argument(
        fmt::format("{}: standard input is read as points and ranges of `raydex query` alone; give "
                    "the name of a file",
                    path));
  }
  std::error_code failure;
  // Sizes are compared with the file's before memory is allocated, and a pipe has no size.
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

bool read_line(std::istream& stream, const std::string& name, std::string& line) {
  return read(stream, name, [&] { std::getline(stream, line); });
}

bool read_bytes(std::istream& stream, const std::string& name, void* to, std::uint64_t count) {
  return read(stream, name,
              [&] { stream.read(static_cast<char*>(to), static_cast<std::streamsize>(count)); });
}

}  // namespace raydex::io
