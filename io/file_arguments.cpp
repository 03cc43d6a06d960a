// SPDX-License-Identifier: Apache-2.0
// Files as a command line names them, and which of them are the same.
#include "io/file_arguments.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "io/output_file.hpp"
#include "io/read.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code absent;
  if (fs::equivalent(a, b, absent)) return true;
  const auto place = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(followed(path)), absent);
  };
  return place(a) == place(b);
}

void check_outputs(std::span<const file_argument> outputs, std::span<const file_argument> inputs) {
  const auto check = [](const file_argument& output, std::span<const file_argument> others) {
    for (const file_argument& other : others) {
      if (output.name.empty() || other.name.empty()) continue;
      if (is_same_file(output.name, path_of(other.name))) {
        throw invalid_argument(fmt::format("{} {} and {} {} are the same file", other.option,
                                           other.name, output.option, output.name));
      }
    }
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name != "-") check(outputs[i], inputs);  // standard input is no output
    check(outputs[i], outputs.first(i));
  }
}

}  // namespace raydex::io
