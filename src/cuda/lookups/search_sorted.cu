// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/search_sorted.hpp"

#include <limits>

#include "src/cuda/lookups/run.cuh"

namespace raydex::cuda {

namespace {

// A thread a search: with few registers for each, more reads are under way than with several
// searches a thread.
template <class Key, class Rank>
struct rank_one {
  core::sorted_keys_view<Key, Rank> in;
  core::encoded_column<Key> wanted;
  bool past;
  std::uint64_t* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto from = static_cast<Key>(wanted[i] + (past ? 1 : 0));
    std::uint64_t rank = in.locate(from).rank;
    if (past && from == 0) rank = in.size();  // nothing is above the last key
    out[i] = wanted.valid(i) ? rank : std::numeric_limits<std::uint64_t>::max();
  }
};

}  // namespace

void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  const row_id_type ranks =
      sorted.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  dispatch(sorted.format, ranks, [&]<class Key, class Rank>() {
    const core::sorted_keys_view<Key, Rank> in(cells_of(sorted), static_cast<Rank>(sorted.size));
    executor::for_each_alone(on, rank_one<Key, Rank>{in, {cells_of(wanted)}, past, out},
                             wanted.size);
  });
}

void search_by_tree(const context& on, const column& sorted, const column& wanted, bool past,
                    std::uint64_t* out) {
  raydex::search_by_tree<executor>(on, sorted, wanted, past, out);
}

}  // namespace raydex::cuda
