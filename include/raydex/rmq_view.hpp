// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_view`: range minima from inside a user's own code.
#pragma once

#include <bit>
#include <cstdint>

#include "raydex/core/config.hpp"

namespace raydex {

/// A structure for minima as the user's own code asks it, inside a kernel on `cuda`. It is
/// trivially copyable, and stays valid as long as the structure.
///
/// Ranges have positions of the array at both ends, counted from 0, the upper one not before the
/// lower one and below `size()`; others must not be asked for.
///
/// @tparam T of the array's values
/// @tparam View the structure's own view, of core
template <class T, class View>
class rmq_view {
 public:
  /// What the structure answers by.
  explicit rmq_view(const View& view) : view_(view) {}

  /// Values in the array.
  RAYDEX_HD std::uint64_t size() const { return view_.array.size(); }
  /// The smallest value of a range; a zero is 0.0, never -0.0.
  RAYDEX_HD T minimum(std::uint64_t lower, std::uint64_t upper) const {
    return std::bit_cast<T>(view_.array.original(view_.minimum(place(lower), place(upper))));
  }
  /// Where it is; of equal ones the leftmost or rightmost, as the build was told.
  RAYDEX_HD std::uint64_t position(std::uint64_t lower, std::uint64_t upper) const {
    return view_.find(place(lower), place(upper)).place - view_.array.first();
  }

 private:
  using place_type = typename View::place_type;
  RAYDEX_HD place_type place(std::uint64_t position) const {
    return static_cast<place_type>(position + view_.array.first());
  }

  View view_;
};

}  // namespace raydex
