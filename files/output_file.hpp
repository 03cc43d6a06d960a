// SPDX-License-Identifier: Apache-2.0
// Files that are there only when they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "files/temporary_file.hpp"

namespace raydex::io {

// How outputs come to their paths, for the help of programs.
inline constexpr const char* output_rules =
    "An output is there when it is complete, and replaces what was there. The target of a "
    "symbolic\n"
    "link is replaced, not the link. A file that is replaced keeps its permissions; one that "
    "nobody\n"
    "may write is refused, even to root. So is one that is also read.";

// A file that is written beside its path and moved there by `commit`; without it, nothing is left.
// What was at the path before stays until then; its permissions stay for good. Where the path is a
// symbolic link, all this goes for the file that it leads to. All calls throw `invalid_argument`
// with one line that names the path and the system's reason.
class output_file {
 public:
  // Creates the temporary file, so that a path that cannot be written is found before the work.
  // Refuses what is there if it is no regular file, or read-only: for root, which may write
  // everything, if nobody has the permission.
  explicit output_file(const std::string& path);

  // Appends, or overwrites what is behind the place of the last `seek`.
  void write(std::span<const std::byte> bytes);
  // Goes to a place, in bytes from the beginning.
  void seek(std::uint64_t place);

  // Ends writing: all is on the disk. Of files that belong together each is finished before the
  // first one is committed.
  void finish();
  // Finishes the file and moves it to its path.
  void commit();

  // Where it will be.
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::string target_;  // where the path leads to
  std::optional<temporary_file> temporary_;
};

// Where a path leads to through symbolic links; the last one may lead to what is not there yet.
std::string followed(const std::string& path);

// Writes a text file as a whole.
void write_text(const std::string& path, const std::string& text);

}  // namespace raydex::io
