// SPDX-License-Identifier: Apache-2.0
// What the backends' `rmq_cover` have in common: its build and refresh.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "raydex/rmq_cover.hpp"
#include "src/interface/kept_memory.hpp"
#include "src/operations/minima/built_rmq.hpp"
#include "src/structures/rmq_cover/plan.hpp"

namespace raydex {

// The places of positions whose values have changed; `none` where they are beyond the array.
struct changed_places {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  core::cells positions;
  std::uint64_t size;      // how many
  std::uint64_t first;     // place of the array
  std::uint64_t in_array;  // values

  RAYDEX_HD std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t position = core::position_of(positions, i);
    return position < in_array ? position + first : none;
  }
};

template <class E>
concept cover_executor = executor<E> &&
    std::constructible_from<typename E::changed_blocks, const context&, const changed_places&> &&
    requires(const context& on, const core::put_block_minimum<float, std::uint32_t>& put_level,
             const core::put_parts<float, std::uint32_t>& put_parts,
             const core::put_first_cover<float, std::uint32_t>& put_first_cover,
             const typename E::changed_blocks& changed, unsigned shift) {
  // Have all entries of a level or table written.
  E::put_level(on, put_level);
  E::put_parts(on, put_parts);
  E::put_first_cover(on, put_first_cover);
  // Calls put_level(block) for the blocks of 2^shift places that hold some of those changed.
  changed.for_each(on, shift, put_level);
};

template <class Value, class Place, cover_executor Executor>
class built_rmq_cover final
    : public built_rmq<core::rmq_cover_view<Value, Place>, Executor, rmq_cover> {
  using view_type = core::rmq_cover_view<Value, Place>;

 public:
  built_rmq_cover(const rmq_info& info, const context& on, const column& values,
                  const rmq_cover_options& options)
      : built_rmq_cover::built_rmq(info, on.memory), options_(options) {
    const context own{this->memory(), on.stream};
    this->set_view(lay_out(values, [&](const char* /*name*/, auto& all, std::uint64_t size) {
      all = {own, size};
    }));
    for (unsigned level = 1; level <= this->view().layout.levels; ++level)
      put_level(own, level);
    put_tables(own);
    this->measure();
  }

 private:
  using entry = core::cover_entry<Value, Place>;
  using end_entry = core::end_entry<Value>;

  // Plans the memory beside an array; `take(name, buffer, size)` has each buffer hold so many.
  template <class Take>
  view_type lay_out(const column& values, const Take& take) {
    view_type view;
    view.array = array_of<Value>(values, options_.extreme);
    view.rightmost = options_.ties == rmq_ties::rightmost;
    const rmq_cover_plan<Value, Place> plan(view.array.end(), options_.memory);
    view.layout = plan.levels;
    view.tables = plan.tables;
    const std::uint64_t first = plan.levels.first_entries();
    const std::uint64_t later = plan.levels.later_entries();
    take("minima", minima_, first + later);
    take("offsets", offsets_, first);
    take("least after", least_beside_[0], first);
    take("least before", least_beside_[1], first);
    take("places", places_, later);
    take("masks", masks_, later);
    take("ends after", end_entries_[0], later);
    take("ends before", end_entries_[1], later);
    take("covers", entries_, plan.tables.size);
    view.minima = minima_.data();
    view.offsets = offsets_.data();
    view.places = places_.data();
    view.masks = masks_.data();
    for (unsigned side = 0; side < 2; ++side) {
      view.least_beside[side] = least_beside_[side].data();
      view.end_entries[side] = end_entries_[side].data();
    }
    view.cover.entries = entries_.data();
    view.cover.least = plan.tables.least;
    view.cover.least_beyond = plan.tables.size == 0
                                  ? std::numeric_limits<Place>::max()
                                  : static_cast<Place>(Place{3} << (plan.tables.least - 2));
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

  core::put_block_minimum<Value, Place> level_put(unsigned level) {
    return {this->view(), level, minima_.data(), offsets_.data(), places_.data()};
  }
  core::put_parts<Value, Place> parts_put(unsigned level) {
    return {this->view(),
            level,
            masks_.data(),
            {least_beside_[0].data(), least_beside_[1].data()},
            {end_entries_[0].data(), end_entries_[1].data()}};
  }

  void put_level(const context& on, unsigned level) {
    Executor::put_level(on, level_put(level));
    Executor::put_parts(on, parts_put(level));
  }

  void put_tables(const context& on) {
    const view_type& view = this->view();
    const core::cover_layout<Place>& tables = view.tables;
    const std::uint64_t places = view.array.end();
    const auto size = [&](unsigned j) { return ((places - 1) >> tables.tables[j].shift) + 1; };
    if (tables.size == 0) return;
    Executor::put_first_cover(on, core::put_first_cover<Value, Place>{view, entries_.data()});
    for (unsigned j = tables.least + 1; j <= tables.most; ++j) {
      const core::put_next_cover<Value, Place> put{
          tables.tables[j - 1], tables.tables[j], std::uint64_t{1} << (j - 1), places,
          view.rightmost,       entries_.data()};
      Executor::for_each_alone(on, put, size(j));
    }
  }

  void do_refresh(stream_t stream, const column& positions) override {
    const context own{this->memory(), stream};
    const view_type& view = this->view();
    const auto changes_little = [&](unsigned level) {
      return positions.size < view.layout.padded_entries(level) / Executor::entries_per_change;
    };
    // What it needs is allocated before anything is written.
    std::optional<typename Executor::changed_blocks> changed;
    if (view.layout.levels != 0 && changes_little(1)) {
      changed.emplace(own, changed_places{cells_of(positions), positions.size, view.array.first(),
                                          view.array.size()});
    }
    for (unsigned level = 1; level <= view.layout.levels; ++level) {
      if (changes_little(level)) {
        changed->for_each(own, view.layout.shift(level), level_put(level));
        changed->for_each(own, view.layout.shift(level + 1), parts_put(level));
      } else {
        put_level(own, level);
      }
    }
    put_tables(own);
  }

  const void* view_of_core() const noexcept override { return &this->view(); }

  rmq_cover_options options_;
  buffer<Value> minima_;
  buffer<std::uint8_t> offsets_;
  buffer<std::uint8_t> least_beside_[2];
  buffer<Place> places_;
  buffer<std::uint32_t> masks_;
  buffer<end_entry> end_entries_[2];
  buffer<entry> entries_;
};

template <class Executor>
std::unique_ptr<rmq_cover> make_rmq_cover(const rmq_info& info, const context& on,
                                          const column& values, const rmq_cover_options& options) {
  const auto make = [&]<class Value, class Place>() -> std::unique_ptr<rmq_cover> {
    return std::make_unique<built_rmq_cover<Value, Place, Executor>>(info, on, values, options);
  };
  const bool as_floats =
      options.extreme == rmq_extreme::minimum && values.format.type == key_type::float32;
  return as_floats ? dispatch_places<float>(values, make) : dispatch_coded(values, make);
}

}  // namespace raydex
