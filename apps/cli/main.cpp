// SPDX-License-Identifier: Apache-2.0
// The program `raydex`: its subcommands, and every error as one line on stderr.
#include <fmt/format.h>
#include <hwy/targets.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/cli/advise.hpp"
#include "apps/cli/completion.hpp"
#include "apps/cli/info.hpp"
#include "apps/cli/join.hpp"
#include "apps/cli/query.hpp"
#include "apps/cli/rmq.hpp"
#include "apps/cli/structures.hpp"
#include "apps/cli/tune.hpp"
#include "io/program.hpp"
#include "io/quoted.hpp"
#include "io/suggestion.hpp"
#include "lab/command.hpp"
#include "raydex/error.hpp"
#include "raydex/version.hpp"

namespace {

enum exit_status : int { success = 0, failure = 1, misuse = 2 };

constexpr const char* footer =
    "See `raydex SUBCOMMAND --help` for options and examples.\n"
    "\n"
    "Exit status:\n"
    "  0  a complete, correct output\n"
    "  1  this machine cannot do it: no memory, no such backend, no room for the output\n"
    "  2  what was given is wrong: a word, a combination of options, or a file that is named\n"
    "An error is one line on stderr, and leaves no output behind.";

// Messages may quote anything.
void print_error(std::string_view message) {
  constexpr std::size_t longest = 2000;
  std::fputs(fmt::format("raydex: {}\n", raydex::io::printable(message, longest)).c_str(), stderr);
}

std::string version() {
  // The best that this machine has, of what the library chooses from: a low bit is better.
  const auto vectors = hwy::SupportedTargets();
  return fmt::format("raydex {}\n{}\nvectors here: {}", RAYDEX_VERSION, RAYDEX_BUILD_FACTS,
                     hwy::TargetName(vectors & -vectors));
}

// How the files of a subcommand are named.
constexpr std::pair<std::string_view, std::string_view> ways_to_name_files[] = {
    {"query", "--keys FILE:COLUMN --points FILE:COLUMN --result first --out FILE"},
    {"join", "--build FILE:COLUMN --probe FILE:COLUMN --kind inner --out FILE"},
    {"rmq", "--values FILE:COLUMN --ranges FILE:LOWER,UPPER --result min --out FILE"}};

// What is wrong with the first word that nothing takes; empty where there is none.
std::string about_unexpected_word(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> unexpected = command.remaining();
  if (unexpected.empty()) return {};
  const bool is_option = unexpected.front().starts_with('-');
  std::vector<std::string> known;
  if (is_option) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames())
        known.push_back("--" + name);
    }
  } else {
    for (const CLI::App* other : command.get_subcommands({}))
      known.push_back(other->get_name());
  }
  // Of `--name=value` the name.
  const std::string word =
      unexpected.front().substr(0, is_option ? unexpected.front().find('=') : std::string::npos);
  if (!is_option && !chosen.empty()) {
    for (const auto& [name, how] : ways_to_name_files) {
      if (command.get_name() != name) continue;
      return fmt::format("{} is not for raydex {}: a file goes with an option, as raydex {} {}",
                         raydex::io::in_quotes(word), name, name, how);
    }
  }
  const char* const kind = is_option ? "an option of" : chosen.empty() ? "a subcommand of" : "for";
  return fmt::format("{} is not {} raydex{}{}{}", raydex::io::in_quotes(word), kind,
                     chosen.empty() ? "" : " ", chosen.empty() ? "" : command.get_name(),
                     raydex::io::suggestion(word, known));
}

// The words with `--out -dash.npy` as `--out=-dash.npy`: one that begins with a dash is the value
// of what takes one, unless it is an option itself.
std::vector<std::string> with_values(const CLI::App& app, std::vector<std::string> words) {
  const std::vector<const CLI::App*> commands = app.get_subcommands(
      [&](const CLI::App* one) { return !words.empty() && one->get_name() == words[0]; });
  if (commands.empty()) return words;
  const CLI::App* const command = commands.front();
  std::vector<std::string> found;
  for (std::string& word : words) {
    const bool is_value = word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                          command->get_option_no_throw(word) == nullptr;
    const CLI::Option* const before =
        is_value && !found.empty() ? command->get_option_no_throw(found.back()) : nullptr;
    if (before != nullptr && before->get_items_expected_max() > 0) {
      found.back() += "=" + word;
    } else {
      found.push_back(std::move(word));
    }
  }
  return found;
}

int run(int argc, char** argv) {
  CLI::App app("GPU indexes: points, ranges and joins over columns, answered on a CPU or a GPU.",
               "raydex");
  app.set_version_flag("--version", version);
  app.require_subcommand(0, 1);
  app.footer(footer);
  raydex::cli::add_structures_command(app);
  raydex::cli::add_query_command(app);
  raydex::cli::add_info_command(app);
  raydex::cli::add_join_command(app);
  raydex::cli::add_rmq_command(app);
  raydex::cli::add_advise_command(app);
  raydex::bench::add_bench_command(app);
  raydex::cli::add_tune_command(app);
  raydex::cli::add_completion_command(app);
  try {
    std::vector<std::string> words = with_values(app, {argv + 1, argv + argc});
    std::ranges::reverse(words);  // as the parser takes them
    app.parse(std::move(words));
    if (app.get_subcommands().empty()) {
      print_error("which subcommand? (see --help)");
      return misuse;
    }
  } catch (const CLI::ParseError& error) {
    // Help and version arrive as errors too.
    if (error.get_exit_code() != success) {
      const std::string unexpected = about_unexpected_word(app);
      print_error(fmt::format("{} (see --help)", unexpected.empty() ? error.what() : unexpected));
      return misuse;
    }
    app.exit(error);
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
  } catch (const raydex::invalid_argument& error) {
    print_error(error.what());
    return misuse;
  } catch (const raydex::unsupported& error) {
    print_error(error.what());
    return misuse;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return failure;
}
