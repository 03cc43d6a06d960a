// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keys as points of a scene: where a key lies, the primitives that stand for it, and the rays that
/// look for it (RX paper, sections 3.2 to 3.5). Knows no engine; OptiX and Embree both trace this.
#pragma once

#include <bit>
#include <cstdint>

#include "raydex/core/config.hpp"

namespace raydex::core {

/// A point, as engines take it.
struct point3 {
  float x;  ///< along the first axis
  float y;  ///< along the second
  float z;  ///< along the third
};

/// Where a key lies, in steps: x, y and z as its bits say; an x below 0 lies before all keys.
struct cell {
  std::int32_t x;  ///< along the first axis
  std::int32_t y;  ///< the row within its plane
  std::int32_t z;  ///< the plane
};

/// A corner and the one across from it.
struct box3 {
  point3 low;   ///< the smallest coordinates
  point3 high;  ///< the largest
};

/// A ray that runs along an axis, towards larger coordinates; it meets what lies from `begin` to
/// `end` in front of its origin.
struct axis_ray {
  point3 origin;  ///< where it starts
  unsigned axis;  ///< 0: x, 1: y, 2: z
  float begin;    ///< the least distance from the origin
  float end;      ///< the largest distance
};

/// What stands for a key in a scene.
enum class primitive_kind : std::uint8_t { triangle, sphere, box };

/// Where keys lie. In a grid the lowest bits of a key are x, the next ones y, the highest ones z,
/// each moved so that 0 is in the middle of all: then coordinates, which are halves, and what lies
/// a quarter beside them are exact floats. Steps along y and z may be longer than 1, powers of 2
/// (cgRX paper, key mapping): what is built over the scene then divides it along z first. Stretched
/// (the paper's extended mode), key k is the float of bit pattern 2k + `first_pattern`, so that a
/// float is left between neighbours.
///
/// Engines round the distances that they compute. What a ray is to meet lies half a step within its
/// ends: four floats or more at the distance, and millions of them but for rays along a segment.
/// From zero it may be one float, as it is between keys of an extended grid.
struct key_grid {
  std::uint8_t x_bits = 23;         ///< at most 23
  std::uint8_t y_bits = 23;         ///< at most 23
  std::uint8_t z_bits = 18;         ///< at most 23
  float y_step = 1;                 ///< from a y to the next
  float z_step = 1;                 ///< from a z to the next
  bool extended = false;            ///< all of the key in x, as a bit pattern
  std::uint32_t first_pattern = 0;  ///< that of key 0

  /// An extended grid for keys up to `largest`: around 1, as far as places stay below 2^60, the
  /// most that Embree takes.
  static constexpr key_grid extended_to(std::uint64_t largest) {
    constexpr std::uint64_t one = 0x3f80'0000;
    constexpr std::uint64_t most = 0x5d00'0000;
    const std::uint64_t keys = largest < most_extended ? largest : most_extended;
    const std::uint64_t first = one - keys < most - 2 * keys ? one - keys : most - 2 * keys;
    key_grid grid;
    grid.extended = true;
    grid.first_pattern = static_cast<std::uint32_t>(first);
    return grid;
  }
  /// The largest key of an extended grid.
  static constexpr std::uint64_t most_extended = (std::uint64_t{1} << 29) - 1;

  /// The largest key that has a place.
  RAYDEX_HD constexpr std::uint64_t largest() const {
    if (extended) return most_extended;
    const auto bits = static_cast<unsigned>(x_bits + y_bits + z_bits);
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  }
  /// A ray along a row passes 2 to this power keys of it at most, a segment.
  static constexpr unsigned segment_bits = 20;
  /// The segment of a key; segments ascend with keys.
  RAYDEX_HD std::uint64_t segment(std::uint64_t key) const {
    return extended ? 0 : key >> bits_of_segment();
  }
  /// The largest key of a segment.
  RAYDEX_HD std::uint64_t last_of_segment(std::uint64_t segment) const {
    const unsigned bits = bits_of_segment();
    return extended ? largest() : (segment << bits) | ((std::uint64_t{1} << bits) - 1);
  }

  /// The cell of a key, in a grid.
  RAYDEX_HD cell cell_of(std::uint64_t key) const {
    return {field(key, x_bits), field(key >> x_bits, y_bits),
            field(key >> x_bits >> y_bits, z_bits)};
  }
  /// The last cell of all.
  RAYDEX_HD cell last_cell() const { return cell_of(~std::uint64_t{0}); }
  /// Where a cell lies.
  RAYDEX_HD point3 place(cell at) const {
    return {middle(at.x, x_bits), y_step * middle(at.y, y_bits), z_step * middle(at.z, z_bits)};
  }
  /// The triangle of a cell, met from behind if it is flipped.
  RAYDEX_HD void triangle(cell at, bool flipped, point3 (&corners)[3]) const {
    const point3 middle = place(at);
    triangle(middle, middle.x - 0.5F, middle.x + 0.5F, corners);
    if (!flipped) return;
    const point3 first = corners[0];
    corners[0] = corners[1];
    corners[1] = first;
  }
  /// A triangle that rays across the row of two cells meet from one to the other, and nowhere else.
  /// Where they pass, its left edge is less than a quarter away from its left corner.
  RAYDEX_HD void span(cell first, cell last, point3 (&corners)[3]) const {
    constexpr float below = 1.0F / 64;
    const point3 begin = place(first);
    const float left = begin.x - 0.5F;
    const float right = place(last).x + 0.5F;
    corners[0] = {left, begin.y - below, begin.z};
    corners[1] = {right, begin.y - below, begin.z};
    corners[2] = {right, begin.y + (right - left) / 16, begin.z};
  }
  /// The ray across a row, along z, that meets what is in a cell.
  RAYDEX_HD axis_ray ray_across(cell at) const { return across(place(at)); }
  /// The ray along an axis that meets all cells from one to the last of its line. Nothing lies
  /// behind that: the ray goes as far again, so that whatever is in the last cell is well within
  /// it.
  RAYDEX_HD axis_ray ray_from(cell at, unsigned axis) const {
    const cell end = last_cell();
    point3 from = place(at);
    const float step = axis == 0 ? 1 : axis == 1 ? y_step : z_step;
    const std::int32_t cells = axis == 0 ? end.x - at.x : axis == 1 ? end.y - at.y : end.z - at.z;
    (axis == 0 ? from.x : axis == 1 ? from.y : from.z) -= 0.5F * step;
    return {from, axis, 0, 2 * step * (static_cast<float>(cells) + 1)};
  }

  /// Where a key lies.
  RAYDEX_HD point3 place(std::uint64_t key) const {
    if (extended) return {std::bit_cast<float>(pattern(key)), 0, 0};
    return {coordinate(key, x_bits), y_step * coordinate(key >> x_bits, y_bits),
            z_step * coordinate(key >> x_bits >> y_bits, z_bits)};
  }
  /// The x of the gap before a key.
  RAYDEX_HD float before(std::uint64_t key) const {
    return extended ? std::bit_cast<float>(pattern(key) - 1) : place(key).x - 0.5F;
  }
  /// The x of the gap after a key.
  RAYDEX_HD float after(std::uint64_t key) const {
    return extended ? std::bit_cast<float>(pattern(key) + 1) : place(key).x + 0.5F;
  }
  /// Where rays from zero start: in the gap before the first x, so that the distances to all gaps
  /// are whole numbers up to 2^23, and those to keys halves below it, which floats hold exactly.
  RAYDEX_HD float start() const { return extended ? 0 : coordinate(0, x_bits) - 0.5F; }

  /// The triangle of a key: it reaches into the gaps around the key and no further.
  RAYDEX_HD void triangle(std::uint64_t key, point3 (&corners)[3]) const {
    triangle(place(key), before(key), after(key), corners);
  }
  /// The radius of all spheres, which leaves the gaps free (RX paper, section 3.5). Where steps are
  /// longer than 1, it is too small for the floats around.
  static constexpr float radius = 0.25F;
  /// The box of a key.
  RAYDEX_HD box3 box(std::uint64_t key) const {
    const point3 at = place(key);
    const point3 side = {0.25F, 0.25F * y_step, 0.25F * z_step};
    return {{extended ? before(key) : at.x - side.x, at.y - side.y, at.z - side.z},
            {extended ? after(key) : at.x + side.x, at.y + side.y, at.z + side.z}};
  }
  /// How far along a ray a box is met: only rays through its key's point meet it. Negative if not.
  RAYDEX_HD float distance(const axis_ray& ray, std::uint64_t key) const {
    const point3 at = place(key);
    const point3 from = ray.origin;
    const bool on_x = ray.axis == 0;
    if (at.y != from.y || (on_x ? at.z != from.z : at.x != from.x)) return -1;
    const float along = on_x ? at.x - from.x : at.z - from.z;
    return along >= ray.begin && along <= ray.end ? along : -1;
  }

  /// The ray that looks for a point, along z.
  RAYDEX_HD axis_ray ray_to(std::uint64_t key) const { return across(place(key)); }
  /// The ray that looks for the keys from `lower` to `upper` of a segment.
  RAYDEX_HD axis_ray ray_along(std::uint64_t lower, std::uint64_t upper, bool from_zero) const {
    const point3 at = place(lower);
    const float origin = from_zero || extended ? start() : before(lower);
    return {{origin, at.y, at.z}, 0, before(lower) - origin, after(upper) - origin};
  }

 private:
  // Rays along any axis that pass through a point meet its triangle there: the point is a quarter,
  // a quarter and a half of the corners. Seen along an axis, twice the triangle's area is half the
  // product of the steps. That is a power of 2, so that engines divide by it without rounding.
  RAYDEX_HD void triangle(point3 at, float left, float right, point3 (&corners)[3]) const {
    corners[0] = {right, at.y - 0.5F * y_step, at.z};
    corners[1] = {left, at.y, at.z + 0.5F * z_step};
    corners[2] = {at.x, at.y + 0.25F * y_step, at.z - 0.25F * z_step};
  }
  RAYDEX_HD unsigned bits_of_segment() const {
    return x_bits < segment_bits ? x_bits : segment_bits;
  }
  RAYDEX_HD axis_ray across(point3 at) const {
    return {{at.x, at.y, at.z - 0.5F * z_step}, 2, 0, z_step};
  }
  RAYDEX_HD std::uint32_t pattern(std::uint64_t key) const {
    return 2 * static_cast<std::uint32_t>(key) + first_pattern;
  }
  RAYDEX_HD static std::int32_t field(std::uint64_t bits_from_it, unsigned bits) {
    return static_cast<std::int32_t>(bits_from_it & ((std::uint64_t{1} << bits) - 1));
  }
  // 0 is in the middle.
  RAYDEX_HD static float middle(std::int32_t field, unsigned bits) {
    return 0.5F * static_cast<float>(2 * field + 1 - (std::int32_t{1} << bits));
  }
  RAYDEX_HD static float coordinate(std::uint64_t bits_from_it, unsigned bits) {
    return middle(field(bits_from_it, bits), bits);
  }
};

}  // namespace raydex::core
