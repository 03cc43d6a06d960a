// SPDX-License-Identifier: Apache-2.0
// `raydex completion`: scripts for bash and zsh, generated from the program's own options and those
// of the structures.
#include "apps/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/rmq.hpp"

namespace raydex::cli {

namespace {

// The words that a value can be, separated by spaces; empty if it can be anything.
std::string choices(const CLI::Option& option) {
  std::string words = option.get_type_name();
  if (words.find('|') == std::string::npos) return {};
  std::ranges::replace(words, '|', ' ');
  return words;
}

bool is_of_structures(const CLI::Option& option) {
  return option.get_type_name().starts_with("NAME=VALUE");
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

// The options of a structure as they are given: `name=word`, and `name=` for numbers.
std::set<std::string> option_words(const std::string& structure) {
  std::set<std::string> words;
  for (const option_info& option : options_of(structure)) {
    std::istringstream values(option.values);
    for (std::string value; std::getline(values, value, '|');) {
      const bool is_number_range = value.find_first_of("./") != std::string::npos;
      words.insert(option.name + '=' + (is_number_range ? "" : value));
    }
  }
  return words;
}

// A function of either shell: the options of the structure that a command line names, else of all.
void print_structure_options() {
  std::set<std::string> structures;
  for (const capability& what : capabilities())
    structures.insert(what.structure);
  for (const rmq_capability& what : rmq_capabilities())
    structures.insert(what.structure);
  fmt::print("_raydex_options() {{\n  case \"$1 \" in\n");
  std::set<std::string> all;
  for (const std::string& structure : structures) {
    const std::set<std::string> words = option_words(structure);
    fmt::print("    *--structure[=\\ ]{}\\ *) echo '{}' ;;\n", structure, fmt::join(words, " "));
    all.insert(words.begin(), words.end());
  }
  fmt::print("    *) echo '{}' ;;\n  esac\n}}\n", fmt::join(all, " "));
}

void print_bash(const CLI::App& app) {
  std::vector<std::string> first = words_of(app);
  for (const CLI::App* command : subcommands(app))
    first.push_back(command->get_name());
  fmt::print("# bash completion of raydex; load it by: source <(raydex completion bash)\n");
  print_structure_options();
  fmt::print(
      "_raydex() {{\n"
      // COMP_WORDS has `layout=row` as three words.
      "  local line=${{COMP_LINE:0:COMP_POINT}} words= before\n"
      "  local word=${{line##* }}\n"
      "  read -ra before <<< \"${{line% *}}\"\n"
      "  if [[ ${{#before[@]}} -eq 1 ]]; then\n"
      "    words=\"{}\"\n"
      "  else\n"
      "    case \"${{before[1]}} ${{before[-1]}}\" in\n",
      fmt::join(first, " "));
  for (const CLI::App* command : subcommands(app)) {
    for (const CLI::Option* option : command->get_options()) {
      if (!takes_value(*option)) continue;
      // Without words, bash offers files.
      const std::string words =
          is_of_structures(*option) ? "$(_raydex_options \"$line\")" : choices(*option);
      for (const std::string& name : names(*option))
        fmt::print("      '{} {}') words=\"{}\" ;;\n", command->get_name(), name, words);
    }
    fmt::print("      '{} '*) words=\"{}\" ;;\n", command->get_name(),
               fmt::join(words_of(*command), " "));
  }
  fmt::print(
      "    esac\n"
      "  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace\n"
      // Of `layout=row` bash completes what comes after the `=`: $2.
      "  COMPREPLY=(\"${{COMPREPLY[@]#\"${{word%\"$2\"}}\"}}\")\n"
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
    const std::string action = is_of_structures(option) ? "_raydex_option"
                               : words.empty()          ? "_files"
                                                        : "(" + words + ")";
    value =
        fmt::format(":{}:{}", option.get_positional() ? option.get_name(true) : "value", action);
  }
  if (option.get_positional()) fmt::print(" \\\n        '1{}'", value);
  const char* const repeated = option.get_items_expected_max() > 1 ? "*" : "";
  for (const std::string& name : names(option)) {
    fmt::print(" \\\n        '{}{}[{}]{}'", repeated, name, escaped(option.get_description()),
               value);
  }
}

void print_zsh(const CLI::App& app) {
  fmt::print(
      "#compdef raydex\n"
      "# zsh completion of raydex; load it by: source <(raydex completion zsh)\n");
  print_structure_options();
  fmt::print(
      "_raydex_option() {{\n"
      "  local -a all=($(_raydex_options \"$words\"))\n"
      // No space after `k=`.
      "  compadd \"$@\" -S '' -- ${{(M)all:#*=}}\n"
      "  compadd \"$@\" -- ${{all:#*=}}\n"
      "}}\n"
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
