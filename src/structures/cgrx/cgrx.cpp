// SPDX-License-Identifier: Apache-2.0
#include "raydex/cgrx.hpp"

#include <fmt/format.h>

#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "raydex/error.hpp"
#include "src/interface/checked.hpp"
#include "src/structures/cgrx/options.hpp"
#include "src/structures/shared/ray_options.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex {

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

}  // namespace raydex
