// SPDX-License-Identifier: Apache-2.0
// `raydex structures`: what this build and this machine can do, as a table or as JSON.
#include "apps/cli/structures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "io/known_words.hpp"
#include "io/output_file.hpp"
#include "lab/json_option.hpp"
#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/estimate.hpp"
#include "raydex/rmq.hpp"

namespace raydex::cli {

namespace {

// A structure on a backend, be it an index over keys or one for minima of an array.
struct offer {
  std::string structure;
  backend where;
  bool available;
  std::string reason;
  bool points, ranges, minima, duplicates, updates;
  std::vector<key_type> keys;
};

std::vector<offer> offers() {
  std::vector<offer> all;
  for (const capability& one : capabilities()) {
    all.push_back({.structure = one.structure,
                   .where = one.where,
                   .available = one.available,
                   .reason = one.reason,
                   .points = one.points,
                   .ranges = one.ranges,
                   .minima = false,
                   .duplicates = one.duplicates,
                   .updates = one.updates,
                   .keys = one.keys});
  }
  for (const rmq_capability& one : rmq_capabilities()) {
    all.push_back({.structure = one.structure,
                   .where = one.where,
                   .available = one.available,
                   .reason = one.reason,
                   .points = false,
                   .ranges = false,
                   .minima = true,
                   .duplicates = true,
                   .updates = one.updates,
                   .keys = one.values});
  }
  return all;
}

std::vector<std::string> structure_names() {
  std::vector<std::string> names;
  for (const offer& one : offers()) {
    if (names.empty() || names.back() != one.structure) names.push_back(one.structure);
  }
  return names;
}

bool is_structure(const std::string& name) {
  const std::vector<std::string> names = structure_names();
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> key_names(const offer& one) {
  std::vector<std::string> names;
  for (const key_type type : one.keys)
    names.push_back(type == key_type::bytes ? "bytes" : to_string(key_format(type)));
  return names;
}

std::string to_json(const std::vector<offer>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const offer& one : all) {
    list.push_back({{"structure", one.structure},
                    {"backend", to_string(one.where)},
                    {"available", one.available},
                    {"reason", one.reason},
                    {"points", one.points},
                    {"ranges", one.ranges},
                    {"minima", one.minima},
                    {"duplicates", one.duplicates},
                    {"updates", one.updates},
                    {"keys", key_names(one)}});
  }
  return list.dump(2) + "\n";
}

void print_table(const std::vector<offer>& all) {
  using row = std::array<std::string, 9>;
  const auto yes_no = [](bool yes) { return yes ? "yes" : "no"; };
  std::vector<row> table{{"structure", "backend", "available", "points", "ranges", "minima",
                          "duplicates", "updates", "keys"}};
  std::map<std::string_view, std::string> reasons;
  for (const offer& one : all) {
    table.push_back({one.structure, std::string(to_string(one.where)), yes_no(one.available),
                     yes_no(one.points), yes_no(one.ranges), yes_no(one.minima),
                     yes_no(one.duplicates), yes_no(one.updates),
                     fmt::format("{}", fmt::join(key_names(one), " "))});
    if (!one.available) reasons[to_string(one.where)] = one.reason;
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

// The options of a structure; those that only experiments of papers ask for stand apart.
void print_options(const std::string& structure) {
  const std::vector<option_info> all = options_of(structure);
  std::size_t widest = 0;
  for (const option_info& option : all)
    widest = std::max(widest, option.name.size() + 1 + option.values.size());
  for (const bool of_a_paper : {false, true}) {
    bool first = true;
    for (const option_info& option : all) {
      if (option.of_a_paper != of_a_paper) continue;
      if (first && of_a_paper) fmt::print("\nFor experiments of papers:\n");
      first = false;
      fmt::print("{:<{}}  {}{}{}\n", fmt::format("{}={}", option.name, option.values), widest,
                 option.meaning, option.usual.empty() ? "" : fmt::format(" [{}]", option.usual),
                 option.with.empty() ? "" : fmt::format(", with {}", option.with));
    }
  }
}

constexpr std::uint64_t rows_of_estimates = 10'000'000;

// What two builds hold, and take at their peaks, with so many digits.
template <class Estimate>
void print_builds(const Estimate& narrow, const Estimate& wide, int digits) {
  constexpr double each = rows_of_estimates;
  const auto print = [&](const char* what, std::uint64_t of_narrow, std::uint64_t of_wide) {
    fmt::print("{:<21}{:6.{}f}{:6.{}f}\n", what, static_cast<double>(of_narrow) / each, digits,
               static_cast<double>(of_wide) / each, digits);
  };
  print("resident", narrow.resident_bytes, wide.resident_bytes);
  print("at the build's peak", narrow.build_peak_bytes, wide.build_peak_bytes);
}

// What an index takes on the CPU, of keys of 32 and of 64 bits.
void print_bytes(const std::string& structure) {
  const auto bytes_of = [&](key_type type) {
    return estimate(
        structure, backend::cpu,
        {.n = rows_of_estimates, .key = key_format(type), .different = rows_of_estimates});
  };
  const memory_estimate narrow = bytes_of(key_type::uint32);
  fmt::print("\nBytes a row, at most, of keys of 32 and of 64 bits that all differ:\n");
  print_builds(narrow, bytes_of(key_type::uint64), 1);
  const probe_bytes& probe = narrow.per_probe;
  fmt::print(
      "\nBytes that calls allocate for each probe: first {}, contains {}, count {}, sum {}, rows "
      "{} and "
      "{} a "
      "match",
      probe.first, probe.contains, probe.count, probe.sum, probe.rows, probe.match);
  if (probe.closest != 0)
    fmt::print(", rank {}, predecessor and successor {}", probe.rank, probe.closest);
  fmt::print("\n");
}

// What a structure for minima takes on the CPU, of values of 32 and of 64 bits.
void print_bytes_of_minima(const std::string& structure) {
  const auto bytes_of = [&](key_type type) {
    return estimate_rmq(structure, backend::cpu, rows_of_estimates, key_format(type));
  };
  const rmq_estimate narrow = bytes_of(key_type::uint32);
  fmt::print("\nBytes a value, at most, beside arrays of values of 32 and of 64 bits:\n");
  print_builds(narrow, bytes_of(key_type::uint64), 2);
  fmt::print("\nBytes that calls allocate for each range: minimum and maximum {}, position {}\n",
             narrow.per_probe.extreme, narrow.per_probe.position);
}

bool is_for_keys(const std::string& structure) {
  return std::ranges::any_of(capabilities(),
                             [&](const capability& one) { return one.structure == structure; });
}

std::string options_to_json(const std::string& structure) {
  auto list = nlohmann::ordered_json::array();
  for (const option_info& option : options_of(structure)) {
    list.push_back({{"option", option.name},
                    {"values", option.values},
                    {"usual", option.usual},
                    {"meaning", option.meaning},
                    {"with", option.with},
                    {"of_a_paper", option.of_a_paper},
                    {"worth_trying", option.worth_trying}});
  }
  return list.dump(2) + "\n";
}

}  // namespace

void add_structures_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("structures", "List the structures and what each can do");
  const auto json = std::make_shared<std::string>();
  const auto structure = std::make_shared<std::string>();
  command->add_option("STRUCTURE", *structure,
                      "List the options of this structure, and what it takes");
  bench::add_json_option(*command, *json, "Write a JSON list instead")
      ->check([](const std::string& file) {
        return is_structure(file)
                   ? "a structure comes before --json: raydex structures " + file + " --json"
                   : std::string();
      });
  command->footer(
      "Points and ranges are answered by `raydex query`, minima by `raydex rmq`; there, keys are\n"
      "the types of values, and duplicates values that are equal.\n"
      "\n"
      "Examples:\n"
      "  raydex structures\n"
      "  raydex structures pivot_tree\n"
      "  raydex structures --json structures.json\n"
      "  raydex structures --json | jq '.[] | select(.available and .points) | .structure'");
  command->callback([json, structure] {
    if (!structure->empty()) io::check_structure_name(*structure, structure_names());
    if (!json->empty()) {
      io::write_text(*json, structure->empty() ? to_json(offers()) : options_to_json(*structure));
    } else if (structure->empty()) {
      print_table(offers());
    } else {
      print_options(*structure);
      is_for_keys(*structure) ? print_bytes(*structure) : print_bytes_of_minima(*structure);
    }
  });
}

}  // namespace raydex::cli
