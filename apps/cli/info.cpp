// SPDX-License-Identifier: Apache-2.0
// `raydex info`: what is in the file of an index.
#include "apps/cli/info.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/cli/kept_key.hpp"
#include "io/output_file.hpp"
#include "lab/json_option.hpp"
#include "raydex/capability.hpp"
#include "raydex/index_file.hpp"
#include "raydex/session.hpp"

namespace raydex::cli {

namespace {

struct info_arguments {
  std::string file, json;
  bool no_verify = false;
};

void verify_file(const std::string& path, const index_file_info& of) {
  const session on(backend::cpu);
  if (of.is_minima) {
    load_rmq(backend::cpu, on, path);
  } else if (of.is_aggregate) {
    load_aggregate(backend::cpu, on, path);
  } else if (of.is_asof_join) {
    load_asof_join(backend::cpu, on, path);
  } else {
    load(backend::cpu, on, path);
  }
}

nlohmann::ordered_json facts_of_file(const info_arguments& arguments) {
  const index_file_info found = inspect(arguments.file);
  const std::string types =
      found.is_asof_join ? to_string(found.key) : read_note(arguments.file, found).types();
  if (!arguments.no_verify) verify_file(arguments.file, found);
  nlohmann::ordered_json facts{{"structure", found.structure}, {"options", found.options}};
  if (found.is_minima) {
    facts.update({{"value", types}, {"values", found.n}});
  } else {
    facts.update({{found.is_asof_join ? "times" : "key", types},
                  {"rows", found.n},
                  {"entries", found.entries},
                  {"max_row_id", found.max_row_id},
                  {"row_id_bits", found.row_id_bits}});
    if (found.is_aggregate) facts["aggregate"] = true;
  }
  facts.update(
      {{"bytes", found.bytes}, {"version", found.version}, {"verified", !arguments.no_verify}});
  return facts;
}

void print_facts(const nlohmann::ordered_json& facts) {
  for (const auto& [name, fact] : facts.items()) {
    const std::string text = fact.is_string()    ? fact.get<std::string>()
                             : fact.is_boolean() ? (fact.get<bool>() ? "yes" : "no")
                                                 : fact.dump();
    fmt::print("{}\n", text.empty() ? name : fmt::format("{:<12} {}", name, text));
  }
}

}  // namespace

void add_info_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("info", "Say what is in the file of an index, and verify it");
  const auto arguments = std::make_shared<info_arguments>();
  command
      ->add_option("FILE", arguments->file, "A file of `raydex query --save-index`, or of Python")
      ->required();
  command->add_flag("--no-verify", arguments->no_verify,
                    "Read what the file says of itself alone, whatever its size");
  bench::add_json_option(*command, arguments->json, "Write JSON instead");
  command->footer(
      "A file of `raydex rmq --save-index` has `values` of an array; those of Python may have an\n"
      "`aggregate` over the index, or the build side of as-of joins: `asof_join`.\n"
      "A file is verified as for --index: by its checksums, and by a look at its entries. One "
      "that\n"
      "was changed or cut off is refused, with the part that is wrong. `rows` are those of the\n"
      "column, `entries` those that are not missing, and what edits have added.\n"
      "\n"
      "Examples:\n"
      "  raydex info prices.index\n"
      "  raydex info --no-verify prices.index\n"
      "  raydex info prices.index --json | jq .entries");
  command->callback([arguments] {
    const nlohmann::ordered_json facts = facts_of_file(*arguments);
    if (arguments->json.empty()) {
      print_facts(facts);
    } else {
      io::write_text(
          arguments->json,
          facts.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    }
  });
}

}  // namespace raydex::cli
