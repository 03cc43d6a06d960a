// SPDX-License-Identifier: Apache-2.0
// All structures by name: what each can do, its options, and building one chosen at run time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "raydex/advise.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/options/lookups.hpp"
#include "src/options/minima.hpp"
#include "src/options/rays.hpp"

namespace raydex {

namespace {

// Entries of a slice of an index with 64-bit row ids: places of all structures in it fit 32 bits.
constexpr std::uint64_t most_of_slice = std::uint64_t{1} << 31;

// Of a structure for keys or for minima: it has the one builder or the other.
struct structure_entry {
  structure_facts facts;
  std::vector<option_info> (*options)();
  std::unique_ptr<index> (*build_keys)(backend, const context&, const column&,
                                       const std::optional<column>&, const option_map&) = nullptr;
  std::unique_ptr<rmq> (*build_minima)(backend, const context&, const column&,
                                       const option_map&) = nullptr;
};

// Builds with options by name, as `Table` has them.
template <const auto& Table, auto Build>
std::unique_ptr<index> build_keys(backend where, const context& on, const column& keys,
                                  const std::optional<column>& row_ids, const option_map& options) {
  const auto parsed = parse(Table, options);
  const index_info info = info_of(Table.facts, where, keys, row_ids);
  if (info.row_ids == row_id_type::uint32) return Build(where, on, keys, row_ids, parsed);
  check_build(Table.facts, where, on, keys, row_ids);
  const auto make = [where, parsed](const context& own, const column& codes) {
    return std::unique_ptr<index>(Build(where, own, codes, std::nullopt, parsed));
  };
  return builder_on(where, &backend_table::build_wide)(info, Table.facts.updates, on, keys, row_ids,
                                                       make, most_of_slice);
}
template <const auto& Table, auto Build>
std::unique_ptr<rmq> build_minima(backend where, const context& on, const column& values,
                                  const option_map& options) {
  return Build(where, on, values, parse(Table, options));
}

template <const auto& Table, auto Build>
constexpr structure_entry for_keys{.facts = Table.facts,
                                   .options = [] { return list_options(Table); },
                                   .build_keys = build_keys<Table, Build>};
template <const auto& Table, auto Build>
constexpr structure_entry for_minima{.facts = Table.facts,
                                     .options = [] { return list_options(Table); },
                                     .build_minima = build_minima<Table, Build>};

constexpr std::array structures{for_keys<sorted_array_table, build_sorted_array>,
                                for_keys<eytzinger_table, build_eytzinger>,
                                for_keys<pivot_tree_table, build_pivot_tree>,
                                for_keys<btree_table, build_btree>,
                                for_keys<direct_table, build_direct>,
                                for_keys<hash_open_table, build_hash_open>,
                                for_keys<hash_bucket_table, build_hash_bucket>,
                                for_keys<rx_table, build_rx>,
                                for_keys<cgrx_table, build_cgrx>,
                                for_minima<rmq_cover_table, build_rmq_cover>,
                                for_minima<rmq_hierarchy_table, build_rmq_hierarchy>,
                                for_minima<rmq_lca_table, build_rmq_lca>,
                                for_minima<rmq_rx_table, build_rmq_rx>,
                                for_minima<rmq_scan_table, build_rmq_scan>};

bool is_for_keys(const structure_entry& entry) {
  return entry.build_keys != nullptr;
}
bool is_for_minima(const structure_entry& entry) {
  return entry.build_minima != nullptr;
}
bool is_any(const structure_entry& /*entry*/) {
  return true;
}

// The structure of that name, of those asked for. `others`: what else is legal, for the message.
const structure_entry& find_structure(std::string_view name, bool (*asked)(const structure_entry&),
                                      std::vector<std::string_view> others) {
  for (const structure_entry& entry : structures) {
    if (!asked(entry)) continue;
    if (entry.facts.name == name) return entry;
    others.push_back(entry.facts.name);
  }
  throw invalid_argument(
      fmt::format("structure: '{}' is not one of {}", name, fmt::join(others, ", ")));
}

// Calls `add(facts, backend, reason)` for each structure asked for and each backend that offers it.
template <class Add>
void for_each_offer(bool (*asked)(const structure_entry&), Add&& add) {
  for (const structure_entry& entry : structures) {
    if (!asked(entry)) continue;
    for (const backend where : entry.facts.backends)
      add(entry.facts, where, why_unavailable(where));
  }
}

}  // namespace

std::vector<option_info> options_of(std::string_view structure) try {
  return find_structure(structure, is_any, {}).options();
} catch (...) {
  rethrow_as_error();
}

std::vector<capability> capabilities() try {
  std::vector<capability> all;
  for_each_offer(is_for_keys,
                 [&](const structure_facts& of, backend where, const std::string& reason) {
                   all.push_back({.structure = std::string(of.name),
                                  .where = where,
                                  .available = reason.empty(),
                                  .reason = reason,
                                  .points = true,
                                  .ranges = of.ranges,
                                  .duplicates = true,
                                  .updates = of.updates,
                                  .keys = {of.keys.begin(), of.keys.end()},
                                  .sparse = of.sparse});
                 });
  return all;
} catch (...) {
  rethrow_as_error();
}

std::vector<rmq_capability> rmq_capabilities() try {
  std::vector<rmq_capability> all;
  for_each_offer(is_for_minima,
                 [&](const structure_facts& of, backend where, const std::string& reason) {
                   all.push_back({.structure = std::string(of.name),
                                  .where = where,
                                  .available = reason.empty(),
                                  .reason = reason,
                                  .updates = of.updates,
                                  .values = {number_keys.begin(), number_keys.end()}});
                 });
  return all;
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<index> build(std::string_view structure, backend where, const context& on,
                             const column& keys, const std::optional<column>& row_ids,
                             const option_map& options) try {
  option_map left = options;
  advice advised;
  if (structure == "auto") {
    check_format("keys", keys.format);
    // Both kinds of probes may come: nobody has said which.
    advised = advise({.n = keys.size, .key = keys.format, .where = where, .ordered = true});
    left.merge(advised.options);
    structure = advised.structure;
  }
  return find_structure(structure, is_for_keys, {"auto"})
      .build_keys(where, on, keys, row_ids, left);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<rmq> build_rmq(std::string_view structure, backend where, const context& on,
                               const column& values, const option_map& options) try {
  if (structure == "auto") structure = "rmq_cover";
  return find_structure(structure, is_for_minima, {"auto"})
      .build_minima(where, on, values, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
