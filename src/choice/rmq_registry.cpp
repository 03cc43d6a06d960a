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
#include "src/options/minima.hpp"

namespace raydex {

namespace {

constexpr std::array all_values{key_type::uint32, key_type::uint64,  key_type::int32,
                                key_type::int64,  key_type::float32, key_type::float64};

// Builds with options by name, as `Table` has them.
template <const auto& Table, auto Build>
std::unique_ptr<rmq> build_by_name(std::string_view structure, backend where,
                                   const context& where_to, const column& values,
                                   const option_map& options) {
  return Build(where, where_to, values, parse(structure, Table, options));
}

struct rmq_entry {
  std::string_view name;
  std::vector<backend> backends;
  bool updates;
  std::vector<option_info> options;
  std::unique_ptr<rmq> (*build)(std::string_view, backend, const context&, const column&,
                                const option_map&);
};

const std::vector<rmq_entry>& structures() {
  static const std::vector<rmq_entry> all{
      {.name = "rmq_cover",
       .backends = {backend::cpu, backend::cuda},
       .updates = true,
       .options = list_options(rmq_cover_table),
       .build = build_by_name<rmq_cover_table, build_rmq_cover>},
      {.name = "rmq_hierarchy",
       .backends = {backend::cpu, backend::cuda, backend::optix},
       .updates = true,
       .options = list_options(rmq_hierarchy_table),
       .build = build_by_name<rmq_hierarchy_table, build_rmq_hierarchy>},
      {.name = "rmq_lca",
       .backends = {backend::cpu, backend::cuda},
       .updates = false,
       .options = list_options(rmq_lca_table),
       .build = build_by_name<rmq_lca_table, build_rmq_lca>},
      {.name = "rmq_rx",
       .backends = {backend::cpu, backend::optix},
       .updates = false,
       .options = list_options(rmq_rx_table),
       .build = build_by_name<rmq_rx_table, build_rmq_rx>},
      {.name = "rmq_scan",
       .backends = {backend::cpu, backend::cuda},
       .updates = true,
       .options = list_options(rmq_scan_table),
       .build = build_by_name<rmq_scan_table, build_rmq_scan>},
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

std::vector<option_info> rmq_options_of(std::string_view structure) {
  return find_structure(structure).options;
}

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
  return entry.build(entry.name, where, where_to, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
