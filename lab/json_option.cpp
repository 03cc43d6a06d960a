// SPDX-License-Identifier: Apache-2.0
#include "lab/json_option.hpp"

#include <CLI/CLI.hpp>

namespace raydex::bench {

CLI::Option* add_json_option(CLI::App& command, std::string& file, const std::string& help) {
  return command.add_option("--json", file, help + "; to standard output without a FILE or as -")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str(std::string(standard_output));
}

bool writes_file(std::string_view json) {
  return !json.empty() && json != standard_output;
}

}  // namespace raydex::bench
