// SPDX-License-Identifier: Apache-2.0
// What structures for minima have in common on all backends: from a view of core to answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "raydex/core/atomic.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/minima/rmq.hpp"
#include "raydex/rmq.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

template <class Value>
core::value_array<Value> array_of(const column& values, rmq_extreme extreme) {
  return {values.data, values.size, values.format.type, extreme == rmq_extreme::maximum};
}

inline core::range_source source_of(const probes& ranges) {
  return {cells_of(ranges.lower), cells_of(ranges.upper)};
}

// What ranges answer: their minima, in the order of the array.
template <class Value, class Place>
struct wanted_minimum {
  using found = Value;   // what a search finds
  using result = Value;  // what is written
  static constexpr bool placed = false;

  template <class View, class... How>
  RAYDEX_HD static found search(const View& view, const How&... how) {
    return view.minimum(how...);
  }
  RAYDEX_HD static found taken_from(const core::placed_minimum<Value, Place>& both) {
    return both.value;
  }
  template <class View>
  RAYDEX_HD static result answer(const View& view, bool is_any, found least) {
    return view.array.original(is_any ? least : core::last_value<Value>());
  }
};

// Or where these are.
template <class Value, class Place>
struct wanted_position {
  using found = Place;
  using result = std::uint64_t;
  static constexpr bool placed = true;

  template <class View, class... How>
  RAYDEX_HD static found search(const View& view, const How&... how) {
    return taken_from(view.find(how...));
  }
  RAYDEX_HD static found taken_from(const core::placed_minimum<Value, Place>& both) {
    return both.place;
  }
  template <class View>
  RAYDEX_HD static result answer(const View& view, bool is_any, found place) {
    return is_any ? place - view.array.first() : no_position;
  }
};

// Answers one range by a view that a single thread asks.
template <class View, class Wanted>
struct answer_range {
  View view;
  core::range_source ranges;
  typename Wanted::result* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    typename View::place_type first = 0;
    typename View::place_type last = 0;
    const bool is_any = ranges.read(i, view.array, first, last);
    put(i, is_any, is_any ? Wanted::search(view, first, last) : typename Wanted::found{});
  }
  // Writes what was found, if the range is not empty.
  RAYDEX_HD void put(std::uint64_t i, bool is_any, typename Wanted::found found) const {
    core::store_once(out + i, Wanted::answer(view, is_any, found));
  }
};

// Keeps the smallest number of a range that `rmq::check` refuses.
struct check_range {
  core::range_source ranges;
  std::uint64_t size;  // of the array
  std::uint64_t* bad;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t lower = 0;
    std::uint64_t upper = 0;
    const bool is_there = ranges.ends(i, lower, upper);
    if (!is_there || (lower <= upper && upper < size)) return;
    core::keep_smallest(bad, i);
  }
};

// What structures on an executor have in common.
template <executor Executor, class Base = rmq>
class executed_rmq : public Base {
 protected:
  executed_rmq(const rmq_info& info, memory_resource& upstream) : Base(upstream) {
    this->info_ = info;
  }

  std::uint64_t do_check(const context& on, const probes& ranges) const override {
    buffer<std::uint64_t> bad(on, 1);
    Executor::set(on, bad.data(), no_position);
    Executor::for_each_alone(on, check_range{source_of(ranges), this->info_.n, bad.data()},
                             ranges.size());
    return Executor::read(on, bad.data());
  }
  void do_read(const context& on, void* to, const void* from, std::size_t bytes) const override {
    Executor::copy_out(on, to, from, bytes);
  }
  void do_write(const context& on, void* to, const void* from, std::size_t bytes) const override {
    Executor::copy_in(on, to, from, bytes);
  }

  // The array as its description has it.
  column array() const { return {this->info_.value, this->info_.array, this->info_.n}; }
};

// Executors that have a faster way to answer for a view than a thread a range.
template <class E, class View, class Wanted>
concept answers_for = requires(const context& on, const View& view,
                               const core::range_source& ranges, typename Wanted::result* out,
                               std::uint64_t size) {
  E::template answer<Wanted>(on, view, ranges, out, size);
};

// A structure that a view answers for.
template <class View, class Executor, class Base = rmq>
class built_rmq : public executed_rmq<Executor, Base> {
 protected:
  using value = typename View::value_type;
  using place = typename View::place_type;

  using executed_rmq<Executor, Base>::executed_rmq;

  // The view that answers.
  const View& view() const { return view_; }
  void set_view(const View& view) { view_ = view; }

  void do_extreme(const context& on, const probes& ranges, void* out) const override {
    answer<wanted_minimum<value, place>>(on, ranges, static_cast<value*>(out));
  }
  void do_position(const context& on, const probes& ranges, std::uint64_t* out) const override {
    answer<wanted_position<value, place>>(on, ranges, out);
  }

 private:
  template <class Wanted>
  void answer(const context& on, const probes& ranges, typename Wanted::result* out) const {
    if constexpr (answers_for<Executor, View, Wanted>) {
      Executor::template answer<Wanted>(on, view_, source_of(ranges), out, ranges.size());
    } else {
      Executor::for_each_alone(on, answer_range<View, Wanted>{view_, source_of(ranges), out},
                               ranges.size());
    }
  }

  View view_;
};

}  // namespace raydex
