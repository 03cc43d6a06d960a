// SPDX-License-Identifier: Apache-2.0
#include "src/rays/rx.hpp"

#include "src/cpu/rays/ray_engine.hpp"
#include "src/interface/dispatch.hpp"

namespace raydex::cpu {

namespace {

struct rx_engine : ray_engine {
  static std::uint64_t best_part() { return most_primitives(); }
  static rx_scale best_scale(bool /*planes*/) { return {}; }

  static core::primitive_kind primitive_of(rx_primitive choice) {
    // Triangles are what Embree is made for.
    switch (choice) {
      case rx_primitive::sphere:
        return core::primitive_kind::sphere;
      case rx_primitive::box:
        return core::primitive_kind::box;
      default:
        return core::primitive_kind::triangle;
    }
  }
};

}  // namespace

std::unique_ptr<rx> build(const index_info& info, const context& where_to, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, info.row_ids, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, rx_engine>>(info, where_to, keys, row_ids,
                                                             options);
  });
}

}  // namespace raydex::cpu
