// SPDX-License-Identifier: Apache-2.0
// The hierarchy whose last level rays search, whatever the engine that traces them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "raydex/core/minima/rmq_hierarchy.hpp"
#include "raydex/repairs.hpp"
#include "raydex/rmq_hierarchy.hpp"
#include "src/operations/minima/built_rmq.hpp"
#include "src/structures/papers/rmq_rx/rmq_rx.hpp"

namespace raydex {

// Answers a range of a slice of a batch once rays have been traced.
template <class View, class Wanted>
struct answer_traced_range {
  using place = typename View::place_type;

  answer_range<View, Wanted> answer;
  std::uint64_t begin;          // the first range of the slice
  const std::uint64_t* traced;  // which entry of the last level rays found, or `none`
  place first_entry;            // which rays number 0

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const View& view = answer.view;
    place first = 0;
    place last = 0;
    typename Wanted::found found{};
    const bool is_any = answer.ranges.read(begin + i, view.array, first, last);
    if (is_any) {
      const bool is_traced = traced[i] != core::rmq_ray_scene::none;
      found = Wanted::search(view, first, last,
                             is_traced ? static_cast<place>(first_entry + traced[i]) : View::none);
    }
    answer.put(begin + i, is_any, found);
  }
};

// Makes the hierarchy itself.
using build_levels = std::unique_ptr<rmq_hierarchy>(const rmq_info& info, const context& on,
                                                    const column& values,
                                                    const rmq_hierarchy_options& options);

template <class Value, class Place, engine Engine>
class built_rmq_hybrid final : public executed_rmq<typename Engine::executor, rmq_hierarchy>,
                               public counts_repairs {
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
  // have the order of the array.
  void place_top(stream_t stream) {
    rays_.reset();  // so that queries scan, if it cannot be placed
    const unsigned level = view().levels.count;
    column top = values_;
    rmq_rx_options top_options{.ties = options_.ties, .extreme = options_.extreme};
    if (level != 0) {
      top = {format_of<Value>, view().minima + view().levels.begins[level],
             view().levels.size(level)};
      top_options.extreme = rmq_extreme::minimum;
    }
    rays_.emplace(context{this->memory(), stream}, this->memory(), top, top_options,
                  repairs_.number());
  }

  // Has a batch answered, a slice at a time.
  template <class Wanted>
  void answer(const context& on, const probes& ranges, typename Wanted::result* out) const {
    const bool is_array = view().levels.count == 0;
    const auto first_place = static_cast<Place>(view().array.first());
    core::rmq_ray_job job;
    job.ranges = source_of(ranges);
    job.array_size = values_.size;
    job.first_place = is_array ? 0 : first_place;
    job.chunk_bits = view().levels.chunk_bits;
    job.levels_above = view().levels.count;
    const answer_range<view_type, Wanted> all{view(), job.ranges, out};
    buffer<std::uint64_t> traced(on, std::min(rays::most_at_once, ranges.size()));
    job.out = traced.data();
    for (; job.begin < ranges.size(); job.begin += job.size) {
      job.size = std::min(traced.size(), ranges.size() - job.begin);
      rays_->run(on, job);
      executor::for_each_alone(on,
                               answer_traced_range<view_type, Wanted>{
                                   all, job.begin, job.out, is_array ? first_place : Place{0}},
                               job.size);
    }
  }

  void do_extreme(const context& on, const probes& ranges, void* out) const override {
    if (rays_) {
      answer<wanted_minimum<Value, Place>>(on, ranges, static_cast<Value*>(out));
    } else {
      repairs_.add(on, ranges.size());
      const value_span to(this->info_.value, out, ranges.size());
      this->info_.extreme == rmq_extreme::minimum ? levels_->minimum(on, ranges, to)
                                                  : levels_->maximum(on, ranges, to);
    }
  }
  void do_position(const context& on, const probes& ranges, std::uint64_t* out) const override {
    if (rays_) {
      answer<wanted_position<Value, Place>>(on, ranges, out);
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
