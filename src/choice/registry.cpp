// SPDX-License-Identifier: Apache-2.0
// All structures by name: what each can do, its options, and building one chosen at run time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raydex/advise.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "src/choice/paper_library.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/structures/main_entries.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

namespace {

bool is_for_keys(const structure_entry& entry) {
  return entry.build_keys != nullptr;
}
bool is_for_minima(const structure_entry& entry) {
  return entry.build_minima != nullptr;
}
bool is_any(const structure_entry& /*entry*/) {
  return true;
}

using structure_list = std::span<const structure_entry* const>;

structure_list of_papers() {
  const paper_library* const found = find_papers();
  return found == nullptr ? structure_list() : found->structures;
}

// The structure of that name, of those that `applies` takes. `others`: what else is legal, for the
// message.
const structure_entry& find_structure(std::string_view name,
                                      bool (*applies)(const structure_entry&),
                                      std::vector<std::string_view> others) {
  const auto find_in = [&](structure_list all) -> const structure_entry* {
    for (const structure_entry* const entry : all) {
      if (!applies(*entry)) continue;
      if (entry->facts.name == name) return entry;
      others.push_back(entry->facts.name);
    }
    return nullptr;
  };
  if (const auto* const found = find_in(main_entries)) return *found;
  if (const auto* const found = find_in(of_papers())) return *found;
  if (std::ranges::find(in_papers, name) != in_papers.end()) papers_for(name);
  throw invalid_argument(
      fmt::format("structure: '{}' is not one of {}", name, fmt::join(others, ", ")));
}

// Calls `add(facts, backend, reason)` for each such structure and each backend that offers it.
template <class Add>
void for_each_offer(structure_list all, bool (*applies)(const structure_entry&), Add&& add) {
  for (const structure_entry* const entry : all) {
    if (!applies(*entry)) continue;
    for (const backend where : entry->facts.backends)
      add(entry->facts, where, why_unavailable(where));
  }
}

std::vector<capability> capabilities_of(std::initializer_list<structure_list> lists) {
  std::vector<capability> all;
  for (const structure_list& list : lists) {
    for_each_offer(list, is_for_keys,
                   [&](const structure_facts& facts, backend where, const std::string& reason) {
                     all.push_back({.structure = std::string(facts.name),
                                    .where = where,
                                    .available = reason.empty(),
                                    .reason = reason,
                                    .points = true,
                                    .ranges = facts.ranges,
                                    .duplicates = true,
                                    .updates = facts.updates,
                                    .keys = {facts.keys.begin(), facts.keys.end()},
                                    .sparse = facts.sparse});
                   });
  }
  return all;
}

}  // namespace

std::vector<option_info> options_of(std::string_view structure) try {
  return find_structure(structure, is_any, {}).options();
} catch (...) {
  rethrow_as_error();
}

std::vector<capability> capabilities() try {
  return capabilities_of({main_entries, of_papers()});
} catch (...) {
  rethrow_as_error();
}

std::vector<rmq_capability> rmq_capabilities() try {
  std::vector<rmq_capability> all;
  for (const structure_list& list : {structure_list(main_entries), of_papers()}) {
    for_each_offer(list, is_for_minima,
                   [&](const structure_facts& facts, backend where, const std::string& reason) {
                     all.push_back({.structure = std::string(facts.name),
                                    .where = where,
                                    .available = reason.empty(),
                                    .reason = reason,
                                    .updates = facts.updates,
                                    .values = {number_keys.begin(), number_keys.end()}});
                   });
  }
  return all;
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<index> build_wide(const structure_facts& facts, backend where, const context& on,
                                  const column& keys, const std::optional<column>& row_ids,
                                  const index_maker& make) {
  // Places of all structures in a slice of so many entries fit 32 bits.
  constexpr std::uint64_t most_of_slice = std::uint64_t{1} << 31;
  check_build(facts, where, on, keys, row_ids);
  return operation_on(where, &operation_table::build_wide)(
      info_of(facts, where, keys, row_ids), facts.updates, on, keys, row_ids, make, most_of_slice);
}

std::unique_ptr<index> build(std::string_view structure, backend where, const context& on,
                             const column& keys, const std::optional<column>& row_ids,
                             const option_map& options) try {
  option_map left = options;
  advice advised;
  if (structure == "auto") {
    check_format("keys", keys.format);
    // Both kinds of probes may come: nobody has said which. Nothing is loaded for it.
    advised = advise({.n = keys.size, .key = keys.format, .where = where, .ordered = true},
                     speed_table::built_in(), capabilities_of({main_entries}));
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
