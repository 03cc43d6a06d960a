// SPDX-License-Identifier: Apache-2.0
#include "src/rays/cgrx.hpp"

#include <algorithm>
#include <cstdint>

#include "src/interface/dispatch.hpp"
#include "src/optix/engine/ray_engine.cuh"
#include "src/rays/cgrx_nodes.hpp"

namespace raydex::optix {

namespace {

struct cgrx_engine : ray_engine {
  // 16 of them are found by four steps in a table, which is faster than by the levels of a tree.
  static std::uint64_t best_parts(std::uint64_t buckets) {
    constexpr std::uint64_t fewest_of_part = std::uint64_t{1} << 14;
    constexpr std::uint64_t most_of_part = std::uint64_t{1} << 18;
    const auto parts_of = [&](std::uint64_t each) { return (buckets + each - 1) / each; };
    return std::max(parts_of(most_of_part), std::min<std::uint64_t>(16, parts_of(fewest_of_part)));
  }
};

}  // namespace

std::unique_ptr<cgrx> build(const index_info& info, const context& where_to, const column& keys,
                            const std::optional<column>& row_ids, const cgrx_options& options) {
  return dispatch(info.key, info.row_ids, [&]<class Key, class RowId>() -> std::unique_ptr<cgrx> {
    if (options.node != 0)
      return std::make_unique<built_node_cgrx<Key, RowId, cgrx_engine>>(info, where_to, keys,
                                                                        row_ids, options);
    return std::make_unique<built_cgrx<Key, RowId, cgrx_engine>>(info, where_to, keys, row_ids,
                                                                 options);
  });
}

}  // namespace raydex::optix
