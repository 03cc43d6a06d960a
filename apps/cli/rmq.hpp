// SPDX-License-Identifier: Apache-2.0
// `raydex rmq`: minima of ranges of an array in a file, and where they are.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand.
void add_rmq_command(CLI::App& app);

}  // namespace raydex::cli
