// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/lookups/run.cuh"
#include "src/interface/dispatch.hpp"
#include "tests/adding_a_structure/built.hpp"

namespace raydex::cuda {

// A thread has a lookup by itself.
template <class Entries>
struct team_of<core::sampled_array_view<Entries>> {
  using type = thread_team;
};

std::unique_ptr<sampled_array> build(const index_info& info, const context& where_to,
                                     const column& keys, const std::optional<column>& row_ids,
                                     const sampled_array_options& options) {
  return dispatch(info.key, info.row_ids, [&]<class Key, class RowId>() {
    return make_sampled_array<Key, RowId, executor>(
        info, where_to, options,
        [&](const context& where) { return sort_column<Key, RowId>(where, keys, row_ids); });
  });
}

}  // namespace raydex::cuda
