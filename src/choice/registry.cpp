// SPDX-License-Identifier: Apache-2.0
// All structures and backends by name: what there is, and building one chosen at run time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "raydex/advise.hpp"
#include "raydex/capability.hpp"
#include "raydex/cgrx.hpp"
#include "raydex/error.hpp"
#include "raydex/eytzinger.hpp"
#include "raydex/index.hpp"
#include "raydex/pivot_tree.hpp"
#include "raydex/rx.hpp"
#include "raydex/sorted_array.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/platform.hpp"
#include "src/interface/rmq_checks.hpp"
#include "src/options/lookups.hpp"
#include "src/options/rays.hpp"

namespace raydex {

namespace {

constexpr std::array all_backends{backend::cpu, backend::cuda, backend::optix};
constexpr std::array all_keys{key_type::uint32, key_type::uint64,  key_type::int32,
                              key_type::int64,  key_type::float32, key_type::float64,
                              key_type::bytes};

// Builds with options by name, as `Table` has them.
template <const auto& Table, auto Build>
std::unique_ptr<index> build_by_name(std::string_view structure, backend where,
                                     const context& where_to, const column& keys,
                                     const std::optional<column>& row_ids,
                                     const option_map& options) {
  return Build(where, where_to, keys, row_ids, parse(structure, Table, options));
}

struct structure_entry {
  std::string_view name;
  std::vector<backend> backends;
  bool points, ranges, duplicates, updates;
  std::vector<key_type> keys;
  std::vector<option_info> options;
  std::unique_ptr<index> (*build)(std::string_view, backend, const context&, const column&,
                                  const std::optional<column>&, const option_map&);
};

const std::vector<structure_entry>& structures() {
  static const std::vector<structure_entry> all{
      {.name = "sorted_array",
       .backends = {backend::cpu, backend::cuda},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = list_options(sorted_array_table),
       .build = build_by_name<sorted_array_table, build_sorted_array>},
      {.name = "eytzinger",
       .backends = {backend::cpu, backend::cuda},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = list_options(eytzinger_table),
       .build = build_by_name<eytzinger_table, build_eytzinger>},
      {.name = "pivot_tree",
       .backends = {backend::cpu, backend::cuda},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = list_options(pivot_tree_table),
       .build = build_by_name<pivot_tree_table, build_pivot_tree>},
      {.name = "rx",
       .backends = {backend::cpu, backend::optix},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = list_options(rx_table),
       .build = build_by_name<rx_table, build_rx>},
      {.name = "cgrx",
       .backends = {backend::cpu, backend::optix},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = true,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = list_options(cgrx_table),
       .build = build_by_name<cgrx_table, build_cgrx>},
  };
  return all;
}

template <class Range, class Name>
std::string list(const Range& range, Name&& name) {
  std::vector<std::string> names;
  for (const auto& element : range)
    names.emplace_back(name(element));
  return fmt::format("{}", fmt::join(names, ", "));
}

const structure_entry& find_structure(std::string_view name) {
  const auto found = std::ranges::find(structures(), name, &structure_entry::name);
  if (found == structures().end()) {
    throw invalid_argument(fmt::format("structure: '{}' is not one of auto, {}", name,
                                       list(structures(), [](auto& s) { return s.name; })));
  }
  return *found;
}

}  // namespace

std::string_view to_string(backend where) {
  switch (where) {
    case backend::cpu:
      return "cpu";
    case backend::cuda:
      return "cuda";
    case backend::optix:
      return "optix";
  }
  throw invalid_argument(fmt::format("backend: {} is none", static_cast<int>(where)));
}

backend parse_backend(std::string_view name) try {
  if (name == "auto") return why_unavailable(backend::cuda).empty() ? backend::cuda : backend::cpu;
  for (const backend where : all_backends) {
    if (to_string(where) == name) return where;
  }
  throw invalid_argument(fmt::format("backend: '{}' is not one of auto, {}", name,
                                     list(all_backends, [](backend b) { return to_string(b); })));
} catch (...) {
  rethrow_as_error();
}

std::string why_unavailable(backend where) try {
  if (to_string(where) == to_string(backend::cpu)) return {};  // refuses what is no backend
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::why_unavailable();
#endif
#if defined(RAYDEX_WITH_CUDA)
  return cuda::why_unavailable();
#else
  return "this raydex was built without CUDA; put nvcc 12.4 or later on the PATH and build it "
         "again";
#endif
} catch (...) {
  rethrow_as_error();
}

std::vector<option_info> options_of(std::string_view structure) try {
  const auto found = std::ranges::find(structures(), structure, &structure_entry::name);
  return found == structures().end() ? rmq_options_of(structure) : found->options;
} catch (...) {
  rethrow_as_error();
}

std::vector<capability> capabilities() try {
  std::vector<capability> all;
  for (const structure_entry& s : structures()) {
    for (const backend where : s.backends) {
      std::string reason = why_unavailable(where);
      all.push_back({.structure = std::string(s.name),
                     .where = where,
                     .available = reason.empty(),
                     .reason = reason,
                     .points = s.points,
                     .ranges = s.ranges,
                     .duplicates = s.duplicates,
                     .updates = s.updates,
                     .keys = s.keys});
    }
  }
  return all;
} catch (...) {
  rethrow_as_error();
}

void check_backend(std::string_view structure, const std::vector<backend>& offered, backend where) {
  if (std::ranges::find(offered, where) == offered.end()) {
    throw unsupported(fmt::format("{} is not offered on backend {}; it is on {}", structure,
                                  to_string(where),
                                  list(offered, [](backend b) { return to_string(b); })));
  }
  if (std::string reason = why_unavailable(where); !reason.empty()) {
    throw unavailable(fmt::format("backend {} is not available: {}", to_string(where), reason));
  }
}

void check_build(std::string_view structure, backend where, const context& where_to,
                 const column& keys, const std::optional<column>& row_ids) {
  check_backend(structure, find_structure(structure).backends, where);
  check_space(where_to, where);
  check_column("keys", keys);
  if (!row_ids) return;
  check_explicit_rows("row ids", *row_ids, keys.size);
  if (row_ids->format.type == key_type::uint32 && keys.size >= not_found<std::uint32_t>) {
    throw invalid_argument(fmt::format(
        "row ids: {} rows are too many for uint32, which serves up to {}; give uint64 ones",
        keys.size, not_found<std::uint32_t> - 1));
  }
}

index_info describe(std::string_view structure, backend where, const column& keys,
                    const std::optional<column>& row_ids) {
  const bool narrow =
      row_ids ? row_ids->format.type == key_type::uint32 : keys.size < not_found<std::uint32_t>;
  return {.structure = std::string(structure),
          .where = where,
          .key = keys.format,
          .row_ids = narrow ? row_id_type::uint32 : row_id_type::uint64,
          .n = keys.size,
          .entries = 0,
          .max_row_id = 0,
          .options = {},
          .resident_bytes = 0,
          .build_peak_bytes = 0};
}

std::unique_ptr<index> build(std::string_view structure, backend where, const context& where_to,
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
  const structure_entry& entry = find_structure(structure);
  return entry.build(entry.name, where, where_to, keys, row_ids, left);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
