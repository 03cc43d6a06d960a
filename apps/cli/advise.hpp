// SPDX-License-Identifier: Apache-2.0
// `raydex advise`: which structure to build for a use case, and why.
#pragma once

#include <CLI/App.hpp>

namespace raydex::cli {

// Adds the subcommand.
void add_advise_command(CLI::App& app);

}  // namespace raydex::cli
