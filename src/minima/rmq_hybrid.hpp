// SPDX-License-Identifier: Apache-2.0
// The hierarchy whose last level is asked by rays, whatever the engine that traces them.
//
// An engine is as rmq_rx.hpp says, and has `build_levels(info, where, values, options)`, which
// makes the hierarchy itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "raydex/core/minima/rmq_hierarchy.hpp"
#include "raydex/rmq_hierarchy.hpp"
#include "src/minima/built_rmq.hpp"
#include "src/minima/rmq_rx.hpp"

namespace raydex {

// The ranges of a stretch of a batch, once rays have found their entries of the last level.
template <class Value, class Place>
struct traced_ranges {
  using view_type = core::rmq_hierarchy_view<Value, Place>;

  view_type view;
  core::range_source ranges;
  std::uint64_t begin;          // the first range
  const std::uint64_t* traced;  // the entry of each, or none: nothing is left to that level
  Place first_entry;            // which rays number 0

  // Calls f(first, last, entry) for range `i`, counted from the first one, unless it is empty.
  template <class Function>
  RAYDEX_HD void read(std::uint64_t i, const Function& f) const {
    Place first = 0;
    Place last = 0;
    if (!ranges.read(begin + i, view.array, first, last)) return;
    const std::uint64_t entry = traced[i];
    const bool is_any = entry != core::rmq_ray_scene::none;
    f(first, last, is_any ? static_cast<Place>(first_entry + entry) : view_type::none);
  }
};

template <class Value, class Place>
struct traced_minimum {
  traced_ranges<Value, Place> ranges;
  Value* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    auto least = core::last_value<Value>();
    ranges.read(i, [&](Place first, Place last, Place entry) {
      least = ranges.view.minimum(first, last, entry);
    });
    core::store_once(out + ranges.begin + i, ranges.view.array.original(least));
  }
};

template <class Value, class Place>
struct traced_position {
  traced_ranges<Value, Place> ranges;
  std::uint64_t* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t position = no_position;
    ranges.read(i, [&](Place first, Place last, Place entry) {
      const auto least = ranges.view.find(first, last, entry);
      position = least.place - ranges.view.array.first();
    });
    core::store_once(out + ranges.begin + i, position);
  }
};

template <class Value, class Place, class Engine>
class built_rmq_hybrid final : public executed_rmq<typename Engine::executor, rmq_hierarchy> {
  using executor = typename Engine::executor;
  using rays = minima_by_rays<Engine>;
  using view_type = core::rmq_hierarchy_view<Value, Place>;

 public:
  built_rmq_hybrid(const rmq_info& info, const context& where_to, const column& values,
                   const rmq_hierarchy_options& options)
      : built_rmq_hybrid::executed_rmq(info, where_to.memory),
        values_(values),
        ties_(options.ties),
        levels_(Engine::build_levels(info, {this->memory(), where_to.stream}, values, options)),
        repairs_({this->memory(), where_to.stream}) {
    place_top(where_to.stream);
    this->measure();
  }

 private:
  const view_type& view() const { return *static_cast<const view_type*>(view_of_core()); }
  const void* view_of_core() const noexcept override {
    return rmq_hierarchy::view_of_core(*levels_);
  }

  // The last level as rays see it: the array itself, if it is the only one.
  column top() const {
    const unsigned level = view().levels.count;
    if (level == 0) return values_;
    return {format_of<Value>, view().minima + view().levels.begins[level],
            view().levels.size(level)};
  }
  void place_top(stream_t stream) {
    rays_.reset();  // so that queries scan, if it cannot be placed
    rays_.emplace(context{this->memory(), stream}, this->memory(), top(),
                  rmq_rx_options{.ties = ties_}, repairs_.number());
  }

  // Has a batch answered by `Answer`, a stretch of it at a time.
  template <template <class, class> class Answer, class Out>
  void answer(const context& where, const probes& ranges, Out* out) const {
    const bool is_array = view().levels.count == 0;
    const auto first_place = static_cast<Place>(view().array.first());
    core::rmq_ray_job job;
    job.ranges = source_of(ranges);
    job.array_size = values_.size;
    job.first_place = is_array ? 0 : first_place;
    job.chunk_bits = view().levels.chunk_bits;
    job.levels_above = view().levels.count;
    const std::uint64_t all = ranges.size();
    buffer<std::uint64_t> traced(where, std::min(rays::most_at_once, all));
    job.out = traced.data();
    for (; job.begin < all; job.begin += job.size) {
      job.size = std::min(traced.size(), all - job.begin);
      rays_->trace(where, job);
      executor::for_each(where,
                         Answer<Value, Place>{{view(), job.ranges, job.begin, traced.data(),
                                               is_array ? first_place : Place{0}},
                                              out},
                         job.size);
    }
  }

  void do_minimum(const context& where, const probes& ranges, void* out) const override {
    if (rays_) {
      answer<traced_minimum>(where, ranges, static_cast<Value*>(out));
    } else {
      repairs_.add(where, ranges.size());
      levels_->minimum(where, ranges, value_span(this->info_.value, out, ranges.size()));
    }
  }
  void do_position(const context& where, const probes& ranges, std::uint64_t* out) const override {
    if (rays_) {
      answer<traced_position>(where, ranges, out);
    } else {
      repairs_.add(where, ranges.size());
      levels_->position(where, ranges, std::span(out, ranges.size()));
    }
  }
  void do_refresh(stream_t stream, const column& positions) override {
    levels_->refresh(stream, positions);
    place_top(stream);
  }
  std::uint64_t do_repairs(stream_t stream) const override { return repairs_.read(stream); }

  column values_;
  rmq_ties ties_;
  std::unique_ptr<rmq_hierarchy> levels_;
  repair_counter<executor> repairs_;
  std::optional<rays> rays_;
};

template <class Engine>
std::unique_ptr<rmq_hierarchy> make_rmq_hybrid(const rmq_info& info, const context& where_to,
                                               const column& values,
                                               const rmq_hierarchy_options& options) {
  return dispatch_values(values, [&]<class Value, class Place>() -> std::unique_ptr<rmq_hierarchy> {
    return std::make_unique<built_rmq_hybrid<Value, Place, Engine>>(info, where_to, values,
                                                                    options);
  });
}

}  // namespace raydex
