// SPDX-License-Identifier: Apache-2.0
// Files that are there only when they are complete.
#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "raydex/error.hpp"

namespace raydex::io {

namespace fs = std::filesystem;

namespace {

std::string refusal(const std::string& path, const std::string& reason) {
  return fmt::format("{}: cannot be written: {}", path == "-" ? "standard output" : path, reason);
}

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw invalid_argument(refusal(path, reason));
}

[[noreturn]] void fail_with_errno(const std::string& path) {
  fail(path, std::generic_category().message(errno));
}

// Of a file that was not wrong to name.
[[noreturn]] void fail_to_write(const std::string& path) {
  throw error(refusal(path, std::generic_category().message(errno)));
}

// The status of what is at a path, or nothing. Refuses what cannot be replaced.
std::optional<struct stat> existing(const std::string& path, const std::string& target) {
  struct stat found {};
  if (::stat(target.c_str(), &found) != 0) {
    if (errno != ENOENT) fail_with_errno(path);
    return std::nullopt;
  }
  if (!S_ISREG(found.st_mode)) fail(path, "not a regular file");
  constexpr mode_t anybody = S_IWUSR | S_IWGRP | S_IWOTH;
  if ((found.st_mode & anybody) == 0) fail(path, "it is read-only");
  if (::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) fail_with_errno(path);
  return found;
}

// Opens what must not be replaced but is written to; negative for all else.
int open_stream(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return -1;
  if (!S_ISCHR(found.st_mode) && !S_ISFIFO(found.st_mode)) return -1;
  const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0) fail_with_errno(path);
  return opened;
}

}  // namespace

output_file::output_file(const std::string& path)
    : path_(path), target_(followed(path)), stream_(open_stream(path)) {
  if (stream_ >= 0) return;
  if (path.empty()) fail(path, "not a regular file");
  const std::optional<struct stat> before = existing(path, target_);
  const int descriptor = temporary_.emplace(fs::path(target_).parent_path()).descriptor();
  if (descriptor < 0) fail_with_errno(path);
  if (!before) return;
  // Only root can give a file away; another's becomes ours.
  if (::fchown(descriptor, before->st_uid, before->st_gid) != 0 && errno != EPERM)
    fail_with_errno(path);
  if (::fchmod(descriptor, before->st_mode & 07777) != 0) fail_with_errno(path);
}

output_file::~output_file() {
  if (stream_ >= 0) ::close(stream_);
}

void output_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_write(path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void output_file::finish() {
  const bool finished =
      temporary_ ? temporary_->finish() : stream_ < 0 || ::close(std::exchange(stream_, -1)) == 0;
  if (!finished) fail_to_write(path_);
}

void output_file::commit() {
  finish();
  if (temporary_ && !temporary_->move_to(target_)) fail_to_write(path_);
}

std::string followed(const std::string& path) {
  fs::path end = path;
  std::error_code absent;
  // No more links than the system follows; it then refuses the rest itself.
  for (int links = 0; links < 40 && fs::is_symlink(end, absent); ++links)
    end = end.parent_path() / fs::read_symlink(end, absent);
  return end;
}

void write_text(const std::string& path, const std::string& text) {
  output_file file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace raydex::io
