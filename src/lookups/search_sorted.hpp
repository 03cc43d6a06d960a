// SPDX-License-Identifier: Apache-2.0
// What the backends' searches in sorted columns have in common.
#pragma once

#include <cstdint>

#include "raydex/core/lookups/sorted_keys.hpp"
#include "src/interface/dispatch.hpp"
#include "src/lookups/answering.hpp"

namespace raydex {

template <executor Executor>
void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  const row_id_type ranks =
      sorted.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  dispatch(sorted.format, ranks, [&]<class Key, class Rank>() {
    using view = core::sorted_keys_view<Key, Rank>;
    const view in(cells_of(sorted), static_cast<Rank>(sorted.size));
    Executor::run(on, plan_of({}, {.lookups = 2}),
                  core::rank_points<view>{in, probes_of<Key>(points(wanted)), past, out});
  });
}

}  // namespace raydex
