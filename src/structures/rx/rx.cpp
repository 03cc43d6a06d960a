// SPDX-License-Identifier: Apache-2.0
#include "raydex/rx.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/interface/watch.hpp"
#include "src/structures/shared/bytes.hpp"
#include "src/structures/shared/scene_bytes.hpp"
#include "src/structures/shared/scene_options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr option_entry with_sorted(option_entry entry) {
  return only_with("primitives=sorted", entry);
}
constexpr option_entry of_sorted(option_entry entry) {
  return of_a_paper(with_sorted(entry));
}

constexpr auto rx_table = table_of<rx_options>(
    {"rx", tracing_backends, true},
    std::array{
        of_a_paper(choice<&rx_options::mode>(
            "mode",
            {{"3d", rx_mode::grid}, {"naive", rx_mode::naive}, {"extended", rx_mode::extended}},
            "how keys become coordinates")),
        only_with("mode=3d", bits_option<rx_options>),
        only_with("mode=3d", scale_option<rx_options>),
        choice<&rx_options::primitive>("primitive",
                                       {{"auto", rx_primitive::automatic},
                                        {"triangle", rx_primitive::triangle},
                                        {"sphere", rx_primitive::sphere},
                                        {"box", rx_primitive::box}},
                                       "what stands for a key"),
        of_a_paper(choice<&rx_options::primitives>(
            "primitives", {{"sorted", rx_primitives::sorted}, {"rows", rx_primitives::rows}},
            "in which order primitives stand: of a sorted column, or of the rows")),
        former_option("points", {"perpendicular"}),
        of_sorted(choice<&rx_options::ranges>(
            "ranges", {{"offset", rx_ranges::offset}, {"zero", rx_ranges::zero}},
            "where rays of ranges start")),
        of_sorted(choice<&rx_options::hits>(
            "hits", {{"closest", core::ray_hits::closest}, {"any", core::ray_hits::any}},
            "what of a ray's hits is looked at")),
        of_sorted(choice<&rx_options::duplicates>(
            "duplicates", {{"compress", rx_duplicates::compress}, {"keep", rx_duplicates::keep}},
            "one primitive for equal keys, or one for each"))},
    scene_build_options<rx_options>,
    std::array{
        parts_option<rx_options>, former_option("top", {"table", "instances"}),
        with_sorted(order_option<rx_options>),
        with_sorted(choice<&rx_options::inverse>(
            "inverse",
            {{"off", rx_inverse::off}, {"on", rx_inverse::on}, {"auto", rx_inverse::automatic}},
            "over what the scene is built: the keys, or the points of a batch")),
        former_option("update", {"rebuild"})});

rx::rx(memory_resource& upstream) : index(upstream) {}
rx::~rx() = default;

void rx::update(stream_t stream, const column& keys, const std::optional<column>& row_ids) try {
  const unwatched from_here;
  check_build(rx_table.facts, info().where, {memory(), stream}, keys, row_ids);
  if (keys.format != info().key) {
    throw invalid_argument(fmt::format("keys: they are {}, but the keys of the index are {}",
                                       to_string(keys.format), to_string(info().key)));
  }
  const row_id_type type = info_of(rx_table.facts, info().where, keys, row_ids).row_ids;
  if (type != info().row_ids) {
    throw invalid_argument(fmt::format("row ids: they are {}, but those of the index are {}",
                                       name(type), name(info().row_ids)));
  }
  count_change();
  do_update(stream, keys, row_ids);
} catch (...) {
  rethrow_as_error();
}

namespace {

// Without a sorted column nothing tells whether a hit is right.
void check_trusted(const rx_options& options) {
  if (options.primitive == rx_primitive::box) {
    throw unsupported(
        "option primitive: boxes are met by comparing keys, which primitives=rows does not keep; "
        "take triangle or sphere");
  }
  if (options.mode == rx_mode::extended)
    throw unsupported("option mode: extended needs its hits checked; take primitives=sorted");
}

void check_options(const rx_options& options) {
  if (options.primitives == rx_primitives::rows) check_trusted(options);
  const rx_scale scale = options.scale.value_or(rx_scale{});
  check_bits(options.bits, scale);
  if ((scale.y != 0 || scale.z != 0) && options.primitive == rx_primitive::sphere) {
    throw unsupported("option primitive: spheres take no scale; take triangle or box");
  }
  if (options.mode == rx_mode::extended && options.primitive == rx_primitive::sphere) {
    throw unsupported(
        "option primitive: mode=extended has no room for spheres; take triangle or box");
  }
}

// Beside the sorted column: the scene, and where keys repeat the first entry of each, which are
// counted before.
memory_estimate estimate_rx(backend where, const column_facts& keys, const rx_options& options) {
  check_options(options);
  if (options.primitives == rx_primitives::rows || options.inverse != rx_inverse::off)
    throw unsupported(
        "estimate: of rx with primitives=rows or inverse nothing is known; build the index, and "
        "see "
        "its resident_bytes");
  const bool compress = options.duplicates == rx_duplicates::compress;
  const std::uint64_t primitives = compress ? most_different(keys) : keys.n;
  const bool repeat = primitives < keys.n;
  const std::uint64_t first_entries = repeat ? (primitives + 1) * row_bytes : 0;
  const std::uint64_t counted = repeat ? keys.n * sizeof(std::uint64_t) : 0;
  const scene_bytes scene =
      bytes_of_scene(where, primitives, options.primitive == rx_primitive::sphere);
  const std::uint64_t held = entry_bytes(keys) + first_entries;
  return {
      .structure = "rx",
      .resident_bytes = held + scene.resident,
      .build_peak_bytes = std::max(sort_bytes(where, keys), held + std::max(counted, scene.peak)),
      .per_probe = bytes_of_rays(keys, options.order, options.hits == core::ray_hits::any, false)};
}

}  // namespace

std::unique_ptr<rx> build_rx(backend where, const context& on, const column& keys,
                             const std::optional<column>& row_ids, const rx_options& options) try {
  const auto info = checked(rx_table, options, where, on, keys, row_ids);
  check_options(options);
  keys_builder<rx, rx_options>& builder =
      options.primitives == rx_primitives::sorted
          ? builder_on(where, &structure_builders::build_rx)
          : builder_on(where, &paper_builders::build_rx_rows, "rx with primitives=rows");
  return builder(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

extern constinit const structure_entry rx_entry = for_keys<rx_table, build_rx, estimate_rx>;

}  // namespace raydex
