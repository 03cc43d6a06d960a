// SPDX-License-Identifier: Apache-2.0
#include "src/rays/cgrx.hpp"

#include <fmt/format.h>

#include <array>

#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "raydex/error.hpp"
#include "src/interface/checks.hpp"
#include "src/options/ray_options.hpp"

namespace raydex {

cgrx::cgrx(memory_resource& upstream) : index(upstream) {}
cgrx::~cgrx() = default;

void cgrx::rebuild(stream_t stream) try { do_rebuild(stream); } catch (...) {
  rethrow_as_error();
}

namespace {

const char* name(cgrx_layout entries) {
  return choice_name("layout", entries, std::array{"column", "aligned", "packed"});
}

void check_options(const cgrx_options& options) {
  if (options.bucket < 2 || options.bucket > 65'536) {
    throw invalid_argument(fmt::format("option bucket: {} is not from 2 to 65536", options.bucket));
  }
  if (options.node != 0 && (options.node % 2 != 0 || options.node > core::most_node_entries ||
                            options.node < options.bucket)) {
    throw invalid_argument(
        fmt::format("option node: {} is not an even number from {}, the entries of a bucket, to {}",
                    options.node, options.bucket, core::most_node_entries));
  }
  if (options.node != 0 && options.entries != cgrx_layout::column) {
    throw unsupported(
        fmt::format("option layout: {} is for a sorted column; take column, or node=off",
                    name(options.entries)));
  }
  if (options.markers == core::cgrx_markers::none && options.mapping == cgrx_mapping::bits) {
    throw unsupported("option scene: spans lie in one row; take mapping=fit");
  }
  check_bits(options.x_bits, options.y_bits, options.z_bits, options.scale);
  check_parts(options.parts);
  if (options.rebuild_at == 1 || options.rebuild_at > 1024) {
    throw invalid_argument(
        fmt::format("option rebuild: {} is not never, nor from 2 to 1024", options.rebuild_at));
  }
}

std::string describe(const cgrx_options& options) {
  std::string text = fmt::format(
      "bucket={} node={} layout={} scene={}", options.bucket,
      options.node == 0 ? "off" : std::to_string(options.node), name(options.entries),
      options.markers
          ? choice_name("scene", *options.markers, std::array{"naive", "optimised", "spans"})
          : "auto");
  text += fmt::format(" mapping={}",
                      choice_name("mapping", options.mapping, std::array{"fit", "bits"}));
  if (options.mapping == cgrx_mapping::bits) {
    text += fmt::format(" bits={}/{}/{} scale={}/{}", options.x_bits, options.y_bits,
                        options.z_bits, options.scale.y, options.scale.z);
  }
  return text + fmt::format(" search={} scan={} {} {} rebuild={}",
                            options.search
                                ? choice_name("search", *options.search,
                                              std::array{"binary", "linear", "interpolated"})
                                : "auto",
                            options.cooperative_scan ? "multi" : "single",
                            describe_build(options.compact, options.fast_build, options.parts),
                            raydex::describe(options.order),
                            options.rebuild_at == 0 ? "never" : std::to_string(options.rebuild_at));
}

}  // namespace

std::unique_ptr<cgrx> build_cgrx(backend where, const context& where_to, const column& keys,
                                 const std::optional<column>& row_ids,
                                 const cgrx_options& options) try {
  check_build("cgrx", where, where_to, keys, row_ids);
  check_options(options);
  index_info info = raydex::describe("cgrx", where, keys, row_ids);
  info.options = describe(options);
#if defined(RAYDEX_WITH_OPTIX)
  if (where == backend::optix) return optix::build(info, where_to, keys, row_ids, options);
#endif
  return cpu::build(info, where_to, keys, row_ids, options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
