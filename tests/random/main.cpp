// SPDX-License-Identifier: Apache-2.0
// Compares structures with an oracle on cases that are drawn at random.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "tests/random/draw.hpp"
#include "tests/random/search.hpp"
#include "tests/random/trial.hpp"
#if defined(RAYDEX_RANDOM_EMULATED)
#include "emulation/control.hpp"
#endif

namespace raydex::test {
namespace {

// Tells a backend that is missing on this machine from a failure.
constexpr int skipped = 77;

#if defined(RAYDEX_RANDOM_EMULATED)
constexpr bool is_emulation = true;
#else
constexpr bool is_emulation = false;
#endif

int run(int argc, char** argv) {
  CLI::App app("Compares structures with an oracle on cases that are drawn at random.",
               "raydex_random");
  std::string name = is_emulation ? "emulated" : "cpu";
  std::string only;
  search_limits limits;
  limits.seed = std::random_device{}();
  limits.seed = limits.seed << 20;  // runs do not overlap
  unsigned seconds = 10;
  app.add_option("--backend", name, "The backend")
      ->check(CLI::IsMember(is_emulation ? std::vector<std::string>{"emulated"}
                                         : std::vector<std::string>{"cpu", "cuda", "optix"}))
      ->capture_default_str();
  CLI::Option* const time =
      app.add_option("--seconds", seconds, "Seconds in which cases begin")->capture_default_str();
  app.add_option("--seed", limits.seed, "Seed of the first case; a new one in each run")
      ->envname("RAYDEX_TEST_SEED");
  CLI::Option* const cases = app.add_option("--cases", limits.cases, "At most so many cases");
  app.add_option("--only", only, "The only structure that is drawn");
  CLI11_PARSE(app, argc, argv);
  if (time->count() != 0 || cases->count() == 0) limits.time = std::chrono::seconds(seconds);

  const subject tested{is_emulation ? backend::cuda : parse_backend(name), is_emulation};
  const auto structures = structures_of(tested.where);
  if (!only.empty() && std::ranges::find(structures, only) == structures.end()) {
    std::cerr << "raydex_random: " << only << " is no structure of " << name << '\n';
    return 1;
  }
  if (const std::string reason = why_unavailable(tested.where); !reason.empty()) {
    std::cout << "raydex_random: skipped: " << reason << '\n';
    return skipped;
  }
  const place where(tested);
  std::string command = std::string(argv[0]).append(" --backend ").append(name);
  if (!only.empty()) command.append(" --only ").append(only);
  const auto differs = [&](const test_case& tried) {
#if defined(RAYDEX_RANDOM_EMULATED)
    emulation::set_schedule_seed(tried.schedule);
#endif
    return try_case(where, tried);
  };
  return search(tested, only, limits, command, differs, std::cout) ? 0 : 1;
}

}  // namespace
}  // namespace raydex::test

int main(int argc, char** argv) {
  try {
    return raydex::test::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "raydex_random: " << e.what() << '\n';
    return 1;
  }
}
