// SPDX-License-Identifier: Apache-2.0
// Files that are there only when they are complete.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "io/temporary_file.hpp"

namespace raydex::io {

// How outputs come to their paths, for the help of programs.
inline constexpr const char* output_rules =
    "An output is there when it is complete, and replaces what was there. The target of a "
    "symbolic\n"
    "link is replaced, not the link. A file that is replaced keeps its permissions; one that "
    "nobody\n"
    "may write is refused, even to root. So is one that is also read. Standard output (- or\n"
    "/dev/stdout), pipes and devices are written to as they are.";

// A file that is written beside its path and moved there by `commit`; without `commit` nothing is
// left. A file at the path stays until then, and its permissions stay for good. If the path is a
// symbolic link, all this holds for the file that it leads to. Standard output, which is `-` or
// /dev/stdout, and what is no regular file but a pipe or a device is written to at once. All calls
// throw with one line that names the path and the system's reason: `invalid_argument` for a path
// that cannot be written to, `error` where writing fails.
class output_file {
 public:
  // Creates the temporary file, so that a path that cannot be written fails before the work.
  // Refuses a folder, a socket, and a file that is read-only. Root may write everything, so for
  // root read-only means that nobody has the permission.
  explicit output_file(const std::string& path);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Appends.
  void write(std::span<const std::byte> bytes);

  // Ends writing: everything is on the disk. If files belong together, all are finished before the
  // first is committed.
  void finish();
  // Finishes the file and moves it to its path.
  void commit();

  // Where it will be.
  const std::string& path() const noexcept { return path_; }

 private:
  int descriptor() const { return temporary_ ? temporary_->descriptor() : stream_; }

  std::string path_;
  std::string target_;  // where the path leads to
  std::optional<temporary_file> temporary_;
  int stream_ = -1;  // what is written to at once; then there is no temporary file
};

// Where a path leads through symbolic links; the target need not exist.
std::string followed(const std::string& path);

// Writes a text file as a whole.
void write_text(const std::string& path, const std::string& text);

}  // namespace raydex::io
