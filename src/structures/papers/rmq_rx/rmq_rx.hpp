// SPDX-License-Identifier: Apache-2.0
// Minima by rays, whatever the engine that traces them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "raydex/core/atomic.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/minima/rmq_rx.hpp"
#include "raydex/repairs.hpp"
#include "raydex/rmq_rx.hpp"
#include "src/operations/minima/built_rmq.hpp"
#include "src/operations/rays/engine.hpp"
#include "src/structures/papers/rmq_rx/ray_levels.hpp"

namespace raydex {

// Writes the position of the minimum of a group of elements.
struct put_group_minimum {
  core::rmq_ray_scene scene;
  unsigned level;
  unsigned bits;             // 2 to this power elements are a group
  std::uint64_t* positions;  // of the minima of the level's groups

  RAYDEX_HD void operator()(std::uint64_t number) const {
    positions[number] = scene.group_minimum(level, number, bits);
  }
};

// Reads the minima at positions.
template <class Value>
struct put_value {
  core::value_array<Value> array;
  const std::uint64_t* positions;
  Value* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t at = positions[i];
    core::store_once(out + i, array.original(at == no_position ? core::last_value<Value>()
                                                               : array[array.first() + at]));
  }
};

struct add_repairs {
  std::uint64_t* number;
  std::uint64_t addend;
  RAYDEX_HD void operator()(std::uint64_t) const { core::add_atomically(number, addend); }
};

// How many lookups took a search instead of rays, in the backend's memory.
template <executor Executor>
class repair_counter {
 public:
  explicit repair_counter(const context& on)
      : memory_(on.memory), number_(on, 1), at_(number_.data()) {
    Executor::clear(on, at_);
  }

  // What counts while rays are traced.
  std::uint64_t* number() const { return at_; }
  void add(const context& on, std::uint64_t lookups) const {
    Executor::for_each_alone(on, add_repairs{at_, lookups}, 1);
  }
  std::uint64_t read(stream_t stream) const { return Executor::read({memory_, stream}, at_); }

 private:
  memory_resource& memory_;
  buffer<std::uint64_t> number_;
  std::uint64_t* at_;
};

// The scene over an array, which must stay where it is: positions of minima by rays. Asks nothing
// of an engine but its executor and its tracers.
template <class Engine>
class minima_by_rays {
  using executor = typename Engine::executor;
  using tracer = typename Engine::template tracer<core::rmq_ray_scene>;

 public:
  // Ranges that are traced at once.
  static constexpr std::uint64_t most_at_once = std::uint64_t{1} << 26;

  // What the engine itself allocates is counted in `memory`, and in `repairs` the lookups that took
  // a search.
  minima_by_rays(const context& on, tracking_resource& memory, const column& values,
                 const rmq_rx_options& options, std::uint64_t* repairs)
      : repairs_(repairs) {
    scene_plan<core::rmq_ray_scene> plan;
    plan.compact = options.compact.value_or(options.build == rx_build::trace);
    plan.fast_build = options.build == rx_build::fast;
    plan.scene.values = cells_of(values);
    plan.scene.rightmost = options.ties == rmq_ties::rightmost;
    plan.scene.reversed = options.extreme == rmq_extreme::maximum;
    plan.scene.block_bits = core::floor_log2(options.block);
    plan.part_begins = {0};
    buffer<std::uint64_t> chunks;
    if (values.size != 0) {
      lay_out_ray_levels(values.size, plan.scene);
      divide(plan);
      chunks = put_positions(on, plan.scene);
    }
    rays_ = std::make_unique<tracer>(on, memory, plan);
    scene_ = plan.scene;
  }

  // Runs a job of at most as many, which need not know the scene.
  void run(const context& on, core::rmq_ray_job job) const {
    job.scene = scene_;
    job.repairs = repairs_;
    rays_->trace(on, job);
  }
  // The same for any number of ranges.
  void trace(const context& on, core::rmq_ray_job job) const {
    const std::uint64_t end = job.begin + job.size;
    for (; job.begin < end; job.begin += job.size, job.out += job.size) {
      job.size = std::min(most_at_once, end - job.begin);
      run(on, job);
    }
  }

 private:
  // Divides levels into parts.
  static void divide(scene_plan<core::rmq_ray_scene>& plan) {
    constexpr std::uint64_t part = std::uint64_t{1} << core::rmq_ray_scene::part_bits;
    for (unsigned level = 0; level < plan.scene.level_count; ++level) {
      const std::uint64_t size = plan.scene.levels[level].size;
      for (std::uint64_t begin = 0; begin < size; begin += part)
        plan.part_begins.push_back(plan.part_begins.back() + std::min(part, size - begin));
    }
  }

  // Finds the minima of blocks, and those of chunks, which only the build needs.
  buffer<std::uint64_t> put_positions(const context& on, core::rmq_ray_scene& scene) {
    constexpr unsigned chunk_bits = core::rmq_ray_scene::chunk_bits;
    positions_ = {on, ray_positions(scene)};
    buffer<std::uint64_t> chunks(on, ray_chunks(scene));
    scene.positions = positions_.data();
    scene.chunk_positions = chunks.data();
    const auto put = [&](unsigned level, unsigned bits, std::uint64_t* to) {
      executor::for_each_alone(on, put_group_minimum{scene, level, bits, to},
                               ray_groups(scene.levels[level].size, bits));
    };
    for (unsigned level = 0; level < scene.level_count; ++level) {
      put(level, chunk_bits, chunks.data() + scene.levels[level].first_chunk);
      if (level + 1 < scene.level_count)
        put(level, scene.block_bits, positions_.data() + scene.levels[level + 1].stored);
    }
    return chunks;
  }

  std::uint64_t* repairs_;
  core::rmq_ray_scene scene_;
  buffer<std::uint64_t> positions_;
  std::unique_ptr<tracer> rays_;
};

template <engine Engine>
class built_rmq_rx final : public executed_rmq<typename Engine::executor>, public counts_repairs {
  using executor = typename Engine::executor;
  using rays = minima_by_rays<Engine>;

 public:
  built_rmq_rx(const rmq_info& info, const context& on, const column& values,
               const rmq_rx_options& options)
      : built_rmq_rx::executed_rmq(info, on.memory),
        values_(values),
        repairs_({this->memory(), on.stream}),
        rays_({this->memory(), on.stream}, this->memory(), values, options, repairs_.number()) {
    this->measure();
  }

 private:
  void do_position(const context& on, const probes& ranges, std::uint64_t* out) const override {
    rays_.trace(on, job(ranges, 0, ranges.size(), out));
  }

  void do_extreme(const context& on, const probes& ranges, void* out) const override {
    const std::uint64_t all = ranges.size();
    buffer<std::uint64_t> positions(on, std::min(rays::most_at_once, all));
    for (std::uint64_t begin = 0; begin < all; begin += positions.size()) {
      const std::uint64_t size = std::min(positions.size(), all - begin);
      rays_.trace(on, job(ranges, begin, size, positions.data()));
      dispatch_values(values_, this->info_.extreme, [&]<class Value, class Place>() {
        executor::for_each_alone(
            on,
            put_value<Value>{array_of<Value>(values_, this->info_.extreme), positions.data(),
                             static_cast<Value*>(out) + begin},
            size);
      });
    }
  }

  core::rmq_ray_job job(const probes& ranges, std::uint64_t begin, std::uint64_t size,
                        std::uint64_t* out) const {
    core::rmq_ray_job made;
    made.ranges = source_of(ranges);
    made.array_size = values_.size;
    made.begin = begin;
    made.size = size;
    made.out = out;
    return made;
  }

  std::uint64_t do_repairs(stream_t stream) const override { return repairs_.read(stream); }

  column values_;
  repair_counter<executor> repairs_;
  rays rays_;
};

template <class Engine>
std::unique_ptr<rmq> make_rmq_rx(const rmq_info& info, const context& on, const column& values,
                                 const rmq_rx_options& options) {
  return std::make_unique<built_rmq_rx<Engine>>(info, on, values, options);
}

}  // namespace raydex
