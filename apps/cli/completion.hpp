// SPDX-License-Identifier: Apache-2.0
// `raydex completion`: scripts that complete the command line in a shell.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand; its scripts hold all subcommands and options that `app` has when they are
// printed. An option is completed by files if its type name is FILE, by words if it is a list of
// them, as in `cpu|cuda`, and by the options of structures if it begins with NAME=VALUE.
void add_completion_command(CLI::App& app);

}  // namespace raydex::cli
