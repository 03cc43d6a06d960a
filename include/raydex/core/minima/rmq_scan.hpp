// SPDX-License-Identifier: Apache-2.0
/// @file
/// The full scan of a range.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/minima/rmq.hpp"

namespace raydex::core {

/// The full scan as a view.
template <class Value, class Place>
struct rmq_scan_view {
  using value_type = Value;    ///< of the values
  using place_type = Place;    ///< of places
  value_array<Value> array{};  ///< the values
  bool rightmost = false;      ///< of equal values, whose place counts

  /// The minimum of [first, last], places of the array.
  RAYDEX_HD Value minimum(Place first, Place last) const {
    auto least = last_value<Value>();
    for_each_pack(first, last, [&](const value_pack<Value>& values, Place begin) {
      RAYDEX_UNROLL
      for (unsigned i = 0; i < value_pack<Value>::size; ++i) {
        const bool is_in = begin + i >= first && begin + i <= last;
        least = smaller(least, is_in ? values.at[i] : last_value<Value>());
      }
    });
    return least;
  }

  /// The minimum and its place.
  RAYDEX_HD placed_minimum<Value, Place> find(Place first, Place last) const {
    placed_minimum<Value, Place> least{array[first], first};
    for_each_pack(first, last, [&](const value_pack<Value>& values, Place begin) {
      RAYDEX_UNROLL
      for (unsigned i = 0; i < value_pack<Value>::size; ++i) {
        const Place place = begin + i;
        if (place < first || place > last) continue;
        if (rightmost ? !less(least.value, values.at[i]) : less(values.at[i], least.value))
          least = {values.at[i], place};
      }
    });
    return least;
  }

 private:
  template <class Function>
  RAYDEX_HD void for_each_pack(Place first, Place last, const Function& f) const {
    constexpr unsigned size = value_pack<Value>::size;
    for (std::uint64_t number = first / size; number <= last / size; ++number)
      f(array.pack(number), static_cast<Place>(number * size));
  }
};

}  // namespace raydex::core
