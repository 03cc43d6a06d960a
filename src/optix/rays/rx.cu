// SPDX-License-Identifier: Apache-2.0
#include "src/rays/rx.hpp"

#include "src/interface/dispatch.hpp"
#include "src/optix/engine/ray_engine.cuh"

namespace raydex::optix {

namespace {

struct rx_engine : ray_engine {
  // Traversal in software gains from small structures, and building them needs less scratch.
  static std::uint64_t best_part() {
    return current_device().rt_core_version != 0 ? most_primitives() : std::uint64_t{1} << 22;
  }

  // In software the driver orders primitives along a curve through the scene: long steps make that
  // the order of keys. What RT cores like is not known.
  static rx_scale best_scale(bool planes) {
    if (current_device().rt_core_version != 0) return {};
    return planes ? rx_scale{.y = 4, .z = 20} : rx_scale{.y = 15, .z = 0};
  }

  static core::primitive_kind primitive_of(rx_primitive choice) {
    switch (choice) {
      case rx_primitive::triangle:
        return core::primitive_kind::triangle;
      case rx_primitive::sphere:
        return core::primitive_kind::sphere;
      case rx_primitive::box:
        return core::primitive_kind::box;
      default:
        return current_device().rt_core_version != 0 ? core::primitive_kind::triangle
                                                     : core::primitive_kind::box;
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

}  // namespace raydex::optix
