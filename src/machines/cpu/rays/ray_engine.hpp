// SPDX-License-Identifier: Apache-2.0
// Rays traced by Embree, for any scene.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "raydex/core/rays/rx.hpp"
#include "src/machines/cpu/executor.hpp"
#include "src/machines/cpu/keys/radix_sort.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/machines/cpu/rays/embree/scene.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/engine.hpp"
#include "src/operations/rays/traced_batches.hpp"

namespace raydex::cpu {

// Rays traced by Embree.
struct ray_engine {
  using executor = cpu::executor;
  static rx_order best_order(std::uint64_t /*probes*/) { return rx_order::batch; }
  static core::primitive_kind primitive_of(rx_primitive choice) {
    switch (choice) {
      case rx_primitive::sphere:
        return core::primitive_kind::sphere;
      case rx_primitive::box:
        return core::primitive_kind::box;
      default:
        return core::primitive_kind::triangle;  // what Embree is made for
    }
  }
  static std::uint64_t most_primitives() { return std::numeric_limits<std::uint32_t>::max() / 3; }
  static std::uint64_t best_part() { return most_primitives(); }
  static std::uint64_t best_parts(std::uint64_t buckets) { return (buckets >> 20) + 1; }
  static rx_scale best_scale(bool /*planes*/) { return {}; }
  template <class Key>
  static void sort_probes(const context& on, double_buffer<Key>& keys,
                          double_buffer<std::uint32_t>& numbers, int /*first_bit*/,
                          int /*last_bit*/) {
    keys.make_room(on);
    numbers.make_room(on);
    pairs<Key, std::uint32_t> sorted(std::move(keys.current), std::move(numbers.current));
    pairs<Key, std::uint32_t> other(std::move(keys.other), std::move(numbers.other));
    radix_sort(on, sorted, other);
    keys.current = std::move(sorted.keys);
    numbers.current = std::move(sorted.values);
    keys.other = std::move(other.keys);
    numbers.other = std::move(other.values);
  }

  template <class Key, class RowId>
  static unsorted_column<Key, RowId> take_column(const context& on, const column& keys,
                                                 const std::optional<column>& row_ids) {
    return cpu::take_column<Key, RowId>(on, keys, row_ids);
  }

  template <class RowId>
  static void scatter(const context& on, const std::uint32_t* numbers, const RowId* rows,
                      RowId* out, std::uint64_t size) {
    executor::for_each(on, put_row<RowId>{numbers, rows, out}, size);
  }

  template <class Scene>
  class tracer {
    using position = typename Scene::position_type;

   public:
    tracer(const context& on, memory_resource& memory, const scene_plan<Scene>& plan)
        : scene_(on, memory, {plan.primitive, plan.part_begins}, shapes_of(plan)) {}

    template <class Job>
    void trace(const context& /*on*/, const Job& job) const {
      for_blocks(job.size, 256, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i)
          job.run(*this, i);
      });
    }

    // As a core::tracer.
    bool closest(unsigned part, const core::axis_ray& ray, position& primitive,
                 bool& from_behind) const {
      std::uint64_t met = 0;
      const bool hit = scene_.closest(part, ray, met, from_behind);
      primitive = static_cast<position>(met);
      return hit;
    }
    bool closest(unsigned part, const core::axis_ray& ray, position& primitive) const {
      bool from_behind = false;
      return closest(part, ray, primitive, from_behind);
    }
    template <class Met>
    void visit(unsigned part, const core::axis_ray& ray, position part_begin, Met& met) const {
      struct visitor {
        position begin;
        Met* met;
      } mine{part_begin, &met};
      scene_.visit(
          part, ray,
          [](void* v, std::uint64_t primitive) {
            const auto* to = static_cast<visitor*>(v);
            to->met->add(static_cast<position>(to->begin + primitive));
          },
          &mine);
    }

   private:
    static embree::shapes shapes_of(const scene_plan<Scene>& plan) {
      const Scene scene = plan.scene;
      embree::shapes all;
      all.triangle = [scene](std::size_t part, std::uint64_t i, core::point3(&corners)[3]) {
        scene.triangle(static_cast<unsigned>(part), i, corners);
      };
      if constexpr (requires { scene.key_in(0, 0); }) {
        all.grid = scene.grid;
        all.key_of = [scene](std::size_t part, std::uint64_t i) {
          return std::uint64_t{scene.key_in(static_cast<unsigned>(part), i)};
        };
      }
      return all;
    }

    embree::scene scene_;
  };
};
static_assert(engine<ray_engine>, "Embree must trace all scenes");
static_assert(
    core::tracer<ray_engine::tracer<core::rx_scene<std::uint32_t, std::uint32_t>>, std::uint32_t>,
    "Embree must trace what scenes ask for");

}  // namespace raydex::cpu
