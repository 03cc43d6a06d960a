// SPDX-License-Identifier: Apache-2.0
// `raydex completion`: scripts for bash and zsh, generated from the program's own options.
#include "apps/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "raydex/error.hpp"

namespace raydex::cli {

namespace {

// The words that a value can be, separated by spaces; empty if it can be anything.
std::string choices(const CLI::Option& option) {
  std::string words = option.get_type_name();
  if (words.find('|') == std::string::npos) return {};
  std::ranges::replace(words, '|', ' ');
  return words;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// All names of an option as typed: `-h`, `--help`.
std::vector<std::string> names(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames())
    all.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    all.push_back("--" + name);
  return all;
}

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// What can follow a subcommand: its options and the words of its arguments.
std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) words.push_back(choices(*option));
    for (const std::string& name : names(*option))
      words.push_back(name);
  }
  return words;
}

void print_bash(const CLI::App& app) {
  std::vector<std::string> first = words_of(app);
  for (const CLI::App* command : subcommands(app))
    first.push_back(command->get_name());
  fmt::print(
      "# bash completion of raydex; load it by: source <(raydex completion bash)\n"
      "_raydex() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    words=\"{}\"\n"
      "  else\n"
      "    case \"${{COMP_WORDS[1]}} $before\" in\n",
      fmt::join(first, " "));
  for (const CLI::App* command : subcommands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      if (!takes_value(*option)) continue;
      // Without words, bash offers files.
      for (const std::string& name : names(*option))
        fmt::print("      '{} {}') words=\"{}\" ;;\n", command->get_name(), name, choices(*option));
    }
    fmt::print("      '{} '*) words=\"{}\" ;;\n", command->get_name(),
               fmt::join(words_of(*command), " "));
  }
  fmt::print(
      "    esac\n"
      "  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "}}\n"
      "complete -o default -F _raydex raydex\n");
}

// For zsh, where these characters have a meaning in descriptions.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

void print_zsh_option(const CLI::Option& option) {
  std::string value;
  if (takes_value(option)) {
    const std::string words = choices(option);
    value = fmt::format(":{}:{}", option.get_positional() ? option.get_name(true) : "value",
                        words.empty() ? "_files" : "(" + words + ")");
  }
  if (option.get_positional()) fmt::print(" \\\n        '1{}'", value);
  for (const std::string& name : names(option))
    fmt::print(" \\\n        '{}[{}]{}'", name, escaped(option.get_description()), value);
}

void print_zsh(const CLI::App& app) {
  fmt::print(
      "#compdef raydex\n"
      "# zsh completion of raydex; load it by: source <(raydex completion zsh)\n"
      "_raydex() {{\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n");
  for (const CLI::App* command : subcommands(app))
    fmt::print("      '{}:{}'\n", command->get_name(), escaped(command->get_description()));
  fmt::print(
      "    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n");
  for (const CLI::App* command : subcommands(app)) {
    fmt::print("    {})\n      _arguments", command->get_name());
    for (const CLI::Option* option : command->get_options())
      print_zsh_option(*option);
    fmt::print(" ;;\n");
  }
  fmt::print(
      "  esac\n"
      "}}\n"
      // Sourced, it registers itself; loaded from $fpath, it is called right away.
      "if [[ $funcstack[1] == _raydex ]]; then\n"
      "  _raydex \"$@\"\n"
      "else\n"
      "  compdef _raydex raydex\n"
      "fi\n");
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "The shell")->required()->type_name("bash|zsh");
  command->footer(
      "Examples:\n"
      "  source <(raydex completion bash)\n"
      "  raydex completion zsh > ~/.zfunc/_raydex");
  command->callback([&app, shell] {
    if (*shell == "bash") {
      print_bash(app);
    } else if (*shell == "zsh") {
      print_zsh(app);
    } else {
      throw invalid_argument(fmt::format("shell: '{}' is not one of bash, zsh", *shell));
    }
  });
}

}  // namespace raydex::cli
