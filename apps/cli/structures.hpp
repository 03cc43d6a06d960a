// SPDX-License-Identifier: Apache-2.0
// `raydex structures`: what this build and this machine can do.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand.
void add_structures_command(CLI::App& app);

}  // namespace raydex::cli
