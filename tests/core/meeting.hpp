// SPDX-License-Identifier: Apache-2.0
// Where rays meet triangles, exactly.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "raydex/core/rays/key_scene.hpp"

namespace raydex::test {

using corners = core::point3[3];

// Where a ray meets the plane of a triangle. Coordinates are floats. A long double holds a product
// of two exactly; the rounding of a product of three does not matter here.
struct meeting {
  long double along;      // the distance from the ray's origin
  bool inside;            // whether that point is in the triangle
  long double area;       // twice the triangle's, as the ray sees it: engines divide by it
  long double clearness;  // how far the edges are from the ray that tell, in shares of what is
                          // subtracted to find out: 0 for one that it meets
};

inline std::array<long double, 3> seen_from(const core::axis_ray& ray, core::point3 at) {
  const std::array<long double, 3> all{static_cast<long double>(at.x) - ray.origin.x,
                                       static_cast<long double>(at.y) - ray.origin.y,
                                       static_cast<long double>(at.z) - ray.origin.z};
  return {all[ray.axis], all[(ray.axis + 1) % 3], all[(ray.axis + 2) % 3]};
}

inline meeting meet(const core::axis_ray& ray, const corners& of) {
  const std::array points{seen_from(ray, of[0]), seen_from(ray, of[1]), seen_from(ray, of[2])};
  long double weight = 0;
  long double along = 0;
  int positive = 0;
  long double least = 1;
  long double most[2] = {0, 0};  // for edges with the ray to their right, and to their left
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& a = points[(i + 1) % 3];
    const auto& b = points[(i + 2) % 3];
    const long double side = a[1] * b[2] - a[2] * b[1];
    const long double terms = std::fabs(a[1] * b[2]) + std::fabs(a[2] * b[1]);
    const long double share = terms == 0 ? 0 : std::fabs(side) / terms;
    least = std::min(least, share);
    long double& most_of_side = most[side > 0 ? 1 : 0];
    most_of_side = std::max(most_of_side, share);
    positive += side > 0 ? 1 : 0;
    weight += side;
    along += side * points[i][0];
  }
  const bool inside = positive % 3 == 0;
  return {along / weight, inside, weight, inside ? least : std::min(most[0], most[1])};
}

}  // namespace raydex::test
