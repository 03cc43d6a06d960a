// SPDX-License-Identifier: Apache-2.0
#include "raydex/cgrx.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "raydex/error.hpp"
#include "src/interface/structure_entry.hpp"
#include "src/structures/shared/bytes.hpp"
#include "src/structures/shared/scene_bytes.hpp"
#include "src/structures/shared/scene_options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

constexpr auto cgrx_table = table_of<cgrx_options>(
    {"cgrx", tracing_backends, true},
    std::array{
        number<&cgrx_options::bucket>("bucket", {2, 65'536}, "entries of a bucket at the build"),
        option<&cgrx_options::node>("node", {{"off", 0}}, {2, core::most_node_entries},
                                    "buckets are lists of nodes with room for so many entries"),
        choice<&cgrx_options::layout>("layout",
                                      {{"column", cgrx_layout::column},
                                       {"aligned", cgrx_layout::aligned},
                                       {"packed", cgrx_layout::packed}},
                                      "how entries lie in memory"),
        choice<&cgrx_options::scene>("scene",
                                     {{"auto", not_given},
                                      {"spans", core::bucket_scene::spans},
                                      {"optimised", core::bucket_scene::optimised},
                                      {"naive", core::bucket_scene::naive}},
                                     "what stands for a bucket"),
        of_a_paper(choice<&cgrx_options::mapping>(
            "mapping", {{"fit", cgrx_mapping::fit}, {"bits", cgrx_mapping::bits}},
            "how keys become places")),
        of_a_paper(only_with("mapping=bits", bits_option<cgrx_options>)),
        of_a_paper(only_with("mapping=bits", scale_option<cgrx_options>)),
        choice<&cgrx_options::search>("search",
                                      {{"auto", not_given},
                                       {"binary", core::bucket_search::binary},
                                       {"linear", core::bucket_search::linear},
                                       {"interpolated", core::bucket_search::interpolated}},
                                      "how a bucket is searched"),
        choice<&cgrx_options::scan>("scan",
                                    {{"multi", scanning::multi}, {"single", scanning::single}},
                                    "whether threads share a range's matches")},
    scene_build_options<cgrx_options>,
    std::array{
        parts_option<cgrx_options>, order_option<cgrx_options>,
        option<&cgrx_options::rebuild>(
            "rebuild", {{"never", 0}},
            {2, 1024}, "buckets this many times as large as at the build rebuild the scene")});

cgrx::cgrx(memory_resource& upstream) : index(upstream) {}
cgrx::~cgrx() = default;

void cgrx::rebuild(stream_t stream) try { do_rebuild(stream); } catch (...) {
  rethrow_as_error();
}

namespace {

void check_options(const cgrx_options& options) {
  if (options.node != 0 && (options.node % 2 != 0 || options.node < options.bucket)) {
    throw invalid_argument(
        fmt::format("option node: {} is not an even number from {}, the entries of a bucket, to {}",
                    options.node, options.bucket, core::most_node_entries));
  }
  if (options.node != 0 && options.layout != cgrx_layout::column) {
    throw unsupported(
        fmt::format("option layout: {} is for a sorted column; take column, or node=off",
                    options.layout == cgrx_layout::packed ? "packed" : "aligned"));
  }
  if (options.scene == core::bucket_scene::spans && options.mapping == cgrx_mapping::bits) {
    throw unsupported("option scene: spans lie in one row; take mapping=fit");
  }
  check_bits(options.bits, options.scale.value_or(rx_scale{}));
}

// Beside the scene: the sorted column, or rows or nodes that are copied from it. A node of a bucket
// stands beside its representative and its last row.
memory_estimate estimate_cgrx(backend where, const column_facts& keys,
                              const cgrx_options& options) {
  check_options(options);
  const std::uint64_t buckets = (keys.n + options.bucket - 1) / options.bucket;
  const bool has_spans = options.mapping == cgrx_mapping::fit && !options.scene;
  const scene_bytes scene = bytes_of_scene(where, has_spans ? buckets : 3 * buckets, false);
  const std::uint64_t entries = entry_bytes(keys);
  std::uint64_t copy = 0;
  if (options.node != 0) {
    const std::uint64_t node = with_code(keys, [&]<class Key>() {
      return core::node_memory<Key, std::uint32_t>::bytes_of(options.node);
    });
    copy = buckets * (node + key_bytes(keys) + row_bytes);
  } else if (options.layout == cgrx_layout::aligned) {
    copy = keys.n * 2 * std::max(key_bytes(keys), row_bytes);
  } else if (options.layout == cgrx_layout::packed) {
    copy = entries;
  }
  return {.structure = "cgrx",
          .resident_bytes = (copy != 0 ? copy : entries) + scene.resident,
          .build_peak_bytes = std::max(sort_bytes(where, keys), entries + copy + scene.peak),
          .per_probe = bytes_of_rays(keys, options.order, false, options.node != 0)};
}

}  // namespace

std::unique_ptr<cgrx> build_cgrx(backend where, const context& on, const column& keys,
                                 const std::optional<column>& row_ids,
                                 const cgrx_options& options) try {
  const auto info = checked(cgrx_table, options, where, on, keys, row_ids);
  check_options(options);
  return builder_on(where, &structure_builders::build_cgrx)(info, on, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

extern constinit const structure_entry cgrx_entry = for_keys<cgrx_table, build_cgrx, estimate_cgrx>;

}  // namespace raydex
