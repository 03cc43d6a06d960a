// SPDX-License-Identifier: Apache-2.0
// A structure as it is found by its name.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "raydex/estimate.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/option_table.hpp"
#include "src/interface/searchable.hpp"

namespace raydex {

// How each build of a structure by its own function begins: its arguments and options are checked
// and described.
template <class Options, std::size_t N, class... Arguments>
auto checked(const option_table<Options, N>& table, const Options& options, backend where,
             const context& on, const Arguments&... arguments) {
  check_build(table.facts, where, on, arguments...);
  check(table, options);
  auto info = info_of(table.facts, where, arguments...);
  if constexpr (requires { info.row_ids; }) check_narrow(info);
  if constexpr (requires { info.extreme; }) info.extreme = options.extreme;
  info.options = describe(table, options);
  return info;
}

// Refuse a backend that does not offer a structure, and keys that it does not take.
void check_offered(const structure_facts& facts, backend where);
void check_taken(const structure_facts& facts, key_format keys);
// Refuses values that are no numbers.
void check_values_of_minima(key_format values);

// Of a structure for keys or for minima: it has the one builder or the other.
struct structure_entry {
  structure_facts facts;
  std::vector<option_info> (*options)();
  std::unique_ptr<index> (*build_keys)(backend, const context&, const column&,
                                       const std::optional<column>&, const option_map&) = nullptr;
  memory_estimate (*estimate_keys)(backend, const column_facts&, const option_map&) = nullptr;
  std::unique_ptr<rmq> (*build_minima)(backend, const context&, const column&,
                                       const option_map&) = nullptr;
  rmq_estimate (*estimate_minima)(backend, std::uint64_t, key_format, const option_map&) = nullptr;
};

// Makes an index of 64-bit row ids; `make` builds a structure over codes.
RAYDEX_INTERNAL std::unique_ptr<index> build_wide(const structure_facts& facts, backend where,
                                                  const context& on, const column& keys,
                                                  const std::optional<column>& row_ids,
                                                  const index_maker& make);

// Builds with options by name, as `Table` has them.
template <const auto& Table, auto Build>
std::unique_ptr<index> build_keys(backend where, const context& on, const column& keys,
                                  const std::optional<column>& row_ids, const option_map& options) {
  const auto parsed = parse(Table, options);
  if (are_narrow(keys, row_ids)) return Build(where, on, keys, row_ids, parsed);
  return build_wide(Table.facts, where, on, keys, row_ids,
                    [where, parsed](const context& own, const column& codes) {
                      return std::unique_ptr<index>(Build(where, own, codes, std::nullopt, parsed));
                    });
}
// Bytes of an index with row ids of 32 bits, by the structure's own formula.
template <const auto& Table, auto Estimate>
memory_estimate estimate_keys(backend where, const column_facts& keys, const option_map& options) {
  const auto parsed = parse(Table, options);
  check(Table, parsed);
  return Estimate(where, keys, parsed);
}
template <const auto& Table, auto Build>
std::unique_ptr<rmq> build_minima(backend where, const context& on, const column& values,
                                  const option_map& options) {
  return Build(where, on, values, parse(Table, options));
}

// Bytes beside an array of `n` values, by the structure's own formula.
template <const auto& Table, auto Estimate>
rmq_estimate estimate_minima(backend where, std::uint64_t n, key_format value,
                             const option_map& options) {
  const auto parsed = parse(Table, options);
  check(Table, parsed);
  rmq_estimate made = Estimate(where, n, value, parsed);
  made.structure = Table.facts.name;
  return made;
}

template <const auto& Table, auto Build, auto Estimate>
constexpr structure_entry for_keys{.facts = Table.facts,
                                   .options = [] { return list_options(Table); },
                                   .build_keys = build_keys<Table, Build>,
                                   .estimate_keys = estimate_keys<Table, Estimate>};
template <const auto& Table, auto Build, auto Estimate>
constexpr structure_entry for_minima{.facts = Table.facts,
                                     .options = [] { return list_options(Table); },
                                     .build_minima = build_minima<Table, Build>,
                                     .estimate_minima = estimate_minima<Table, Estimate>};

}  // namespace raydex
