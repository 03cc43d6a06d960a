// SPDX-License-Identifier: Apache-2.0
// All structures for minima by name: what there is, and building one chosen at run time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/rmq.hpp"
#include "raydex/rmq_cover.hpp"
#include "raydex/rmq_hierarchy.hpp"
#include "raydex/rmq_lca.hpp"
#include "raydex/rmq_rx.hpp"
#include "raydex/rmq_scan.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/take_options.hpp"

namespace raydex {

namespace {

constexpr std::array all_values{key_type::uint32, key_type::uint64,  key_type::int32,
                                key_type::int64,  key_type::float32, key_type::float64};

constexpr std::string_view ties_option = "ties=leftmost|rightmost";

rmq_ties take_ties(option_map& options) {
  return take_choice(options, "ties",
                     std::array{word<rmq_ties>{"leftmost", rmq_ties::leftmost},
                                word<rmq_ties>{"rightmost", rmq_ties::rightmost}})
      .value_or(rmq_ties::leftmost);
}

std::unique_ptr<rmq> build_cover_by_name(backend where, const context& where_to,
                                         const column& values, option_map& options) {
  rmq_cover_options parsed;
  parsed.memory = take_choice(options, "memory",
                              std::array{word<rmq_memory>{"fast", rmq_memory::fast},
                                         word<rmq_memory>{"small", rmq_memory::small}})
                      .value_or(parsed.memory);
  parsed.ties = take_ties(options);
  if (!options.empty()) return nullptr;
  return build_rmq_cover(where, where_to, values, parsed);
}

std::unique_ptr<rmq> build_lca_by_name(backend where, const context& where_to, const column& values,
                                       option_map& options) {
  rmq_lca_options parsed;
  parsed.ties = take_ties(options);
  if (!options.empty()) return nullptr;
  return build_rmq_lca(where, where_to, values, parsed);
}

std::unique_ptr<rmq> build_hierarchy_by_name(backend where, const context& where_to,
                                             const column& values, option_map& options) {
  rmq_hierarchy_options parsed;
  parsed.chunk = take_number_or(options, "chunk", "auto", "2 to 1024, powers of 2");
  parsed.cutoff = take_number_or(options, "cutoff", "auto", "2 to 4294967295");
  parsed.top = take_choice(options, "top",
                           std::array{word<hierarchy_top>{"auto", hierarchy_top::automatic},
                                      word<hierarchy_top>{"scan", hierarchy_top::scan},
                                      word<hierarchy_top>{"rays", hierarchy_top::rays}})
                   .value_or(parsed.top);
  parsed.load =
      take_choice(options, "load",
                  std::array{word<hierarchy_load>{"auto", hierarchy_load::automatic},
                             word<hierarchy_load>{"vector", hierarchy_load::vector},
                             word<hierarchy_load>{"coalesced", hierarchy_load::coalesced}})
          .value_or(parsed.load);
  parsed.group = take_number_or(options, "group", "auto", "1 to 32, powers of 2");
  parsed.assign = take_choice(options, "assign",
                              std::array{word<hierarchy_assign>{"queue", hierarchy_assign::queue},
                                         word<hierarchy_assign>{"multi", hierarchy_assign::multi}})
                      .value_or(parsed.assign);
  parsed.ties = take_ties(options);
  if (!options.empty()) return nullptr;
  return build_rmq_hierarchy(where, where_to, values, parsed);
}

std::unique_ptr<rmq> build_rx_by_name(backend where, const context& where_to, const column& values,
                                      option_map& options) {
  rmq_rx_options parsed;
  parsed.ties = take_ties(options);
  parsed.block = take_number(options, "block", "32, 64, .. 4096").value_or(parsed.block);
  if (!take_word(options, "compact", "auto")) {
    parsed.compact = take_choice(options, "compact",
                                 std::array{word<bool>{"on", true}, word<bool>{"off", false}});
  }
  parsed.fast_build = take_choice(options, "build",
                                  std::array{word<bool>{"fast", true}, word<bool>{"trace", false}})
                          .value_or(parsed.fast_build);
  if (!options.empty()) return nullptr;
  return build_rmq_rx(where, where_to, values, parsed);
}

std::unique_ptr<rmq> build_scan_by_name(backend where, const context& where_to,
                                        const column& values, option_map& options) {
  rmq_scan_options parsed;
  parsed.ties = take_ties(options);
  if (!options.empty()) return nullptr;
  return build_rmq_scan(where, where_to, values, parsed);
}

struct rmq_entry {
  std::string_view name;
  std::vector<backend> backends;
  bool updates;
  std::string options;  // the legal ones
  // Takes the options it knows out of the map, and builds if none is left.
  std::unique_ptr<rmq> (*build)(backend, const context&, const column&, option_map&);
};

const std::vector<rmq_entry>& structures() {
  static const std::vector<rmq_entry> all{
      {.name = "rmq_cover",
       .backends = {backend::cpu, backend::cuda},
       .updates = true,
       .options = fmt::format("memory=fast|small, {}", ties_option),
       .build = build_cover_by_name},
      {.name = "rmq_hierarchy",
       .backends = {backend::cpu, backend::cuda, backend::optix},
       .updates = true,
       .options =
           fmt::format("chunk=auto|2..1024, cutoff=auto|2..4294967295, top=auto|scan|rays, "
                       "load=auto|vector|coalesced, group=auto|1..32, assign=queue|multi, {}",
                       ties_option),
       .build = build_hierarchy_by_name},
      {.name = "rmq_lca",
       .backends = {backend::cpu, backend::cuda},
       .updates = false,
       .options = std::string(ties_option),
       .build = build_lca_by_name},
      {.name = "rmq_rx",
       .backends = {backend::cpu, backend::optix},
       .updates = false,
       .options = fmt::format("{}, block=32|64|..|4096, compact=auto|on|off, build=fast|trace",
                              ties_option),
       .build = build_rx_by_name},
      {.name = "rmq_scan",
       .backends = {backend::cpu, backend::cuda},
       .updates = true,
       .options = std::string(ties_option),
       .build = build_scan_by_name},
  };
  return all;
}

const rmq_entry& find_structure(std::string_view name) {
  const auto found = std::ranges::find(structures(), name, &rmq_entry::name);
  if (found == structures().end()) {
    std::vector<std::string_view> names;
    for (const rmq_entry& entry : structures())
      names.push_back(entry.name);
    throw invalid_argument(
        fmt::format("structure: '{}' is not one of auto, {}", name, fmt::join(names, ", ")));
  }
  return *found;
}

}  // namespace

std::vector<rmq_capability> rmq_capabilities() try {
  std::vector<rmq_capability> all;
  for (const rmq_entry& entry : structures()) {
    for (const backend where : entry.backends) {
      std::string reason = why_unavailable(where);
      all.push_back({.structure = std::string(entry.name),
                     .where = where,
                     .available = reason.empty(),
                     .reason = reason,
                     .updates = entry.updates,
                     .values = {all_values.begin(), all_values.end()}});
    }
  }
  return all;
} catch (...) {
  rethrow_as_error();
}

void check_rmq_build(std::string_view structure, backend where, const context& where_to,
                     const column& values) {
  check_backend(structure, find_structure(structure).backends, where);
  check_space(where_to, where);
  check_column("values", values);
  if (values.format.type == key_type::bytes) {
    throw invalid_argument(
        fmt::format("values: they are {}; minima are of numbers", to_string(values.format)));
  }
  if (values.step() != values.format.width) {
    throw invalid_argument(
        fmt::format("values: they are {} bytes apart; they must be adjacent", values.step()));
  }
  if (values.validity != nullptr) {
    throw invalid_argument("values: some are missing; minima are of arrays without missing ones");
  }
}

rmq_info describe_rmq(std::string_view structure, backend where, const column& values) {
  rmq_info info;
  info.structure = structure;
  info.where = where;
  info.value = values.format;
  info.n = values.size;
  return info;
}

std::unique_ptr<rmq> build_rmq(std::string_view structure, backend where, const context& where_to,
                               const column& values, const option_map& options) try {
  const rmq_entry& entry = find_structure(structure == "auto" ? "rmq_cover" : structure);
  option_map left = options;
  std::unique_ptr<rmq> built = entry.build(where, where_to, values, left);
  if (!left.empty()) {
    throw invalid_argument(
        fmt::format("option '{}': {} has {}", left.begin()->first, entry.name, entry.options));
  }
  return built;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
