// SPDX-License-Identifier: Apache-2.0
/// @file
/// How answers of several shards become one.
#pragma once

#include <cstdint>

namespace raydex {

/// How the answers of a probe's pieces are put together.
enum class piece_answer : std::uint8_t {
  replace,  ///< the answer of a point's piece is the point's; for points only
  sum,      ///< added to what is there
  minimum   ///< the smaller one of it and what is there; of row ids, `not_found` is the largest
};

}  // namespace raydex
