// SPDX-License-Identifier: Apache-2.0
// How a view of core answers a range.
#pragma once

#include <cstdint>

#include "raydex/core/keys/column.hpp"
#include "raydex/core/minima/rmq.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

// What is asked of ranges: their minima, in the order of the array.
template <class Value, class Place>
struct asked_minimum {
  using found = Value;   // what a search finds
  using result = Value;  // what is written
  static constexpr bool placed = false;

  template <class View, class... How>
  RAYDEX_HD static found search(const View& view, const How&... how) {
    return view.minimum(how...);
  }
  RAYDEX_HD static found of(const core::placed_minimum<Value, Place>& both) { return both.value; }
  template <class View>
  RAYDEX_HD static result answer(const View& view, bool is_any, found least) {
    return view.array.original(is_any ? least : core::last_value<Value>());
  }
};

// Or where these are.
template <class Value, class Place>
struct asked_position {
  using found = Place;
  using result = std::uint64_t;
  static constexpr bool placed = true;

  template <class View, class... How>
  RAYDEX_HD static found search(const View& view, const How&... how) {
    return of(view.find(how...));
  }
  RAYDEX_HD static found of(const core::placed_minimum<Value, Place>& both) { return both.place; }
  template <class View>
  RAYDEX_HD static result answer(const View& view, bool is_any, found place) {
    return is_any ? place - view.array.first() : no_position;
  }
};

// Answers one range by a view that a single thread asks.
template <class View, class Asked>
struct answer_range {
  View view;
  core::range_source ranges;
  typename Asked::result* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    typename View::place_type first = 0;
    typename View::place_type last = 0;
    const bool is_any = ranges.read(i, view.array, first, last);
    put(i, is_any, is_any ? Asked::search(view, first, last) : typename Asked::found{});
  }
  // Writes what was found, if the range is not empty.
  RAYDEX_HD void put(std::uint64_t i, bool is_any, typename Asked::found found) const {
    core::store_once(out + i, Asked::answer(view, is_any, found));
  }
};

}  // namespace raydex
