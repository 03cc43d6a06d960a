// SPDX-License-Identifier: Apache-2.0
// The program `raydex`: its subcommands, and every error as one line on stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "apps/cli/advise.hpp"
#include "apps/cli/completion.hpp"
#include "apps/cli/query.hpp"
#include "apps/cli/rmq.hpp"
#include "apps/cli/structures.hpp"
#include "apps/cli/tune.hpp"
#include "bench/command.hpp"
#include "files/program.hpp"
#include "raydex/version.hpp"

namespace {

enum exit_status : int { success = 0, failure = 1, misuse = 2 };

// Messages may quote file names and cells, which may hold anything.
void print_error(std::string_view message) {
  std::string line = "raydex: ";
  for (const char c : message)
    line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  line += '\n';
  std::fputs(line.c_str(), stderr);
}

int run(int argc, char** argv) {
  CLI::App app("GPU indexes: points and ranges over columns, answered on a CPU or a GPU.",
               "raydex");
  app.set_version_flag("--version", "raydex " RAYDEX_VERSION);
  app.require_subcommand(0, 1);
  app.footer("See `raydex SUBCOMMAND --help` for options and examples.");
  raydex::cli::add_structures_command(app);
  raydex::cli::add_query_command(app);
  raydex::cli::add_rmq_command(app);
  raydex::cli::add_advise_command(app);
  raydex::bench::add_bench_command(app);
  raydex::cli::add_tune_command(app);
  raydex::cli::add_completion_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version arrive as errors too.
    if (error.get_exit_code() == success) return app.exit(error);
    print_error(fmt::format("{} (see --help)", error.what()));
    return misuse;
  }
  if (app.get_subcommands().empty()) {
    print_error("which subcommand? (see --help)");
    return misuse;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_error("standard output cannot be written");
    return failure;
  }
  return success;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    raydex::io::begin_program();
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return failure;
}
