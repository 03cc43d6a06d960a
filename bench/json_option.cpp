// SPDX-License-Identifier: Apache-2.0
#include "bench/json_option.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "files/output_file.hpp"

namespace raydex::bench {

CLI::Option* add_json_option(CLI::App& command, std::string& file, const std::string& what) {
  return command.add_option("--json", file, what + "; to standard output without a FILE or as -")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->default_str(std::string(standard_output));
}

bool writes_file(std::string_view json) {
  return !json.empty() && json != standard_output;
}

void write_json(const std::string& json, const std::string& text) {
  if (writes_file(json)) return io::write_text(json, text);
  std::fputs(text.c_str(), stdout);
}

}  // namespace raydex::bench
