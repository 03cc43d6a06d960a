// SPDX-License-Identifier: Apache-2.0
// `raydex join`: the rows of two tables that match, by columns in files.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand.
void add_join_command(CLI::App& app);

}  // namespace raydex::cli
