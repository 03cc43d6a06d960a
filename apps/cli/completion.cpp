// SPDX-License-Identifier: Apache-2.0
// `raydex completion`: scripts for bash, zsh and fish, generated from the program's own options and
// those of the structures.
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

#include "io/known_words.hpp"
#include "raydex/capability.hpp"
#include "raydex/rmq.hpp"

namespace raydex::cli {

namespace {

// The structures that a subcommand takes.
std::set<std::string> structures_of(const CLI::App& command) {
  std::set<std::string> names;
  if (command.get_name() != "rmq") {
    for (const capability& one : capabilities())
      names.insert(one.structure);
  }
  if (command.get_name() != "query" && command.get_name() != "join") {
    for (const rmq_capability& one : rmq_capabilities())
      names.insert(one.structure);
  }
  if (command.get_name() != "structures") names.insert("auto");
  return names;
}

// The words that a value can be, separated by spaces; empty if it can be anything.
std::string choices(const CLI::App& command, const CLI::Option& option) {
  if (option.get_name() == "--structure" || option.get_name() == "STRUCTURE")
    return fmt::format("{}", fmt::join(structures_of(command), " "));
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
    if (option->get_positional()) words.push_back(choices(command, *option));
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

// The words of all structures' options.
std::set<std::string> all_option_words(const std::set<std::string>& structures) {
  std::set<std::string> all;
  for (const std::string& structure : structures)
    all.merge(option_words(structure));
  return all;
}

// A function of bash and zsh: the options of the structure that a command line names, else of all.
void print_structure_options(const std::set<std::string>& structures) {
  fmt::print("_raydex_options() {{\n  case \"$1 \" in\n");
  for (const std::string& structure : structures) {
    fmt::print("    *--structure[=\\ ]{}\\ *) echo '{}' ;;\n", structure,
               fmt::join(option_words(structure), " "));
  }
  fmt::print("    *) echo '{}' ;;\n  esac\n}}\n", fmt::join(all_option_words(structures), " "));
}

void print_bash(const CLI::App& app) {
  std::vector<std::string> first = words_of(app);
  for (const CLI::App* command : subcommands(app))
    first.push_back(command->get_name());
  fmt::print("# bash completion of raydex; load it by: source <(raydex completion bash)\n");
  print_structure_options(structures_of(*app.get_subcommand("structures")));
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
          is_of_structures(*option) ? "$(_raydex_options \"$line\")" : choices(*command, *option);
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

void print_zsh_option(const CLI::App& command, const CLI::Option& option) {
  std::string value;
  if (takes_value(option)) {
    const std::string words = choices(command, option);
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
  print_structure_options(structures_of(*app.get_subcommand("structures")));
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
      print_zsh_option(*command, *option);
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

// For fish, between single quotes.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

void print_fish_option(const CLI::App& command, const CLI::Option& option) {
  const std::string words =
      is_of_structures(option) ? "(__raydex_options)" : choices(command, option);
  fmt::print("complete -c raydex -n '__fish_seen_subcommand_from {}'", command.get_name());
  for (const std::string& name : option.get_snames())
    fmt::print(" -s {}", name);
  for (const std::string& name : option.get_lnames())
    fmt::print(" -l {}", name);
  if (takes_value(option)) {
    if (!option.get_positional() && option.get_expected_min() > 0) fmt::print(" -r");
    fmt::print("{}", words.empty() ? " -F" : " -fa " + in_quotes(words));
  }
  fmt::print(" -d {}\n", in_quotes(option.get_description()));
}

void print_fish(const CLI::App& app) {
  const std::set<std::string> structures = structures_of(*app.get_subcommand("structures"));
  fmt::print(
      "# fish completion of raydex; load it by: raydex completion fish | source\n"
      "function __raydex_options\n"
      "  switch (commandline -cp)\n");
  for (const std::string& structure : structures) {
    fmt::print(
        "    case '*--structure {0} *' '*--structure={0} *'\n"
        "      printf '%s\\n' {1}\n",
        structure, fmt::join(option_words(structure), " "));
  }
  fmt::print(
      "    case '*'\n"
      "      printf '%s\\n' {}\n"
      "  end\n"
      "end\n"
      "complete -c raydex -f\n",
      fmt::join(all_option_words(structures), " "));
  for (const CLI::App* command : subcommands(app)) {
    fmt::print("complete -c raydex -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
               in_quotes(command->get_description()));
    for (const CLI::Option* option : command->get_options())
      print_fish_option(*command, *option);
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      fmt::print("complete -c raydex -n __fish_use_subcommand -l {} -d {}\n", name,
                 in_quotes(option->get_description()));
  }
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes commands");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "The shell")->required()->type_name("bash|zsh|fish");
  command->footer(
      "Examples:\n"
      "  source <(raydex completion bash)\n"
      "  raydex completion zsh > ~/.zfunc/_raydex\n"
      "  raydex completion fish > ~/.config/fish/completions/raydex.fish");
  command->callback([&app, shell] {
    if (*shell == "bash") {
      print_bash(app);
    } else if (*shell == "zsh") {
      print_zsh(app);
    } else if (*shell == "fish") {
      print_fish(app);
    } else {
      const std::string known[] = {"bash", "zsh", "fish"};
      io::refuse_word("shell", *shell, known);
    }
  });
}

}  // namespace raydex::cli
