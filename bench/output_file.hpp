// SPDX-License-Identifier: Apache-2.0
/// @file
/// A file that appears complete or not at all.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace raydex::bench {

/// Opened under another name, so that a path that cannot be written is refused before the work, and
/// renamed when complete. Throws `invalid_argument` naming the path.
class output_file {
 public:
  explicit output_file(std::string path);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  /// Writes all of the contents and gives the file its name.
  void commit(std::string_view contents);

 private:
  std::string path_;
  std::string temporary_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace raydex::bench
