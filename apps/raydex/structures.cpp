// SPDX-License-Identifier: Apache-2.0
// `raydex structures`: what this build and this machine can do, as a table or as JSON.
#include "structures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"

namespace raydex::cli {

namespace {

std::vector<std::string> key_names(const capability& what) {
  std::vector<std::string> names;
  for (const key_type type : what.keys)
    names.push_back(type == key_type::bytes ? "bytes" : to_string(key_format{type, 0}));
  return names;
}

void print_json(const std::vector<capability>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const capability& what : all) {
    list.push_back({{"structure", what.structure},
                    {"backend", to_string(what.where)},
                    {"available", what.available},
                    {"reason", what.reason},
                    {"points", what.points},
                    {"ranges", what.ranges},
                    {"duplicates", what.duplicates},
                    {"updates", what.updates},
                    {"keys", key_names(what)}});
  }
  fmt::print("{}\n", list.dump(2));
}

void print_table(const std::vector<capability>& all) {
  using row = std::array<std::string, 8>;
  const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
  std::vector<row> table{
      {"structure", "backend", "available", "points", "ranges", "duplicates", "updates", "keys"}};
  std::map<std::string_view, std::string> reasons;
  for (const capability& what : all) {
    table.push_back({what.structure, std::string(to_string(what.where)), yes_no(what.available),
                     yes_no(what.points), yes_no(what.ranges), yes_no(what.duplicates),
                     yes_no(what.updates), fmt::format("{}", fmt::join(key_names(what), " "))});
    if (!what.available) reasons[to_string(what.where)] = what.reason;
  }
  std::array<std::size_t, std::tuple_size_v<row>> widths{};
  for (const row& cells : table) {
    for (std::size_t i = 0; i + 1 < cells.size(); ++i)
      widths.at(i) = std::max(widths.at(i), cells.at(i).size());
  }
  for (const row& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      fmt::print("{}{:<{}}", i == 0 ? "" : "  ", cells.at(i), widths.at(i));
    fmt::print("\n");
  }
  for (const auto& [name, reason] : reasons)
    fmt::print("\n{} is not available: {}\n", name, reason);
}

}  // namespace

void add_structures_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("structures", "List the structures and what each can do");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print a JSON list");
  command->footer(
      "Examples:\n"
      "  raydex structures\n"
      "  raydex structures --json | jq '.[] | select(.available) | .structure'");
  command->callback([as_json] {
    if (*as_json) {
      print_json(capabilities());
    } else {
      print_table(capabilities());
    }
  });
}

}  // namespace raydex::cli
