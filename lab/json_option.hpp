// SPDX-License-Identifier: Apache-2.0
/// @file
/// `--json [FILE]`, which means the same to every subcommand: a table as JSON, in a file or on
/// standard output.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace raydex::bench {

/// The name that stands for standard output.
inline constexpr std::string_view standard_output = "-";

/// Adds the option: a name for `io::write_text`. `file` stays empty where it is not given, and is
/// `-` where no name follows; `what` is written there.
CLI::Option* add_json_option(CLI::App& command, std::string& file, const std::string& help);

/// Whether JSON is asked for, in a file.
bool writes_file(std::string_view json);

}  // namespace raydex::bench
