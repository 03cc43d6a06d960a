// SPDX-License-Identifier: Apache-2.0
// `raydex advise`: which structure to build for a use case, and why.
#include "apps/cli/advise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/backend_choice.hpp"
#include "io/known_words.hpp"
#include "io/output_file.hpp"
#include "io/sizes.hpp"
#include "io/speed_cache.hpp"
#include "lab/json_option.hpp"
#include "raydex/advise.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

struct advise_arguments {
  std::string keys_count, key, span, ranges, memory_limit;
  std::string backend = "auto";
  bool ordered = false;
  bool sorted_probes = false;
  bool updates = false;
  std::string json;
};

constexpr const char* key_type_names =
    "uint32|uint64|int32|int64|float|double|bytes1|bytes2|bytes3|bytes4|bytes5|bytes6|bytes7|"
    "bytes8";

key_format parse_key(const std::string& name) {
  std::vector<key_format> all{format_of<std::uint32_t>, format_of<std::uint64_t>,
                              format_of<std::int32_t>,  format_of<std::int64_t>,
                              format_of<float>,         format_of<double>};
  for (std::uint8_t width = 1; width <= 8; ++width)
    all.push_back(key_format::bytes(width));
  std::vector<std::string> known;
  for (const key_format format : all) {
    if (to_string(format) == name) return format;
    known.push_back(to_string(format));
  }
  io::refuse_word("--key", name, known);
}

// A number whose absence says something else than 0.
std::uint64_t parse_positive(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  const std::uint64_t number = io::parse_size(option, text);
  if (number == 0) throw invalid_argument(fmt::format("{}: 0: must be at least 1", option));
  return number;
}

use_case parse(const advise_arguments& arguments) {
  return {
      .n = io::parse_size("--keys-count", arguments.keys_count),
      .key = parse_key(arguments.key),
      .where = io::choose_backend(arguments.backend, io::key_offers(), "auto", arguments.updates),
      .ordered = arguments.ordered,
      .range_hits = parse_positive("--ranges", arguments.ranges),
      .sorted_probes = arguments.sorted_probes,
      .updates = arguments.updates,
      .memory_limit = parse_positive("--memory-limit", arguments.memory_limit),
      .span = parse_positive("--span", arguments.span)};
}

// Of a backend that is not on this machine no measurements can be kept here.
io::known_speeds speeds_on(backend where) {
  if (!why_unavailable(where).empty()) return {speed_table::built_in(), {}, {}};
  return io::load_speeds(where, session(where).device().name);
}

std::string to_json(const use_case& use, const advice& advised, const io::known_speeds& known) {
  const nlohmann::ordered_json object{
      {"structure", advised.structure},
      {"options", nlohmann::ordered_json(advised.options)},
      {"backend", to_string(use.where)},
      {"reason", advised.reason},
      {"lookups_per_s", advised.lookups_per_s},
      {"resident_bytes", advised.resident_bytes},
      {"measurements", known.path.empty() ? "built-in" : known.path}};
  return object.dump(2) + "\n";
}

void print_text(const use_case& use, const advice& advised, const io::known_speeds& known) {
  std::string options;
  for (const auto& [name, value] : advised.options)
    options += fmt::format(" --option {}={}", name, value);
  fmt::print("--structure {}{} --backend {}\n", advised.structure, options, to_string(use.where));
  fmt::print("why: {}\n", advised.reason);
  if (known.path.empty()) {
    fmt::print("measurements: built-in; `raydex tune --backend {}` measures this machine\n",
               to_string(use.where));
  } else {
    fmt::print("measurements: {}\n", known.path);
  }
}

void run(const advise_arguments& arguments) {
  const use_case use = parse(arguments);
  const io::known_speeds known = speeds_on(use.where);
  const advice advised = advise(use, known.table);
  io::warn(known);
  if (!arguments.json.empty()) {
    io::write_text(arguments.json, to_json(use, advised, known));
  } else {
    print_text(use, advised, known);
  }
}

}  // namespace

void add_advise_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("advise", "Name the structure for a use case, and why");
  const auto arguments = std::make_shared<advise_arguments>();
  command
      ->add_option("--keys-count", arguments->keys_count,
                   "Rows of the column, as 1000, 64M or 2^26")
      ->required()
      ->type_name("N");
  command->add_option("--key", arguments->key, "What its keys are")
      ->required()
      ->type_name(key_type_names);
  command
      ->add_option("--span", arguments->span,
                   "Of integers: how many there are from the smallest to the largest key; without "
                   "it, keys may lie anywhere")
      ->type_name("N");
  command
      ->add_option("--ranges", arguments->ranges, "Probes are ranges that match so many rows each")
      ->type_name("HITS");
  command->add_flag("--ordered", arguments->ordered,
                    "Ranges, or rows in the order of their keys, are needed at times");
  command->add_flag("--sorted-probes", arguments->sorted_probes, "Probes come in ascending order");
  command->add_flag("--updates", arguments->updates,
                    "Keys are inserted or deleted after the build");
  command->add_option("--memory-limit", arguments->memory_limit, "What the index may hold")
      ->type_name("BYTES");
  command->add_option("--backend", arguments->backend, "Who does the work; need not be here")
      ->type_name("cpu|cuda|optix|auto")
      ->capture_default_str();
  bench::add_json_option(*command, arguments->json, "Write a JSON object instead");
  command->footer(
      "Decided by what `raydex tune` measured on this machine, else by built-in measurements.\n"
      "`--structure auto` of query and bench decides the same way.\n"
      "\n"
      "Examples:\n"
      "  raydex advise --keys-count 2^26 --key uint32\n"
      "  raydex advise --keys-count 2^26 --key int64 --span 1e8\n"
      "  raydex advise --keys-count 50000000 --key double --ranges 100 --memory-limit 1GiB --json\n"
      "\n" +
      std::string(io::sizes_help));
  command->callback([arguments] { run(*arguments); });
}

}  // namespace raydex::cli
