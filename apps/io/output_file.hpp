// SPDX-License-Identifier: Apache-2.0
// Files that are there only when they are complete.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace raydex::io {

// A file that is written beside its path and moved there by `commit`; without it, nothing is left.
// What was at the path before stays until then. All calls throw `invalid_argument` with one line
// that names the path and the system's reason.
class output_file {
 public:
  // Creates the temporary file, so that a path that cannot be written is found before the work.
  explicit output_file(const std::string& path);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  // Appends.
  void write(std::span<const std::byte> bytes);

  // Closes the file and moves it to its path.
  void commit();

  // Where it will be.
  const std::string& path() const noexcept { return path_; }
  // Where it is until then.
  const std::string& temporary() const noexcept { return temporary_; }

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace raydex::io
