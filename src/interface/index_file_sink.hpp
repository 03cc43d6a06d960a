// SPDX-License-Identifier: Apache-2.0
// Where an index file is written to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace raydex {

class file_sink {
 public:
  file_sink() = default;
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;
  virtual ~file_sink() = default;
  virtual void append(std::span<const std::byte> bytes) = 0;
  // Writes at the beginning, once all else is written.
  virtual void finish(std::span<const std::byte> begin) = 0;
};

class memory_sink final : public file_sink {
 public:
  explicit memory_sink(std::uint64_t expected) { all_.reserve(expected); }
  void append(std::span<const std::byte> bytes) override {
    all_.insert(all_.end(), bytes.begin(), bytes.end());
  }
  void finish(std::span<const std::byte> begin) override { std::ranges::copy(begin, all_.begin()); }
  std::vector<std::byte> take() { return std::move(all_); }

 private:
  std::vector<std::byte> all_;
};

// Opens a file of a name that none has, in a folder, and sets `name`. Negative as `open` is.
int open_new_file(const std::string& folder, std::string& name);
// Writes all of the bytes at a place of a file. False as `write` fails.
bool write_whole(int file, std::span<const std::byte> bytes, std::uint64_t at);

// A file beside its path, which takes that when it is complete.
class disk_sink final : public file_sink {
 public:
  explicit disk_sink(const std::string& path);
  ~disk_sink() override;

  void append(std::span<const std::byte> bytes) override;
  void finish(std::span<const std::byte> begin) override;
  // Writes somewhere; bytes before it that nobody writes are 0. Threads may write at once.
  void write(std::span<const std::byte> bytes, std::uint64_t at) const;
  // Where it is written.
  const std::string& folder() const { return folder_; }

 private:
  std::string path_;
  std::string target_;
  std::string folder_;
  std::string beside_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace raydex
