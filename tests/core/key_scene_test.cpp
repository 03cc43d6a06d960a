// SPDX-License-Identifier: Apache-2.0
// Where exactly rays meet primitives, and how far that is from where they begin and end. Engines
// round, so what a ray must meet lies a few floats inside it, counted at its distance; what it must
// not meet lies as far outside.
#include "raydex/core/rays/key_scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/core/meeting.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

using test::corners;
using test::meet;
using test::meeting;

// A distance between two places along a ray, in floats at one of them.
long double in_floats(long double distance, long double place) {
  const auto at = static_cast<float>(std::fabs(place));
  return distance / (std::nextafter(at, std::numeric_limits<float>::infinity()) - at);
}

// At least so many floats lie between a hit and an end of its ray where there is room.
constexpr long double plenty = 1 << 20;
// The least distance of a ray from an edge, as a share of the numbers subtracted to find it.
constexpr long double clear = 0.125L;

void expect_met(const axis_ray& ray, long double along, long double floats) {
  EXPECT_GE(in_floats(along - ray.begin, along), floats) << "after the ray begins";
  EXPECT_GE(in_floats(ray.end - along, along), floats) << "before the ray ends";
}
void expect_passed_by(const axis_ray& ray, long double along, long double floats) {
  EXPECT_GE(in_floats(along > ray.begin ? along - ray.end : ray.begin - along, along), floats)
      << "outside of the ray";
}
void expect_met(const axis_ray& ray, const corners& of, long double floats) {
  const meeting at = meet(ray, of);
  EXPECT_TRUE(at.inside);
  EXPECT_GE(at.clearness, clear);
  expect_met(ray, at.along, floats);
}
// The ray passes beside it, before it, or behind it.
void expect_passed_by(const axis_ray& ray, const corners& of, long double floats) {
  const meeting at = meet(ray, of);
  EXPECT_GE(at.clearness, clear);
  if (at.inside) expect_passed_by(ray, at.along, floats);
}

std::string describe(const key_grid& grid) {
  return "bits " + std::to_string(grid.x_bits) + "/" + std::to_string(grid.y_bits) + "/" +
         std::to_string(grid.z_bits) + ", steps " + std::to_string(grid.y_step) + "/" +
         std::to_string(grid.z_step);
}

// Grids of all kinds: as wide as possible along each axis, and narrow ones; with short steps, those
// of the options, and the longest.
std::vector<key_grid> grids() {
  std::vector<key_grid> all;
  const unsigned bits[][3] = {{23, 23, 18}, {18, 23, 23}, {23, 18, 23}, {22, 21, 21}, {23, 9, 0},
                              {9, 23, 0},   {16, 16, 0},  {23, 0, 0},   {5, 0, 0},    {1, 1, 1}};
  for (const auto& [x, y, z] : bits) {
    for (const auto& [y_scale, z_scale] :
         {std::pair{0U, 0U}, std::pair{15U, 21U}, std::pair{4U, 20U}, std::pair{39U, 39U}}) {
      key_grid grid{.x_bits = static_cast<std::uint8_t>(x),
                    .y_bits = static_cast<std::uint8_t>(y),
                    .z_bits = static_cast<std::uint8_t>(z)};
      grid.y_step = std::ldexp(1.0F, static_cast<int>(std::min(y_scale, 39 - y)));
      grid.z_step = std::ldexp(1.0F, static_cast<int>(std::min(z_scale, 39 - z)));
      all.push_back(grid);
    }
  }
  return all;
}

class key_scene : public testing::Test {
 protected:
  // A number from 0 to `last`, often one near an end or the middle.
  std::int32_t pick(std::int32_t last) {
    const std::int32_t near = static_cast<std::int32_t>(random_() % 3);
    switch (random_() % 4) {
      case 0:
        return std::min(near, last);
      case 1:
        return std::max(last - near, 0);
      case 2:
        return std::clamp(last / 2 + near - 1, 0, last);
      default:
        return static_cast<std::int32_t>(random_() % (static_cast<std::uint64_t>(last) + 1));
    }
  }
  cell pick_cell(const key_grid& grid) {
    const cell last = grid.last_cell();
    return {pick(last.x), pick(last.y), pick(last.z)};
  }

  std::mt19937_64 random_ = test::generator();
};

std::int32_t& along(cell& of, unsigned axis) {
  return axis == 0 ? of.x : axis == 1 ? of.y : of.z;
}

TEST_F(key_scene, rays_along_an_axis_end_far_behind_the_last_cell) {
  for (const key_grid& grid : grids()) {
    SCOPED_TRACE(describe(grid));
    for (int i = 0; i < 500; ++i) {
      cell begin = pick_cell(grid);
      const auto axis = static_cast<unsigned>(random_() % 3);
      // Markers of rows and planes stand in columns of their own.
      if (axis == 1 && random_() % 2 == 0) begin.x = -1;
      if (axis == 2 && random_() % 2 == 0) begin = {-2, 0, begin.z};
      const axis_ray ray = grid.ray_from(begin, axis);
      cell end = grid.last_cell();
      const std::int32_t first = along(begin, axis);
      const std::int32_t last = along(end, axis);
      for (const std::int32_t place : {first, last, first + pick(last - first)}) {
        cell at = begin;
        along(at, axis) = place;
        for (const bool flipped : {false, true}) {
          corners met;
          grid.triangle(at, flipped, met);
          expect_met(ray, met, plenty);
        }
      }
      const auto expect_none = [&](cell at) {
        const bool exists =
            at.x >= -2 && at.x <= end.x && at.y >= 0 && at.y <= end.y && at.z >= 0 && at.z <= end.z;
        if (!exists) return;
        corners passed;
        grid.triangle(at, false, passed);
        expect_passed_by(ray, passed, plenty);
      };
      // What lies before the ray, markers included, and the cells around one that it meets.
      cell before = begin;
      --along(before, axis);
      expect_none(before);
      for (const unsigned aside : {(axis + 1) % 3, (axis + 2) % 3}) {
        for (const int by : {-1, 1}) {
          cell beside = begin;
          along(beside, axis) = last;
          along(beside, aside) += by;
          expect_none(beside);
        }
      }
      if (HasFailure()) FAIL() << "from " << begin.x << ", " << begin.y << ", " << begin.z;
    }
  }
}

TEST_F(key_scene, triangles_of_cells_are_met_in_the_point_of_the_cell) {
  for (const key_grid& grid : grids()) {
    SCOPED_TRACE(describe(grid));
    for (int i = 0; i < 500; ++i) {
      cell at = pick_cell(grid);
      if (i % 3 == 1) at.x = -1;
      if (i % 3 == 2) at = {-2, 0, at.z};
      corners met;
      grid.triangle(at, false, met);
      for (const unsigned axis : {0U, 1U, 2U}) {
        const axis_ray ray = grid.ray_from(at, axis);
        const float step = axis == 0 ? 1 : axis == 1 ? grid.y_step : grid.z_step;
        const meeting exact = meet(ray, met);
        ASSERT_EQ(exact.along, 0.5F * step) << at.x << ", " << at.y << ", " << at.z;
        // Powers of 2 have an exact reciprocal.
        int exponent = 0;
        ASSERT_EQ(std::frexp(std::fabs(exact.area), &exponent), 0.5F);
      }
    }
  }
}

TEST_F(key_scene, rays_across_meet_spans_from_end_to_end) {
  for (const unsigned bits : {1U, 5U, 11U, 23U}) {
    const key_grid grid{.x_bits = static_cast<std::uint8_t>(bits), .y_bits = 0, .z_bits = 0};
    SCOPED_TRACE(describe(grid));
    const std::int32_t last = grid.last_cell().x;
    for (int i = 0; i < 500; ++i) {
      const std::int32_t a = pick(last);
      const std::int32_t b = pick(last);
      const std::int32_t left = std::min(a, b);
      const std::int32_t right = std::max(a, b);
      corners span;
      grid.span({left, 0, 0}, {right, 0, 0}, span);
      for (const std::int32_t x : {left, right, left + pick(right - left)})
        expect_met(grid.ray_across({x, 0, 0}), span, plenty);
      for (const std::int32_t x : {left - 1, right + 1, 0, last}) {
        if (x < left || x > right) expect_passed_by(grid.ray_across({x, 0, 0}), span, plenty);
      }
      if (HasFailure()) FAIL() << "from " << left << " to " << right;
    }
  }
}

// Keys as rx has them.
class key_rays : public key_scene {
 protected:
  std::uint64_t pick_key(const key_grid& grid) {
    const cell at = pick_cell(grid);
    return static_cast<std::uint64_t>(at.x) | static_cast<std::uint64_t>(at.y) << grid.x_bits |
           static_cast<std::uint64_t>(at.z) << (grid.x_bits + grid.y_bits);
  }

  // Expects a ray to meet or to miss a key, both its triangle and its box.
  static void expect(bool is_met, const key_grid& grid, const axis_ray& ray, std::uint64_t key,
                     long double floats) {
    corners triangle;
    grid.triangle(key, triangle);
    if (is_met) {
      expect_met(ray, triangle, floats);
    } else {
      expect_passed_by(ray, triangle, floats);
    }
    EXPECT_EQ(grid.distance(ray, key) >= 0, is_met);
    if (!is_met) return;
    // The sides of its box that the ray passes between.
    const box3 box = grid.box(key);
    if (ray.axis != 0) {
      EXPECT_TRUE(box.low.x < ray.origin.x && ray.origin.x < box.high.x);
    }
    EXPECT_TRUE(box.low.y < ray.origin.y && ray.origin.y < box.high.y);
    if (ray.axis != 2) {
      EXPECT_TRUE(box.low.z < ray.origin.z && ray.origin.z < box.high.z);
    }
  }
};

TEST_F(key_rays, rays_along_a_segment_have_four_floats_to_spare) {
  for (const key_grid& grid : grids()) {
    SCOPED_TRACE(describe(grid));
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t lower = pick_key(grid);
      const std::uint64_t last = grid.last_of_segment(grid.segment(lower));
      ASSERT_GE(last, lower);
      ASSERT_EQ(grid.segment(last), grid.segment(lower));
      ASSERT_TRUE(last == grid.largest() || grid.segment(last + 1) == grid.segment(last) + 1);
      const auto keys = static_cast<std::int32_t>(last - lower);
      const std::uint64_t upper = lower + static_cast<std::uint64_t>(pick(keys));
      // From zero, half a step is only one float if the row has its full length.
      for (const bool from_zero : {false, true}) {
        const long double floats = from_zero ? 1 : 4;
        const axis_ray ray = grid.ray_along(lower, upper, from_zero);
        for (const std::uint64_t key : {lower, upper, lower + (upper - lower) / 2})
          expect(true, grid, ray, key, floats);
        if (lower != 0) expect(false, grid, ray, lower - 1, floats);
        if (upper != grid.largest()) expect(false, grid, ray, upper + 1, floats);
      }
      if (HasFailure()) FAIL() << "from " << lower << " to " << upper;
    }
  }
}

TEST_F(key_rays, rays_to_points_have_plenty_of_floats_to_spare) {
  for (const key_grid& grid : grids()) {
    SCOPED_TRACE(describe(grid));
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t key = pick_key(grid);
      const cell at = grid.cell_of(key);
      const axis_ray ray = grid.ray_to(key);
      expect(true, grid, ray, key, plenty);
      for (const unsigned axis : {0U, 1U, 2U}) {
        for (const int by : {-1, 1}) {
          cell beside = at;
          along(beside, axis) += by;
          cell last = grid.last_cell();
          if (along(beside, axis) < 0 || along(beside, axis) > along(last, axis)) continue;
          const std::uint64_t bits[] = {0, grid.x_bits, std::uint64_t{grid.x_bits} + grid.y_bits};
          const std::uint64_t step = std::uint64_t{1} << bits[axis];
          expect(false, grid, ray, by < 0 ? key - step : key + step, plenty);
        }
      }
      if (HasFailure()) FAIL() << "to " << key;
    }
  }
}

// Neighbours are two floats apart there, so that one is all there is to spare.
TEST_F(key_rays, rays_along_stretched_keys_have_a_float_to_spare) {
  const auto number = [](float of) { return static_cast<std::int64_t>(std::bit_cast<int>(of)); };
  for (const std::uint64_t largest :
       {std::uint64_t{1}, std::uint64_t{1} << 24, key_grid::most_extended}) {
    const key_grid grid = key_grid::extended_to(largest);
    const auto most = static_cast<std::int32_t>(largest);
    for (int i = 0; i < 2000; ++i) {
      const auto lower = static_cast<std::uint64_t>(pick(most));
      const auto upper = lower + static_cast<std::uint64_t>(pick(most - static_cast<int>(lower)));
      const axis_ray ray = grid.ray_along(lower, upper, false);
      ASSERT_EQ(ray.origin.x, 0);
      ASSERT_EQ(number(grid.place(lower).x) - number(ray.begin), 1);
      ASSERT_EQ(number(ray.end) - number(grid.place(upper).x), 1);
      ASSERT_EQ(number(grid.place(upper + 1).x) - number(ray.end), 1);
      for (const std::uint64_t key : {lower, upper}) {
        corners met;
        grid.triangle(key, met);
        const meeting at = meet(ray, met);
        ASSERT_TRUE(at.inside && at.clearness >= clear);
        ASSERT_TRUE(at.along > ray.begin && at.along < ray.end);
        const meeting across = meet(grid.ray_to(key), met);
        ASSERT_TRUE(across.inside);
        expect_met(grid.ray_to(key), across.along, plenty);
      }
    }
  }
}

}  // namespace
}  // namespace raydex::core
