// SPDX-License-Identifier: Apache-2.0
// Rays traced by OptiX, for any scene: what its structures have in common.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "raydex/core/rays/cgrx.hpp"
#include "raydex/core/rays/rx.hpp"
#include "raydex/core/rays/rx_rows.hpp"
#include "src/machines/cuda/keys/primitives.hpp"
#include "src/machines/cuda/lookups/run.cuh"
#include "src/machines/optix/engine/driver.hpp"
#include "src/machines/optix/engine/launch.hpp"
#include "src/machines/optix/engine/pipeline.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/engine.hpp"
#include "src/operations/rays/traced_batches.hpp"

namespace raydex::optix {

// The PTX for a scene.
template <class Scene>
std::string_view programs_of() {
  using key = typename Scene::key_type;
  using position = typename Scene::position_type;
  static_assert(sizeof(position) == 4, "programs have positions of 32 bits");
  constexpr bool wide = sizeof(key) == 8;
  if constexpr (std::is_same_v<Scene, core::rx_row_scene<key, position>>) {
    if constexpr (wide) return programs_rx_rows_64;
    return programs_rx_rows_32;
  } else if constexpr (std::is_same_v<Scene, core::rx_scene<key, position>>) {
    if constexpr (wide) return programs_rx_64;
    return programs_rx_32;
  } else {
    if constexpr (wide) return programs_cgrx_64;
    return programs_cgrx_32;
  }
}

// Where the threads of a job begin.
template <class Scene>
entry_point entry_of(const core::trace_job<Scene>& /*job*/) {
  return {programs_of<Scene>(), "__raygen__trace"};
}
template <class Scene>
entry_point entry_of(const core::inverse_job<Scene>& /*job*/) {
  return {programs_of<Scene>(), "__raygen__trace_inverse"};
}
template <class Key, class RowId>
entry_point entry_of(const core::row_job<Key, RowId>& /*job*/) {
  return {programs_of<core::rx_row_scene<Key, RowId>>(), "__raygen__trace"};
}
inline entry_point entry_of(const core::rmq_ray_job& /*job*/) {
  return {programs_rmq, "__raygen__trace"};
}

// Writes the primitives of a part.
template <class Scene>
struct put_primitive {
  Scene scene;
  core::primitive_kind kind;
  unsigned part;
  std::byte* to;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if constexpr (requires { scene.box(part, i); }) {
      if (kind == core::primitive_kind::box) {
        reinterpret_cast<core::box3*>(to)[i] = scene.box(part, i);
        return;
      }
    }
    if constexpr (requires { scene.centre(part, i); }) {
      if (kind == core::primitive_kind::sphere) {
        reinterpret_cast<core::point3*>(to)[i] = scene.centre(part, i);
        return;
      }
    }
    core::point3 points[3];
    scene.triangle(part, i, points);
    for (unsigned c = 0; c < 3; ++c)
      reinterpret_cast<core::point3*>(to)[3 * i + c] = points[c];
  }
};
inline std::size_t primitive_bytes(core::primitive_kind kind) {
  switch (kind) {
    case core::primitive_kind::triangle:
      return 3 * sizeof(core::point3);
    case core::primitive_kind::sphere:
      return sizeof(core::point3);
    default:
      return sizeof(core::box3);
  }
}

template <class T>
buffer<T> upload(const context& on, const T* from, std::uint64_t size) {
  buffer<T> copy(on, size);
  cuda::check(cudaMemcpyAsync(copy.data(), from, copy.bytes(), cudaMemcpyHostToDevice, on.stream),
              "cudaMemcpyAsync");
  return copy;
}

// Rays traced by OptiX.
struct ray_engine {
  using executor = cuda::executor;
  // A sort is a dozen launches, which take as long as this many probes.
  static rx_order best_order(std::uint64_t probes) {
    return probes < std::uint64_t{1} << 17 ? rx_order::batch : rx_order::sorted;
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
        return has_rt_cores() ? core::primitive_kind::triangle : core::primitive_kind::box;
    }
  }
  static std::uint64_t most_primitives() { return current_device().most_primitives; }
  // Traversal in software gains from small structures, and building them needs less scratch.
  static std::uint64_t best_part() {
    return has_rt_cores() ? most_primitives() : std::uint64_t{1} << 22;
  }
  // 16 of them are found by four steps in a table, which is faster than by the levels of a tree.
  static std::uint64_t best_parts(std::uint64_t buckets) {
    constexpr std::uint64_t fewest_of_part = std::uint64_t{1} << 14;
    constexpr std::uint64_t most_of_part = std::uint64_t{1} << 18;
    const auto parts_of = [&](std::uint64_t each) { return (buckets + each - 1) / each; };
    return std::max(parts_of(most_of_part), std::min<std::uint64_t>(16, parts_of(fewest_of_part)));
  }
  // In software the driver orders primitives along a curve through the scene: long steps make that
  // the order of keys. What RT cores like is not known.
  static rx_scale best_scale(bool planes) {
    if (has_rt_cores()) return {};
    return planes ? rx_scale{.y = 4, .z = 20} : rx_scale{.y = 15, .z = 0};
  }
  template <class Key>
  static void sort_probes(const context& on, double_buffer<Key>& keys,
                          double_buffer<std::uint32_t>& numbers, int first_bit, int last_bit) {
    cuda::sort_pairs(on, keys, numbers, {first_bit, last_bit});
  }

  template <class Key, class RowId>
  static unsorted_column<Key, RowId> take_column(const context& on, const column& keys,
                                                 const std::optional<column>& row_ids) {
    return cuda::take_column<Key, RowId>(on, keys, row_ids);
  }

  // Where the output is larger than the L2 cache, the rows of a slice of it are brought together
  // first: a pass over them costs less than writes to memory all over the place.
  template <class RowId>
  static void scatter(const context& on, const std::uint32_t* numbers, const RowId* rows,
                      RowId* out, std::uint64_t size) {
    constexpr std::uint64_t cached = std::uint64_t{1} << 23;
    if (size <= cached) {
      executor::for_each(on, put_row<RowId>{numbers, rows, out}, size);
      return;
    }
    buffer<std::uint32_t> near_numbers(on, size);
    buffer<RowId> near_rows(on, size);
    const auto bits = static_cast<int>(std::bit_width(size - 1));
    cuda::sort_pairs(on, numbers, near_numbers.data(), rows, near_rows.data(), size,
                     {std::max(bits - 8, 0), bits});
    executor::for_each(on, put_row<RowId>{near_numbers.data(), near_rows.data(), out}, size);
  }

  template <class Scene>
  class tracer {
   public:
    tracer(const context& on, memory_resource& /*memory*/, const scene_plan<Scene>& plan)
        : flags_(flags_of(plan)) {
      if (plan.part_begins.back() != 0) {
        part_builder builder(on, plan);
        for (std::size_t part = 0; part + 1 < plan.part_begins.size(); ++part)
          structures_.emplace_back(on, builder.put(part), flags_);
      }
      list(on, plan);
    }

    template <class Job>
    void trace(const context& on, const Job& job) const {
      const auto parameters = parameters_of(job, handles_.data());
      const pipeline& programs = pipeline_for({entry_of(job), primitive_, hits_, flags_});
      const auto records = upload(on, programs.records, 3);
      const auto on_device = upload(on, &parameters, 1);
      programs.launch(on.stream, records.data(), on_device.data(), sizeof parameters, job.size);
    }

   private:
    static unsigned flags_of(const scene_plan<Scene>& plan) {
      return (plan.compact ? abi::allow_compaction : 0U) |
             (plan.fast_build ? abi::prefer_fast_build : abi::prefer_fast_trace);
    }

    // Writes the primitives of parts, one part after the other to the same place.
    class part_builder {
     public:
      part_builder(const context& on, const scene_plan<Scene>& plan)
          : on_(on),
            plan_(&plan),
            data_(on, largest_part() * primitive_bytes(plan.primitive)),
            radius_(on, 1) {
        executor::set(on, radius_.data(), core::key_grid::radius);
      }
      primitives put(std::size_t part) {
        const std::uint64_t size = size_of(part);
        executor::for_each(on_,
                           put_primitive<Scene>{plan_->scene, plan_->primitive,
                                                static_cast<unsigned>(part), data_.data()},
                           size);
        return {plan_->primitive, data_.data(), radius_.data(), size,
                plan_->scene.hits == core::ray_hits::any ? abi::single_any_hit : abi::no_any_hit};
      }

     private:
      std::uint64_t largest_part() const {
        std::uint64_t most = 0;
        for (std::size_t part = 0; part + 1 < plan_->part_begins.size(); ++part)
          most = std::max(most, size_of(part));
        return most;
      }
      std::uint64_t size_of(std::size_t part) const {
        return plan_->part_begins[part + 1] - plan_->part_begins[part];
      }

      context on_;
      const scene_plan<Scene>* plan_;
      buffer<std::byte> data_;
      buffer<float> radius_;
    };

    // Puts what rays are traced against into device memory.
    void list(const context& on, const scene_plan<Scene>& plan) {
      primitive_ = plan.primitive;
      hits_ = plan.scene.hits;
      std::vector<abi::traversable> handles;
      for (const structure& part : structures_)
        handles.push_back(part.handle());
      handles_ = upload(on, handles.data(), handles.size());
    }

    unsigned flags_;
    core::primitive_kind primitive_{};
    core::ray_hits hits_{};
    std::vector<structure> structures_;
    buffer<abi::traversable> handles_;
  };

 private:
  static bool has_rt_cores() { return current_device().rt_core_version != 0; }
};
static_assert(engine<ray_engine>, "OptiX must trace all scenes");

}  // namespace raydex::optix

namespace raydex {

// In compiled_once.cu.
extern template struct sorted_probes<optix::ray_engine, std::uint32_t>;
extern template struct sorted_probes<optix::ray_engine, std::uint64_t>;
extern template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint32_t>&);
extern template int bits_to_sort<cuda::executor>(const context&, const key_column<std::uint64_t>&);

}  // namespace raydex
