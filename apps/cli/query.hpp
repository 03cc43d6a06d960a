// SPDX-License-Identifier: Apache-2.0
// `raydex query`: an index over a column of a file, and its answers in a file.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand.
void add_query_command(CLI::App& app);

}  // namespace raydex::cli
