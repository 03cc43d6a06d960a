// SPDX-License-Identifier: Apache-2.0
/// @file
/// `raydex bench`.
#pragma once

#include <CLI/App.hpp>

namespace raydex::bench {

/// Adds the subcommand. Its callback measures, prints a table to stdout and writes the JSON file;
/// it throws `raydex::error` for bad arguments and where any answer was wrong.
void add_bench_command(CLI::App& app);

}  // namespace raydex::bench
