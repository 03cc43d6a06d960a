// SPDX-License-Identifier: Apache-2.0
#include "rx.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "cuda/executor.cuh"
#include "cuda/primitives.hpp"
#include "dispatch.hpp"
#include "optix/driver.hpp"
#include "optix/launch.hpp"
#include "optix/pipeline.hpp"
#include "optix/structure.hpp"

namespace raydex::optix {

namespace {

// Writes the primitives of a part.
template <class Key, class RowId>
struct put_triangle {
  core::rx_scene<Key, RowId> scene;
  std::uint64_t begin;
  core::point3* corners;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    core::point3 points[3];
    scene.grid.triangle(scene.key_of(static_cast<RowId>(begin + i)), points);
    for (unsigned c = 0; c < 3; ++c)
      corners[3 * i + c] = points[c];
  }
};
template <class Key, class RowId>
struct put_sphere {
  core::rx_scene<Key, RowId> scene;
  std::uint64_t begin;
  core::point3* centres;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    centres[i] = scene.grid.place(scene.key_of(static_cast<RowId>(begin + i)));
  }
};
template <class Key, class RowId>
struct put_box {
  core::rx_scene<Key, RowId> scene;
  std::uint64_t begin;
  core::box3* boxes;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    boxes[i] = scene.grid.box(scene.key_of(static_cast<RowId>(begin + i)));
  }
};
struct put_radius {
  float* radius;
  RAYDEX_HD void operator()(std::uint64_t) const { *radius = core::key_grid::radius; }
};

template <class T>
buffer<T> upload(const context& where, const T* from, std::uint64_t size) {
  buffer<T> copy(where, size);
  cuda::check(
      cudaMemcpyAsync(copy.data(), from, copy.bytes(), cudaMemcpyHostToDevice, where.stream),
      "cudaMemcpyAsync");
  return copy;
}

// Rays traced by OptiX.
struct optix_engine {
  using executor = cuda::executor;
  static constexpr rx_order best_order = rx_order::sorted;
  static std::uint64_t most_primitives() { return current_device().most_primitives; }
  // Traversal in software gains from small structures, and building them needs less scratch.
  static std::uint64_t best_part() {
    return current_device().rt_core_version != 0 ? most_primitives() : std::uint64_t{1} << 22;
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

  template <class Key, class RowId>
  static sorted_column<Key, RowId> sort_column(const context& where, const column& keys,
                                               const std::optional<column>& row_ids) {
    return cuda::sort_column<Key, RowId>(where, keys, row_ids);
  }
  template <class Key>
  static void sort_probes(const context& where, const Key* keys, Key* sorted_keys,
                          const std::uint32_t* numbers, std::uint32_t* sorted_numbers,
                          std::uint64_t size, int first_bit, int last_bit) {
    cuda::sort_pairs(where, keys, sorted_keys, numbers, sorted_numbers, size,
                     {first_bit, last_bit});
  }

  // Where the output is larger than the L2 cache, the rows of a stretch of it are brought together
  // first: a pass over them costs less than writes to memory all over the place.
  template <class RowId>
  static void scatter(const context& where, const std::uint32_t* numbers, const RowId* rows,
                      RowId* out, std::uint64_t size) {
    constexpr std::uint64_t cached = std::uint64_t{1} << 23;
    if (size <= cached) {
      executor::for_each(where, put_row<RowId>{numbers, rows, out}, size);
      return;
    }
    buffer<std::uint32_t> near_numbers(where, size);
    buffer<RowId> near_rows(where, size);
    const auto bits = static_cast<int>(std::bit_width(size - 1));
    cuda::sort_pairs(where, numbers, near_numbers.data(), rows, near_rows.data(), size,
                     {std::max(bits - 8, 0), bits});
    executor::for_each(where, put_row<RowId>{near_numbers.data(), near_rows.data(), out}, size);
  }

  template <class Key, class RowId>
  class tracer {
   public:
    tracer(const context& where, tracking_resource& /*memory*/, const scene_plan<Key, RowId>& plan)
        : pipeline_(
              &pipeline_for({8 * static_cast<int>(sizeof(Key)), 8 * static_cast<int>(sizeof(RowId)),
                             plan.primitive, plan.scene.hits, flags_of(plan)})),
          records_(upload(where, pipeline_->records, 3)) {
      std::vector<unsigned long long> handles;
      for (std::size_t part = 0; part + 1 < plan.part_begins.size(); ++part) {
        structures_.push_back(build(where, plan, plan.part_begins[part],
                                    plan.part_begins[part + 1] - plan.part_begins[part]));
        handles.push_back(structures_.back().handle());
      }
      handles_ = upload(where, handles.data(), handles.size());
    }

    void trace(const context& where, const core::trace_job<Key, RowId>& job) const {
      const launch_parameters<Key, RowId> parameters{job, handles_.data()};
      const auto on_device = upload(where, &parameters, 1);
      pipeline_->launch(where.stream, records_.data(), on_device.data(), sizeof parameters,
                        job.size);
    }

   private:
    static unsigned flags_of(const scene_plan<Key, RowId>& plan) {
      return (plan.compact ? abi::allow_compaction : 0U) |
             (plan.fast_build ? abi::prefer_fast_build : abi::prefer_fast_trace);
    }

    static structure build(const context& where, const scene_plan<Key, RowId>& plan,
                           std::uint64_t begin, std::uint64_t size) {
      if (size == 0) return {};
      const unsigned geometry =
          plan.scene.hits == core::ray_hits::any ? abi::single_any_hit : abi::no_any_hit;
      const auto make = [&](const primitives& what) {
        return structure(where, what, size, geometry, flags_of(plan));
      };
      if (plan.primitive == core::primitive_kind::triangle) {
        buffer<core::point3> corners(where, 3 * size);
        executor::for_each(where, put_triangle<Key, RowId>{plan.scene, begin, corners.data()},
                           size);
        return make({plan.primitive, corners.data(), nullptr});
      }
      if (plan.primitive == core::primitive_kind::sphere) {
        buffer<core::point3> centres(where, size);
        buffer<float> radius(where, 1);
        executor::for_each(where, put_sphere<Key, RowId>{plan.scene, begin, centres.data()}, size);
        executor::for_each(where, put_radius{radius.data()}, 1);
        return make({plan.primitive, centres.data(), radius.data()});
      }
      buffer<core::box3> boxes(where, size);
      executor::for_each(where, put_box<Key, RowId>{plan.scene, begin, boxes.data()}, size);
      return make({plan.primitive, boxes.data(), nullptr});
    }

    const pipeline* pipeline_;
    buffer<pipeline::record> records_;
    std::vector<structure> structures_;
    buffer<unsigned long long> handles_;
  };
};

}  // namespace

std::unique_ptr<rx> build(const index_info& info, const context& where_to, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, info.row_ids, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, optix_engine>>(info, where_to, keys, row_ids,
                                                                options);
  });
}

}  // namespace raydex::optix
