// SPDX-License-Identifier: Apache-2.0
// Files as a command line names them, and which of them are the same.
#pragma once

#include <span>
#include <string>

namespace raydex::io {

// An option and the file that it names; the name is empty if the option is not given.
struct file_argument {
  const char* option;  // as `--keys`
  std::string name;    // as `K.npy`, or `t.csv:column`
};

// Whether two paths lead to the same file, which need not exist.
bool is_same_file(const std::string& a, const std::string& b);

// Refuses an output that is the same file as an input or another output, under any name and through
// any links. Throws `invalid_argument` with one line that names both options.
void check_outputs(std::span<const file_argument> outputs, std::span<const file_argument> inputs);

}  // namespace raydex::io
