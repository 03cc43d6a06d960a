// SPDX-License-Identifier: Apache-2.0
// What the backends' hierarchies have in common.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>

#include "raydex/core/minima/rmq_hierarchy.hpp"
#include "raydex/rmq_hierarchy.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/operations/minima/built_rmq.hpp"

namespace raydex {

// How batches are answered, on a backend that has groups of threads.
struct hierarchy_plan {
  bool coalesced = false;  // by groups; otherwise by a thread each
  hierarchy_assign assign = hierarchy_assign::queue;
  unsigned group_bits = 0;  // groups of 2^group_bits threads
};

// What answers, and how.
template <class Value, class Place>
struct planned_hierarchy : core::rmq_hierarchy_view<Value, Place> {
  hierarchy_plan plan;

  const core::rmq_hierarchy_view<Value, Place>& of_core() const { return *this; }
};

template <class E>
concept hierarchy_executor = executor<E> &&
    requires(const context& on, unsigned group_bits,
             const core::summarise_level<float, std::uint32_t>& f, std::uint64_t size) {
  // Calls f(group, 0) .. with a core::reducing_group of up to 2^group_bits threads each.
  E::for_each_group(on, group_bits, f, size);
};

// All options have values.
template <class Value, class Place, hierarchy_executor Executor>
class built_rmq_hierarchy final
    : public built_rmq<planned_hierarchy<Value, Place>, Executor, rmq_hierarchy> {
  using view_type = planned_hierarchy<Value, Place>;

 public:
  built_rmq_hierarchy(const rmq_info& info, const context& on, const column& values,
                      const rmq_hierarchy_options& options)
      : built_rmq_hierarchy::built_rmq(info, on.memory), options_(options) {
    const context own{this->memory(), on.stream};
    this->set_view(lay_out(values, [&](const char* /*name*/, auto& all, std::uint64_t size) {
      all = {own, size};
    }));
    for (unsigned level = 1; level <= this->view().levels.count; ++level)
      summarise(own, level);
    this->measure();
  }

 private:
  // Plans the levels of an array; `take(name, buffer, size)` has each buffer hold so many.
  template <class Take>
  view_type lay_out(const column& values, const Take& take) {
    view_type view;
    view.array = array_of<Value>(values, options_.extreme);
    view.rightmost = options_.ties == rmq_ties::rightmost;
    view.levels = {view.array.size() == 0 ? 0 : view.array.end(), bits(*options_.chunk),
                   *options_.cutoff};
    view.plan = {options_.load == hierarchy_load::coalesced, options_.assign,
                 bits(*options_.group)};
    take("minima", minima_, view.levels.entries());
    take("positions", positions_, view.levels.entries());
    view.minima = minima_.data();
    view.positions = positions_.data();
    return view;
  }

  bool do_keep(const context& own, kept_memory& file) override {
    const view_type view =
        lay_out(this->array(), [&](const char* name, auto& all, std::uint64_t size) {
          file.array<Executor>(name, own, all, size);
        });
    if (file.loads()) this->set_view(view);  // others may ask what is saved
    return true;
  }

  static unsigned bits(unsigned power) { return static_cast<unsigned>(std::countr_zero(power)); }

  // Threads that make an entry: one for all packs that it reads at once, as far as a warp has them.
  unsigned group_bits() const {
    constexpr unsigned most = 5;
    const unsigned by_thread =
        bits(core::rmq_hierarchy_view<Value, Place>::at_once * core::value_pack<Value>::size);
    const unsigned in_chunk = this->view().levels.chunk_bits;
    return std::min(in_chunk - std::min(in_chunk, by_thread), most);
  }

  core::summarise_level<Value, Place> level(unsigned number) {
    return {this->view(), number, minima_.data(), positions_.data()};
  }
  void summarise(const context& on, unsigned number) {
    Executor::for_each_group(on, group_bits(), level(number),
                             this->view().levels.padded_size(number));
  }

  void do_refresh(stream_t stream, const column& positions) override {
    const context own{this->memory(), stream};
    const auto& levels = this->view().levels;
    for (unsigned number = 1; number <= levels.count; ++number) {
      if (positions.size < levels.size(number) / Executor::entries_per_change) {
        Executor::for_each_group(
            own, group_bits(),
            core::refresh_level<Value, Place>{level(number), cells_of(positions)}, positions.size);
      } else {
        summarise(own, number);
      }
    }
  }

  const void* view_of_core() const noexcept override { return &this->view().of_core(); }

  rmq_hierarchy_options options_;
  buffer<Value> minima_;
  buffer<Place> positions_;
};

template <class Executor>
std::unique_ptr<rmq_hierarchy> make_rmq_hierarchy(const rmq_info& info, const context& on,
                                                  const column& values,
                                                  const rmq_hierarchy_options& options) {
  return dispatch_values(values, options.extreme,
                         [&]<class Value, class Place>() -> std::unique_ptr<rmq_hierarchy> {
                           return std::make_unique<built_rmq_hierarchy<Value, Place, Executor>>(
                               info, on, values, options);
                         });
}

}  // namespace raydex
