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
#include <utility>
#include <vector>

#include "raydex/advise.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"
#include "raydex/estimate.hpp"
#include "src/choice/least_bytes.hpp"
#include "src/choice/paper_library.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/host_memory.hpp"
#include "src/structures/main_entries.hpp"
#include "src/structures/shared/bytes.hpp"
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

namespace {

// Places of all structures in a slice of so many entries fit 32 bits.
constexpr std::uint64_t most_of_slice = std::uint64_t{1} << 31;

}  // namespace

std::unique_ptr<index> build_wide(const structure_facts& facts, backend where, const context& on,
                                  const column& keys, const std::optional<column>& row_ids,
                                  const index_maker& make) {
  check_build(facts, where, on, keys, row_ids);
  return operation_on(where, &operation_table::build_wide)(
      info_of(facts, where, keys, row_ids), facts.updates, on, keys, row_ids, make, most_of_slice);
}

namespace {

// The structure that a name or `auto` stands for; adds the options that go with it.
const structure_entry& choose_structure(std::string_view name, backend where, std::uint64_t n,
                                        key_format key, option_map& options) {
  if (name != "auto") return find_structure(name, is_for_keys, {"auto"});
  check_format("keys", key);
  // Both kinds of probes may come: nobody has said which. Nothing is loaded for it.
  advice advised = advise({.n = n, .key = key, .where = where, .ordered = true},
                          speed_table::built_in(), capabilities_of({main_entries}));
  options.merge(advised.options);
  return find_structure(advised.structure, is_for_keys, {});
}

void check_facts(const structure_facts& facts, backend where, const column_facts& keys) {
  check_offered(facts, where);
  check_taken(facts, keys.key);
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  if (keys.n > most) throw invalid_argument(fmt::format("n: {}, but at most {}", keys.n, most));
  if (keys.different > keys.n) {
    throw invalid_argument(fmt::format("different: {} of {} keys", keys.different, keys.n));
  }
  if (keys.span != 0 && keys.span < keys.different) {
    throw invalid_argument(
        fmt::format("span: {} places for {} keys that differ", keys.span, keys.different));
  }
}

// An index of 64-bit row ids: the column is sorted, and structures over slices of it find places.
memory_estimate estimate_wide(const structure_entry& entry, backend where, const column_facts& keys,
                              const option_map& options) {
  const std::uint64_t entries =
      keys.n * (static_cast<std::uint64_t>(keys.key.encoded_bits()) / 8 + 8);
  const std::uint64_t slices =
      std::max<std::uint64_t>(1, (keys.n + most_of_slice - 1) / most_of_slice);
  column_facts slice = keys;
  slice.ascending = true;
  slice.n = (keys.n + slices - 1) / slices;
  slice.different = slices == 1 ? keys.different : 0;
  memory_estimate all = entry.estimate_keys(where, slice, options);
  const std::uint64_t sort = keys.ascending ? entries : sort_bytes(where, keys.n, entries);
  all.build_peak_bytes =
      std::max(sort, entries + (slices - 1) * all.resident_bytes + all.build_peak_bytes);
  all.resident_bytes = entries + slices * all.resident_bytes;
  probe_bytes& each = all.per_probe;
  const std::uint64_t summed = slices == 1 ? 0 : sizeof(std::uint64_t);
  each.first += sizeof(std::uint32_t);
  each.contains = each.first + sizeof(std::uint64_t);
  each.count += summed;
  each.sum = 16 + std::max(each.first, each.count);
  each.rank += summed;
  if (each.closest != 0) each.closest += sizeof(std::uint32_t);
  each.rows = 16 + each.first;
  each.match = sizeof(std::uint64_t);
  return all;
}

// A build that will not fit, with what would.
class too_large final : public out_of_memory {
 public:
  too_large(std::uint64_t needed, std::uint64_t left, std::string text)
      : out_of_memory(needed, left), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

std::string gibibytes(std::uint64_t bytes) {
  constexpr double gibibyte = std::uint64_t{1} << 30;
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / gibibyte);
}

// The structures whose builds fit so many bytes, whatever the keys are.
std::string what_fits(std::string_view chosen, const column_facts& keys, std::uint64_t left) {
  std::string fitting;
  for (const structure_entry* const other : main_entries) {
    if (!is_for_keys(*other) || other->facts.name == chosen) continue;
    try {
      const memory_estimate most = estimate(other->facts.name, backend::cpu, keys);
      if (most.build_peak_bytes > left) continue;
      fitting +=
          fmt::format("; {} takes at most {}", most.structure, gibibytes(most.build_peak_bytes));
    } catch (const unsupported&) {  // it does not take such keys
    }
  }
  return fitting;
}

// Refuses what needs more than the host has left. Small builds are not looked at, nor columns where
// keys are missing: nobody knows how many.
void check_room(const structure_entry& entry, backend where, const context& on, const column& keys,
                const std::optional<column>& row_ids, const option_map& options) {
  constexpr std::uint64_t few_keys = std::uint64_t{1} << 20;
  constexpr std::uint64_t few_bytes = std::uint64_t{1} << 28;
  if (keys.size <= few_keys || where != backend::cpu || keys.validity != nullptr) return;
  if (!is_own_host_memory(on.memory)) return;
  check_build(entry.facts, where, on, keys, row_ids);
  const column_facts facts{
      .n = keys.size,
      .key = keys.format,
      .row_ids = are_narrow(keys, row_ids) ? row_id_type::uint32 : row_id_type::uint64};
  const std::uint64_t least = least_build_bytes(entry.facts.name, facts, options);
  if (least <= few_bytes) return;
  const std::optional<std::uint64_t> left = host_memory_left();
  if (!left || least <= *left) return;
  throw too_large(
      least, *left,
      fmt::format("out of memory: to build {} over {} keys takes at least {}, and {} are left{}; "
                  "index_file_builder, in Python raydex.build_file, makes a file of an index "
                  "within the memory that you give it",
                  entry.facts.name, keys.size, gibibytes(least), gibibytes(*left),
                  what_fits(entry.facts.name, facts, *left)));
}

}  // namespace

std::unique_ptr<index> build(std::string_view structure, backend where, const context& on,
                             const column& keys, const std::optional<column>& row_ids,
                             const option_map& options) try {
  option_map left = options;
  const structure_entry& entry = choose_structure(structure, where, keys.size, keys.format, left);
  check_room(entry, where, on, keys, row_ids, left);
  return entry.build_keys(where, on, keys, row_ids, left);
} catch (...) {
  rethrow_as_error();
}

memory_estimate estimate(std::string_view structure, backend where, const column_facts& keys,
                         const option_map& options) try {
  option_map left = options;
  const structure_entry& entry = choose_structure(structure, where, keys.n, keys.key, left);
  check_facts(entry.facts, where, keys);
  const bool narrow = keys.row_ids == row_id_type::uint32 && keys.n < not_found<std::uint32_t>;
  return narrow ? entry.estimate_keys(where, keys, left) : estimate_wide(entry, where, keys, left);
} catch (...) {
  rethrow_as_error();
}

namespace {

const structure_entry& find_minima(std::string_view name) {
  return find_structure(name == "auto" ? "rmq_cover" : name, is_for_minima, {"auto"});
}

}  // namespace

std::unique_ptr<rmq> build_rmq(std::string_view structure, backend where, const context& on,
                               const column& values, const option_map& options) try {
  return find_minima(structure).build_minima(where, on, values, options);
} catch (...) {
  rethrow_as_error();
}

rmq_estimate estimate_rmq(std::string_view structure, backend where, std::uint64_t n,
                          key_format value, const option_map& options) try {
  const structure_entry& entry = find_minima(structure);
  check_offered(entry.facts, where);
  check_values_of_minima(value);
  constexpr std::uint64_t most = std::uint64_t{1} << 45;
  if (n > most) throw invalid_argument(fmt::format("n: {}, but at most {}", n, most));
  return entry.estimate_minima(where, n, value, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
