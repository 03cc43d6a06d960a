// SPDX-License-Identifier: Apache-2.0
// A temporary file and its renaming.
#include "bench/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw invalid_argument(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

}  // namespace

output_file::output_file(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.{}.tmp", path_, getpid())) {
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_) refuse(path_);
}

output_file::~output_file() {
  if (!committed_) std::remove(temporary_.c_str());
}

void output_file::commit(std::string_view contents) {
  stream_.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  stream_.close();
  if (!stream_ || std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_);
  committed_ = true;
}

}  // namespace raydex::bench
