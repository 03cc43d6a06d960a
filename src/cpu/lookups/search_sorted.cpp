// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/search_sorted.hpp"

#include "src/cpu/executor.hpp"

namespace raydex::cpu {

void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  const row_id_type ranks =
      sorted.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  dispatch(sorted.format, ranks, [&]<class Key, class Rank>() {
    using view = core::sorted_keys_view<Key, Rank>;
    const view in(cells_of(sorted), static_cast<Rank>(sorted.size));
    executor::run(on, {}, core::rank_points<view>{in, probes_of<Key>(points(wanted)), past, out});
  });
}

void search_by_tree(const context& on, const column& sorted, const column& wanted, bool past,
                    std::uint64_t* out) {
  raydex::search_by_tree<executor>(on, sorted, wanted, past, out);
}

}  // namespace raydex::cpu
