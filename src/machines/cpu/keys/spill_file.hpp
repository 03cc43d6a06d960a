// SPDX-License-Identifier: Apache-2.0
// A file for what does not fit the memory. It has no name once it is open, so that it is gone when
// the process is.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

#include "raydex/error.hpp"
#include "src/interface/index_file_sink.hpp"
#include "src/interface/watch.hpp"

namespace raydex::cpu {

class spill_file {
 public:
  explicit spill_file(const std::string& folder) : folder_(folder) {
    std::string name;
    file_ = open_new_file(folder, name);
    if (file_ < 0) {
      throw invalid_argument(fmt::format("spill: {}: it cannot be written: {}", folder,
                                         std::generic_category().message(errno)));
    }
    ::unlink(name.c_str());
  }
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  ~spill_file() { ::close(file_); }

  std::uint64_t size() const { return size_; }
  // Returns where they are.
  std::uint64_t append(std::span<const std::byte> bytes) {
    constexpr std::size_t at_once = std::size_t{1} << 22;
    const std::uint64_t begin = size_;
    for (std::size_t at = 0; at < bytes.size(); at += at_once) {
      watch::look();
      const auto next = bytes.subspan(at, std::min(at_once, bytes.size() - at));
      if (!write_whole(file_, next, size_)) fail("write");
      size_ += next.size();
    }
    return begin;
  }
  void read(std::span<std::byte> bytes, std::uint64_t at) const {
    while (!bytes.empty()) {
      const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail("read");
      bytes = bytes.subspan(static_cast<std::size_t>(got));
      at += static_cast<std::uint64_t>(got);
    }
  }
  // Has the system read bytes beforehand.
  void expect(std::uint64_t at, std::uint64_t bytes) const {
    ::posix_fadvise(file_, static_cast<off_t>(at), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
  }

 private:
  [[noreturn]] void fail(const char* call) const {
    throw error(
        fmt::format("spill: {}: {}: {}", folder_, call, std::generic_category().message(errno)));
  }

  std::string folder_;
  int file_;
  std::uint64_t size_ = 0;
};

}  // namespace raydex::cpu
