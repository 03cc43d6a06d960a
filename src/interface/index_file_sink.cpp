// SPDX-License-Identifier: Apache-2.0
#include "src/interface/index_file_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "src/interface/index_file_format.hpp"

namespace raydex {

namespace {

// The file that links lead to.
std::string target_of(const std::string& path) {
  namespace fs = std::filesystem;
  check_name(path);
  fs::path end = path;
  std::error_code absent;
  for (int links = 0; fs::is_symlink(end, absent); ++links) {
    if (links == 40) refuse_file(path, "it cannot be written: links lead in a circle");
    end = end.parent_path() / fs::read_symlink(end, absent);
  }
  if (fs::exists(end, absent) && !fs::is_regular_file(end, absent))
    refuse_file(path, "it cannot be written: not a regular file");
  return end.string();
}

}  // namespace

int open_new_file(const std::string& folder, std::string& name) {
  static std::atomic<unsigned> last{0};
  for (unsigned tries = 0;; ++tries) {
    name = fmt::format("{}/.raydex-{}-{}", folder, ::getpid(), ++last);
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST || tries == 100) return file;
  }
}

bool write_whole(int file, std::span<const std::byte> bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

disk_sink::disk_sink(const std::string& path) : path_(path), target_(target_of(path)) {
  const auto where = std::filesystem::path(target_).parent_path();
  folder_ = where.empty() ? "." : where.string();
  file_ = open_new_file(folder_, beside_);
  if (file_ < 0)
    refuse_file(path, "it cannot be written: " + std::generic_category().message(errno));
}

disk_sink::~disk_sink() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(beside_.c_str());
}

void disk_sink::append(std::span<const std::byte> bytes) {
  write(bytes, size_);
  size_ += bytes.size();
}

void disk_sink::write(std::span<const std::byte> bytes, std::uint64_t at) const {
  if (!write_whole(file_, bytes, at)) fail_file(path_, "write");
}

void disk_sink::finish(std::span<const std::byte> begin) {
  write(begin, 0);
  if (::fsync(file_) != 0) fail_file(path_, "fsync");
  if (::rename(beside_.c_str(), target_.c_str()) != 0) fail_file(path_, "rename");
  ::close(std::exchange(file_, -1));
  // So that the new name outlives a loss of power.
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // it may not be read
  const bool flushed = ::fsync(folder) == 0 || errno == EINVAL;
  ::close(folder);
  if (!flushed) fail_file(path_, "fsync of the folder");
}

}  // namespace raydex
