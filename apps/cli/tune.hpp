// SPDX-License-Identifier: Apache-2.0
// `raydex tune`: measures this machine, so that `auto` and `raydex advise` decide by it.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand.
void add_tune_command(CLI::App& app);

}  // namespace raydex::cli
