// SPDX-License-Identifier: Apache-2.0
// `raydex tune`: measures this machine, so that `auto` and `raydex advise` decide by it.
#include "apps/cli/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/backend_choice.hpp"
#include "io/output_file.hpp"
#include "io/progress.hpp"
#include "io/speed_cache.hpp"
#include "lab/lookups/tune.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

void make_folder_of(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failure);
  if (failure) {
    throw invalid_argument(
        fmt::format("{}: its folder cannot be made: {}", path, failure.message()));
  }
}

void run(const std::string& backend_name, bool quick) {
  const session on(io::choose_backend(backend_name, io::key_offers(), "auto", false));
  const device_info device = on.device();
  const std::string path = io::speed_cache_path(on.where(), device.name);
  if (path.empty()) {
    throw invalid_argument(
        "there is no place to keep measurements; set RAYDEX_CACHE_DIR to a folder");
  }
  const std::vector<capability> all = capabilities();
  if (std::ranges::find(all, on.where(), &capability::where) == all.end()) {
    throw unsupported(
        fmt::format("backend {}: no structure runs on it, so there is nothing to measure",
                    to_string(on.where())));
  }
  // A file that cannot be written is found before the work.
  make_folder_of(path);
  io::output_file file(path);

  bench::tuning found;
  {
    progress_bar bar;
    bool begun = false;
    found = bench::tune(on, quick, [&](std::uint64_t steps) {
      if (begun) {
        bar.advance(1);
      } else {
        bar.phase("measure", steps);
      }
      begun = true;
    });
  }
  if (found.table.rows().empty()) {
    throw error(fmt::format(
        "tune: nothing could be measured{}{}",
        found.shortages.empty() ? "" : "; left out: ", fmt::join(found.shortages, "; ")));
  }
  const std::string text = io::to_cache_text(found.table, on.where(), device.name);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
  fmt::print("{}: {} measurements on {}\n", path, found.table.rows().size(), device.name);
  if (found.left_out != 0) {
    fmt::print("left out, for lack of time or memory: {} workloads of larger columns\n",
               found.left_out);
  }
  for (const std::string& shortage : found.shortages)
    fmt::print("left out: {}\n", shortage);
}

}  // namespace

void add_tune_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("tune", "Measure this machine for `raydex advise` and `auto`");
  const auto backend_name = std::make_shared<std::string>("auto");
  const auto quick = std::make_shared<bool>(false);
  command->add_option("--backend", *backend_name, "Whose structures to measure")
      ->type_name("cpu|cuda|optix|auto")
      ->capture_default_str();
  command->add_flag("--quick", *quick, "Seconds instead of up to two minutes; less exact");
  command->footer(
      "The measurements are kept in $RAYDEX_CACHE_DIR, else $XDG_CACHE_HOME/raydex, else\n"
      "~/.cache/raydex, in a file for each device. They count for this version of raydex; without\n"
      "the file, built-in measurements do.\n"
      "\n"
      "Examples:\n"
      "  raydex tune\n"
      "  raydex tune --backend cpu --quick");
  command->callback([backend_name, quick] { run(*backend_name, *quick); });
}

}  // namespace raydex::cli
