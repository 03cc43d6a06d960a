// SPDX-License-Identifier: Apache-2.0
// The hierarchy whose last level is asked by rays, whatever the engine that traces them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "raydex/core/minima/rmq_hierarchy.hpp"
#include "raydex/rmq_hierarchy.hpp"
#include "src/minima/built_rmq.hpp"
#include "src/minima/hybrid_job.hpp"
#include "src/minima/rmq_rx.hpp"

namespace raydex {

// Makes the hierarchy itself.
using build_levels = std::unique_ptr<rmq_hierarchy>(const rmq_info& info, const context& on,
                                                    const column& values,
                                                    const rmq_hierarchy_options& options);

template <class Value, class Place, engine Engine>
class built_rmq_hybrid final : public executed_rmq<typename Engine::executor, rmq_hierarchy> {
  using executor = typename Engine::executor;
  using rays = minima_by_rays<Engine>;
  using view_type = core::rmq_hierarchy_view<Value, Place>;

 public:
  built_rmq_hybrid(const rmq_info& info, const context& on, const column& values,
                   const rmq_hierarchy_options& options, build_levels* build)
      : built_rmq_hybrid::executed_rmq(info, on.memory),
        values_(values),
        options_(options),
        levels_(build(info, {this->memory(), on.stream}, values, options)),
        repairs_({this->memory(), on.stream}) {
    place_top(on.stream);
    this->measure();
  }

 private:
  const view_type& view() const { return *static_cast<const view_type*>(view_of_core()); }
  const void* view_of_core() const noexcept override {
    return rmq_hierarchy::view_of_core(*levels_);
  }

  // The last level as rays see it: the array itself, if it is the only one; else its minima, which
  // have the order of the array. Nothing, if no rays are to be cast.
  void place_top(stream_t stream) {
    rays_.reset();  // so that queries scan, if it cannot be placed
    const unsigned level = view().levels.count;
    column top = values_;
    rmq_rx_options asked{.ties = options_.ties, .extreme = options_.extreme};
    if (level != 0) {
      top = {format_of<Value>, view().minima + view().levels.begins[level],
             view().levels.size(level)};
      asked.extreme = rmq_extreme::minimum;
    }
    if (options_.top == hierarchy_top::scan) top.size = 0;
    rays_.emplace(context{this->memory(), stream}, this->memory(), top, asked, repairs_.number());
  }

  // Has a batch answered, a stretch of it at a time.
  template <class Asked>
  void answer(const context& on, const probes& ranges, typename Asked::result* out) const {
    const bool is_array = view().levels.count == 0;
    const bool in_one = options_.kernel == hierarchy_kernel::tracing;
    const auto first_place = static_cast<Place>(view().array.first());
    hybrid_job<view_type, Asked> job;
    job.ranges = source_of(ranges);
    job.array_size = values_.size;
    job.first_place = is_array ? 0 : first_place;
    job.chunk_bits = view().levels.chunk_bits;
    job.levels_above = view().levels.count;
    job.answer = {view(), job.ranges, out};
    job.first_entry = is_array ? first_place : Place{0};
    const std::uint64_t all = ranges.size();
    const std::uint64_t most = std::min(rays::most_at_once, all);
    buffer<std::uint64_t> traced(on, in_one ? 0 : most);
    job.out = traced.data();
    for (; job.begin < all; job.begin += job.size) {
      job.size = std::min(most, all - job.begin);
      if (in_one) {
        rays_->run(on, job);
      } else {
        rays_->template run<core::rmq_ray_job>(on, job);
        executor::for_each_alone(on, job, job.size);
      }
    }
  }

  void do_extreme(const context& on, const probes& ranges, void* out) const override {
    if (rays_) {
      answer<asked_minimum<Value, Place>>(on, ranges, static_cast<Value*>(out));
    } else {
      repairs_.add(on, ranges.size());
      const value_span to(this->info_.value, out, ranges.size());
      this->info_.extreme == rmq_extreme::minimum ? levels_->minimum(on, ranges, to)
                                                  : levels_->maximum(on, ranges, to);
    }
  }
  void do_position(const context& on, const probes& ranges, std::uint64_t* out) const override {
    if (rays_) {
      answer<asked_position<Value, Place>>(on, ranges, out);
    } else {
      repairs_.add(on, ranges.size());
      levels_->position(on, ranges, std::span(out, ranges.size()));
    }
  }
  void do_refresh(stream_t stream, const column& positions) override {
    levels_->refresh(stream, positions);
    place_top(stream);
  }
  std::uint64_t do_repairs(stream_t stream) const override { return repairs_.read(stream); }

  column values_;
  rmq_hierarchy_options options_;
  std::unique_ptr<rmq_hierarchy> levels_;
  repair_counter<executor> repairs_;
  std::optional<rays> rays_;
};

template <engine Engine>
std::unique_ptr<rmq_hierarchy> make_rmq_hybrid(const rmq_info& info, const context& on,
                                               const column& values,
                                               const rmq_hierarchy_options& options,
                                               build_levels* build) {
  return dispatch_values(values, options.extreme,
                         [&]<class Value, class Place>() -> std::unique_ptr<rmq_hierarchy> {
                           return std::make_unique<built_rmq_hybrid<Value, Place, Engine>>(
                               info, on, values, options, build);
                         });
}

}  // namespace raydex
