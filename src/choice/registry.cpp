// SPDX-License-Identifier: Apache-2.0
// All structures and backends by name: what there is, and building one chosen at run time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

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
#include "src/options/take_options.hpp"

namespace raydex {

namespace {

constexpr std::array all_backends{backend::cpu, backend::cuda, backend::optix};
constexpr std::array all_keys{key_type::uint32, key_type::uint64,  key_type::int32,
                              key_type::int64,  key_type::float32, key_type::float64,
                              key_type::bytes};

constexpr std::array layouts{word<layout>{"column", layout::column},
                             word<layout>{"row", layout::row}};

constexpr std::string_view schedule_options =
    "schedule=dynamic|static, threads=128|256|512|1024, lookups=1..16, pin=none|steps|full, "
    "reorder=none|single|double, group=exact|power, scan=multi|single";

std::optional<bool> take_scan(option_map& options) {
  return take_choice(options, "scan",
                     std::array{word<bool>{"multi", true}, word<bool>{"single", false}});
}

batch_schedule take_schedule(option_map& options) {
  batch_schedule taken;
  taken.blocks = take_choice(options, "schedule",
                             std::array{word<scheduling>{"dynamic", scheduling::dynamic},
                                        word<scheduling>{"static", scheduling::fixed}});
  taken.threads = take_number(options, "threads", "128, 256, 512, 1024");
  taken.lookups = take_number(options, "lookups", "1 to 16");
  taken.pin = take_choice(
      options, "pin",
      std::array{word<pinning>{"none", pinning::none}, word<pinning>{"steps", pinning::steps},
                 word<pinning>{"full", pinning::full}});
  taken.reorder = take_choice(options, "reorder",
                              std::array{word<reordering>{"none", reordering::none},
                                         word<reordering>{"single", reordering::single},
                                         word<reordering>{"double", reordering::twice}});
  taken.group = take_choice(options, "group",
                            std::array{word<grouping>{"exact", grouping::exact},
                                       word<grouping>{"power", grouping::power}});
  taken.cooperative_scan = take_scan(options);
  return taken;
}

std::unique_ptr<index> build_sorted_array_by_name(backend where, const context& where_to,
                                                  const column& keys,
                                                  const std::optional<column>& row_ids,
                                                  option_map& options) {
  sorted_array_options parsed;
  parsed.entries = take_choice(options, "layout", layouts).value_or(parsed.entries);
  parsed.schedule = take_schedule(options);
  if (!options.empty()) return nullptr;
  return build_sorted_array(where, where_to, keys, row_ids, parsed);
}

std::unique_ptr<index> build_eytzinger_by_name(backend where, const context& where_to,
                                               const column& keys,
                                               const std::optional<column>& row_ids,
                                               option_map& options) {
  eytzinger_options parsed;
  parsed.entries = take_choice(options, "layout", layouts).value_or(parsed.entries);
  parsed.fan_out = take_number(options, "k", "2 to 33").value_or(parsed.fan_out);
  parsed.schedule = take_schedule(options);
  if (!options.empty()) return nullptr;
  return build_eytzinger(where, where_to, keys, row_ids, parsed);
}

std::unique_ptr<index> build_pivot_tree_by_name(backend where, const context& where_to,
                                                const column& keys,
                                                const std::optional<column>& row_ids,
                                                option_map& options) {
  pivot_tree_options parsed;
  parsed.entries = take_choice(options, "layout", layouts).value_or(parsed.entries);
  parsed.search = take_choice(options, "search",
                              std::array{word<tree_search>{"lines", tree_search::lines},
                                         word<tree_search>{"groups", tree_search::groups}})
                      .value_or(parsed.search);
  if (parsed.search == tree_search::lines) {
    parsed.nodes = take_choice(options, "nodes",
                               std::array{word<tree_nodes>{"auto", tree_nodes::automatic},
                                          word<tree_nodes>{"exact", tree_nodes::exact},
                                          word<tree_nodes>{"quantised", tree_nodes::quantised}})
                       .value_or(parsed.nodes);
  } else {
    parsed.fan_out = take_number(options, "k", "2 to 33").value_or(parsed.fan_out);
    if (!take_word(options, "levels", "all")) {
      parsed.levels = take_number(options, "levels", "all, 1 to 40");
    }
  }
  parsed.schedule = take_schedule(options);
  if (!options.empty()) return nullptr;
  return build_pivot_tree(where, where_to, keys, row_ids, parsed);
}

// Takes numbers with slashes between them, such as `bits=23/23/18`.
void take_numbers(option_map& options, std::string_view name,
                  std::initializer_list<unsigned*> numbers, const char* like) {
  const auto given = options.find(name);
  if (given == options.end()) return;
  const char* at = given->second.data();
  const char* const end = at + given->second.size();
  for (unsigned* const number : numbers) {
    const auto [next, problem] = std::from_chars(at, end, *number);
    const bool last = number == *(numbers.end() - 1);
    if (problem != std::errc() || (last ? next != end : next == end || *next != '/')) {
      throw invalid_argument(
          fmt::format("option {}: '{}' is not like {}", name, given->second, like));
    }
    at = last ? next : next + 1;
  }
  options.erase(given);
}

// What `rx` and `cgrx` share: `compact=`, `build=`, `parts=` and `order=`.
template <class Options>
void take_build(option_map& options, Options& parsed) {
  if (!take_word(options, "compact", "auto")) {
    parsed.compact = take_choice(options, "compact",
                                 std::array{word<bool>{"on", true}, word<bool>{"off", false}});
  }
  parsed.fast_build = take_choice(options, "build",
                                  std::array{word<bool>{"fast", true}, word<bool>{"trace", false}})
                          .value_or(parsed.fast_build);
  parsed.parts = take_number_or(options, "parts", "auto", "1 to 4096").value_or(parsed.parts);
  parsed.order = take_choice(options, "order",
                             std::array{word<rx_order>{"auto", rx_order::automatic},
                                        word<rx_order>{"batch", rx_order::batch},
                                        word<rx_order>{"tiles", rx_order::tiles},
                                        word<rx_order>{"sorted", rx_order::sorted}})
                     .value_or(parsed.order);
}

std::unique_ptr<index> build_rx_by_name(backend where, const context& where_to, const column& keys,
                                        const std::optional<column>& row_ids, option_map& options) {
  rx_options parsed;
  parsed.mode = take_choice(options, "mode",
                            std::array{word<rx_mode>{"3d", rx_mode::grid},
                                       word<rx_mode>{"naive", rx_mode::naive},
                                       word<rx_mode>{"extended", rx_mode::extended}})
                    .value_or(parsed.mode);
  if (parsed.mode == rx_mode::grid) {
    take_numbers(options, "bits", {&parsed.x_bits, &parsed.y_bits, &parsed.z_bits}, "23/23/18");
    if (!take_word(options, "scale", "auto") && options.contains("scale")) {
      parsed.scale.emplace();
      take_numbers(options, "scale", {&parsed.scale->y, &parsed.scale->z}, "15/20");
    }
  }
  parsed.primitive = take_choice(options, "primitive",
                                 std::array{word<rx_primitive>{"auto", rx_primitive::automatic},
                                            word<rx_primitive>{"triangle", rx_primitive::triangle},
                                            word<rx_primitive>{"sphere", rx_primitive::sphere},
                                            word<rx_primitive>{"box", rx_primitive::box}})
                         .value_or(parsed.primitive);
  parsed.points =
      take_choice(options, "points",
                  std::array{word<core::point_ray>{"perpendicular", core::point_ray::perpendicular},
                             word<core::point_ray>{"offset", core::point_ray::offset},
                             word<core::point_ray>{"zero", core::point_ray::zero}})
          .value_or(parsed.points);
  parsed.ranges_from_zero =
      take_choice(options, "ranges",
                  std::array{word<bool>{"offset", false}, word<bool>{"zero", true}})
          .value_or(parsed.ranges_from_zero);
  parsed.hits = take_choice(options, "hits",
                            std::array{word<core::ray_hits>{"closest", core::ray_hits::closest},
                                       word<core::ray_hits>{"any", core::ray_hits::any}})
                    .value_or(parsed.hits);
  parsed.compress = take_choice(options, "duplicates",
                                std::array{word<bool>{"compress", true}, word<bool>{"keep", false}})
                        .value_or(parsed.compress);
  take_build(options, parsed);
  parsed.instances =
      take_choice(options, "top",
                  std::array{word<bool>{"table", false}, word<bool>{"instances", true}})
          .value_or(parsed.instances);
  parsed.inverse = take_choice(options, "inverse",
                               std::array{word<rx_inverse>{"off", rx_inverse::off},
                                          word<rx_inverse>{"on", rx_inverse::on},
                                          word<rx_inverse>{"auto", rx_inverse::automatic}})
                       .value_or(parsed.inverse);
  parsed.on_update = take_choice(options, "update",
                                 std::array{word<rx_update>{"rebuild", rx_update::rebuild},
                                            word<rx_update>{"refit", rx_update::refit}})
                         .value_or(parsed.on_update);
  if (!options.empty()) return nullptr;
  return build_rx(where, where_to, keys, row_ids, parsed);
}

std::unique_ptr<index> build_cgrx_by_name(backend where, const context& where_to,
                                          const column& keys, const std::optional<column>& row_ids,
                                          option_map& options) {
  cgrx_options parsed;
  parsed.bucket = take_number(options, "bucket", "2 to 65536").value_or(parsed.bucket);
  parsed.node = take_number_or(options, "node", "off", "2 to 256").value_or(parsed.node);
  parsed.entries = take_choice(options, "layout",
                               std::array{word<cgrx_layout>{"column", cgrx_layout::column},
                                          word<cgrx_layout>{"aligned", cgrx_layout::aligned},
                                          word<cgrx_layout>{"packed", cgrx_layout::packed}})
                       .value_or(parsed.entries);
  if (!take_word(options, "scene", "auto")) {
    parsed.markers =
        take_choice(options, "scene",
                    std::array{word<core::cgrx_markers>{"spans", core::cgrx_markers::none},
                               word<core::cgrx_markers>{"optimised", core::cgrx_markers::within},
                               word<core::cgrx_markers>{"naive", core::cgrx_markers::apart}});
  }
  parsed.mapping = take_choice(options, "mapping",
                               std::array{word<cgrx_mapping>{"fit", cgrx_mapping::fit},
                                          word<cgrx_mapping>{"bits", cgrx_mapping::bits}})
                       .value_or(parsed.mapping);
  if (parsed.mapping == cgrx_mapping::bits) {
    take_numbers(options, "bits", {&parsed.x_bits, &parsed.y_bits, &parsed.z_bits}, "23/23/18");
    take_numbers(options, "scale", {&parsed.scale.y, &parsed.scale.z}, "15/20");
  }
  if (!take_word(options, "search", "auto")) {
    parsed.search = take_choice(
        options, "search",
        std::array{word<core::bucket_search>{"binary", core::bucket_search::binary},
                   word<core::bucket_search>{"linear", core::bucket_search::linear},
                   word<core::bucket_search>{"interpolated", core::bucket_search::interpolated}});
  }
  parsed.cooperative_scan = take_scan(options).value_or(parsed.cooperative_scan);
  take_build(options, parsed);
  if (take_word(options, "rebuild", "never")) parsed.rebuild_at = 0;
  parsed.rebuild_at =
      take_number_or(options, "rebuild", "never", "2 to 1024").value_or(parsed.rebuild_at);
  if (!options.empty()) return nullptr;
  return build_cgrx(where, where_to, keys, row_ids, parsed);
}

struct structure_entry {
  std::string_view name;
  std::vector<backend> backends;
  bool points, ranges, duplicates, updates;
  std::vector<key_type> keys;
  std::string options;  // the legal ones
  // Takes the options it knows out of the map, and builds if none is left.
  std::unique_ptr<index> (*build)(backend, const context&, const column&,
                                  const std::optional<column>&, option_map&);
};

std::string with_schedule(std::string_view own) {
  return fmt::format("{}, {}", own, schedule_options);
}

const std::vector<structure_entry>& structures() {
  static const std::vector<structure_entry> all{
      {.name = "sorted_array",
       .backends = {backend::cpu, backend::cuda},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = with_schedule("layout=column|row"),
       .build = build_sorted_array_by_name},
      {.name = "eytzinger",
       .backends = {backend::cpu, backend::cuda},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = with_schedule("layout=row|column, k=2..33"),
       .build = build_eytzinger_by_name},
      {.name = "pivot_tree",
       .backends = {backend::cpu, backend::cuda},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options =
           with_schedule("layout=row|column, search=lines|groups, nodes=auto|exact|quantised (for "
                         "lines), k=2..33 and levels=all|1..40 (for groups)"),
       .build = build_pivot_tree_by_name},
      {.name = "rx",
       .backends = {backend::cpu, backend::optix},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = false,
       .keys = {all_keys.begin(), all_keys.end()},
       .options =
           "mode=3d|naive|extended, bits=X/Y/Z and scale=auto|Y/Z (for 3d), "
           "primitive=auto|triangle|sphere|box, "
           "points=perpendicular|offset|zero, ranges=offset|zero, hits=closest|any, "
           "duplicates=compress|keep, compact=auto|on|off, build=fast|trace, parts=auto|1..4096, "
           "top=table|instances, order=auto|batch|tiles|sorted, inverse=off|on|auto, "
           "update=rebuild|refit",
       .build = build_rx_by_name},
      {.name = "cgrx",
       .backends = {backend::cpu, backend::optix},
       .points = true,
       .ranges = true,
       .duplicates = true,
       .updates = true,
       .keys = {all_keys.begin(), all_keys.end()},
       .options = "bucket=2..65536, node=off|2..256, layout=column|aligned|packed (for node=off), "
                  "scene=auto|spans|optimised|naive, mapping=fit|bits, bits=X/Y/Z and "
                  "scale=Y/Z (for bits), search=auto|binary|linear|interpolated, "
                  "scan=multi|single, compact=auto|on|off, build=fast|trace, parts=auto|1..4096, "
                  "order=auto|batch|tiles|sorted, rebuild=never|2..1024",
       .build = build_cgrx_by_name},
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
  std::unique_ptr<index> built = entry.build(where, where_to, keys, row_ids, left);
  if (!left.empty()) {
    throw invalid_argument(
        fmt::format("option '{}': {} has {}", left.begin()->first, entry.name, entry.options));
  }
  return built;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
