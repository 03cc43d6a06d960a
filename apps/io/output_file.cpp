// SPDX-License-Identifier: Apache-2.0
// Files that are there only when they are complete.
#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "raydex/error.hpp"

namespace raydex::io {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw invalid_argument(fmt::format("{}: cannot be written: {}", path, reason));
}

[[noreturn]] void fail_with_errno(const std::string& path) {
  fail(path, std::generic_category().message(errno));
}

}  // namespace

output_file::output_file(const std::string& path)
    : path_(path), temporary_(fmt::format("{}.{}.tmp", path, ::getpid())) {
  // To move a file onto a device or a pipe would take its place instead of writing to it.
  std::error_code absent;
  if (path.empty() ||
      (std::filesystem::exists(path, absent) && !std::filesystem::is_regular_file(path, absent))) {
    fail(path, "not a regular file");
  }
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with_errno(path);
}

output_file::~output_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void output_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void output_file::commit() {
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with_errno(path_);
  committed_ = true;
}

}  // namespace raydex::io
