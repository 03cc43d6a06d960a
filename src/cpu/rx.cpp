// SPDX-License-Identifier: Apache-2.0
#include "rx.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cpu/embree/scene.hpp"
#include "cpu/executor.hpp"
#include "cpu/radix_sort.hpp"
#include "dispatch.hpp"

namespace raydex::cpu {

namespace {

// Rays traced by Embree.
struct embree_engine {
  using executor = cpu::executor;
  static rx_order best_order(std::uint64_t /*probes*/) { return rx_order::batch; }
  static std::uint64_t most_primitives() { return std::numeric_limits<std::uint32_t>::max() / 3; }
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

  template <class Key, class RowId>
  static sorted_column<Key, RowId> sort_column(const context& where, const column& keys,
                                               const std::optional<column>& row_ids) {
    return cpu::sort_column<Key, RowId>(where, keys, row_ids);
  }

  template <class Key>
  static void sort_probes(const context& where, double_buffer<Key>& keys,
                          double_buffer<std::uint32_t>& numbers, int /*first_bit*/,
                          int /*last_bit*/) {
    pairs<Key, std::uint32_t> sorted(std::move(keys.current), std::move(numbers.current));
    pairs<Key, std::uint32_t> other(std::move(keys.other), std::move(numbers.other));
    radix_sort(where, sorted, other);
    keys.current = std::move(sorted.keys);
    numbers.current = std::move(sorted.values);
    keys.other = std::move(other.keys);
    numbers.other = std::move(other.values);
  }

  template <class RowId>
  static void scatter(const context& where, const std::uint32_t* numbers, const RowId* rows,
                      RowId* out, std::uint64_t size) {
    executor::for_each(where, put_row<RowId>{numbers, rows, out}, size);
  }

  template <class Key, class RowId>
  class tracer {
   public:
    tracer(const context& where, tracking_resource& memory, const scene_plan<Key, RowId>& plan)
        : scene_(where, memory,
                 {plan.primitive, plan.part_begins, plan.scene.joined, plan.refittable},
                 keys_of(plan)) {}

    void refit(const context& /*where*/, const scene_plan<Key, RowId>& plan) {
      scene_.refit(keys_of(plan));
    }

    template <class Job>
    void trace(const context& /*where*/, const Job& job) const {
      tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, job.size, 256),
                        [&](const auto& range) {
                          for (std::uint64_t i = range.begin(); i < range.end(); ++i)
                            job.run(*this, i);
                        });
    }

    // What core asks of a tracer.
    bool closest(unsigned part, const core::axis_ray& ray, RowId& primitive) const {
      std::uint64_t met = 0;
      const bool hit = scene_.closest(part, ray, met);
      primitive = static_cast<RowId>(met);
      return hit;
    }
    void visit(unsigned part, const core::axis_ray& ray, RowId part_begin,
               core::met_primitives<RowId>& met) const {
      struct visitor {
        RowId begin;
        core::met_primitives<RowId>* met;
      } mine{part_begin, &met};
      scene_.visit(
          part, ray,
          [](void* v, std::uint64_t primitive) {
            const auto* to = static_cast<visitor*>(v);
            to->met->add(static_cast<RowId>(to->begin + primitive));
          },
          &mine);
    }

   private:
    static embree::keys keys_of(const scene_plan<Key, RowId>& plan) {
      return {plan.scene.grid, [scene = plan.scene](std::uint64_t primitive) {
                return std::uint64_t{scene.key_of(static_cast<RowId>(primitive))};
              }};
    }

    embree::scene scene_;
  };
};

}  // namespace

std::unique_ptr<rx> build(const index_info& info, const context& where_to, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, info.row_ids, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, embree_engine>>(info, where_to, keys, row_ids,
                                                                 options);
  });
}

}  // namespace raydex::cpu
