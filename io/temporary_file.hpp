// SPDX-License-Identifier: Apache-2.0
// Files that are gone when the program ends, unless they are moved to their place.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

namespace raydex::io {

// A new file with a unique name, open for writing. The destructor removes it; so does a signal that
// ends the program, if `begin_program` was called. Calls that fail leave the reason in errno.
class temporary_file {
 public:
  // Creates it in a folder. On failure `descriptor` is negative.
  explicit temporary_file(const std::filesystem::path& folder);
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file();

  int descriptor() const noexcept { return descriptor_; }

  // Puts everything written on the disk and closes the file. Returns whether that succeeded.
  bool finish();
  // Moves it to a path of the same file system, where it stays. Returns whether that succeeded.
  bool move_to(const std::string& path);

  // Removes all temporary files of the program. May be called by a signal handler.
  static void remove_all() noexcept;

 private:
  struct name;

  static name& add_name(const std::filesystem::path& folder);

  static std::atomic<name*> names;
  name& name_;
  int descriptor_;
};

}  // namespace raydex::io
