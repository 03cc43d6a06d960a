// SPDX-License-Identifier: Apache-2.0
/// @file
/// Range minima by rays (RTXRMQ; GPU-RMQ paper, sections 3.2 and 4.5). Knows
/// no engine; OptiX and Embree both trace this, as `raydex/core/rays/traced.hpp` says.
///
/// An array is divided into blocks; so are the minima of its blocks, which are the next level, up
/// to a level of one block. An element at place i of its block that comes before those in (p, i)
/// and (i, q), but after those at p and q, is the minimum of the ranges [l, r] with p < l <= i and
/// i <= r < q, and of no others. In the plane of l and r these are a rectangle, and the rectangles
/// of a block do not overlap. A triangle stands for an element: it has a corner at the rectangle's
/// corner (i, i), half a step outside, and legs twice as long as its sides, so that it covers it.
/// What it covers besides are ranges that reach to p or q. Their minimum covers more ranges, and
/// the more an element covers, the nearer its triangle is to where rays start: the ray of [l, r],
/// which crosses the plane at (l, r), meets the minimum first.
///
/// So coordinates know nothing of values: they are small multiples of a half, and engines compute
/// exactly what is inside of a triangle.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/minima/rmq.hpp"
#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/traced.hpp"

namespace raydex::core {

/// The array, or the minima of the blocks of the level below.
struct rmq_ray_level {
  std::uint64_t size = 0;    ///< its elements
  std::uint64_t stored = 0;  ///< the first of them in `rmq_ray_scene::positions`; none of the array
  std::uint64_t first_chunk = 0;  ///< the first of its chunks among all
  unsigned first_part = 0;        ///< the first part of the scene that is of this level
};

/// The scene of an array and of the levels above it. The parts of a level have as many blocks each,
/// but for the last one.
struct rmq_ray_scene {
  using position_type = std::uint64_t;  ///< of a value

  static constexpr ray_hits hits = ray_hits::closest;  ///< the first triangle that a ray meets
  static constexpr unsigned most_levels = 13;          ///< with the smallest blocks
  static constexpr unsigned chunk_bits = 5;  ///< 2 to this power elements are a chunk of a block
  static constexpr unsigned part_bits = 22;  ///< elements of a part
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no position

  cells values;                                    ///< the array
  bool rightmost = false;                          ///< of equal values, whose position counts
  bool reversed = false;                           ///< whether minima are of the opposite order
  unsigned block_bits = 10;                        ///< 2 to this power elements are a block
  unsigned level_count = 0;                        ///< how many levels there are
  rmq_ray_level levels[most_levels];               ///< from the array on
  const std::uint64_t* positions = nullptr;        ///< of the elements of all levels but the array
  const std::uint64_t* chunk_positions = nullptr;  ///< of the minima of chunks; for `triangle` only

  /// Where the value of an element is.
  RAYDEX_HD std::uint64_t position(unsigned level, std::uint64_t element) const {
    return level == 0 ? element : load(positions + levels[level].stored + element);
  }
  /// What values are compared by.
  RAYDEX_HD std::uint64_t code(std::uint64_t at) const {
    return reversed ? ~key_code(at) : key_code(at);
  }
  /// The code of a value as a key.
  RAYDEX_HD std::uint64_t key_code(std::uint64_t at) const {
    switch (values.format.type) {
      case key_type::uint32:
        return encode(values.get<std::uint32_t>(at));
      case key_type::int32:
        return encode(values.get<std::int32_t>(at));
      case key_type::float32:
        return encode(values.get<float>(at));
      case key_type::int64:
        return encode(values.get<std::int64_t>(at));
      case key_type::float64:
        return encode(values.get<double>(at));
      default:
        return encode(values.get<std::uint64_t>(at));
    }
  }
  /// A value with its position.
  struct placed {
    std::uint64_t code;      ///< of the value
    std::uint64_t position;  ///< where it is
  };
  /// The value of an element.
  RAYDEX_HD placed at(unsigned level, std::uint64_t element) const {
    const std::uint64_t place = position(level, element);
    return {code(place), place};
  }
  /// Whether the minimum of both is `a`: no two values are the same in this order.
  RAYDEX_HD bool precedes(placed a, placed b) const {
    if (a.code != b.code) return a.code < b.code;
    return rightmost ? a.position > b.position : a.position < b.position;
  }
  /// The position of the minimum of the elements [first, last], by a look at all of them.
  RAYDEX_HD std::uint64_t scan(unsigned level, std::uint64_t first, std::uint64_t last) const {
    placed least = at(level, first);
    for (std::uint64_t element = first + 1; element <= last; ++element) {
      const placed other = at(level, element);
      if (precedes(other, least)) least = other;
    }
    return least.position;
  }

  // ---- the scene

  /// Elements of a block.
  RAYDEX_HD std::uint64_t block() const { return std::uint64_t{1} << block_bits; }
  /// The first element after a block, or after the level.
  RAYDEX_HD std::uint64_t block_end(unsigned level, std::uint64_t number) const {
    return end_of(level, number, block_bits);
  }
  /// The position of the minimum of group `number` of a level, 2 to the power of `bits` elements.
  RAYDEX_HD std::uint64_t group_minimum(unsigned level, std::uint64_t number, unsigned bits) const {
    return scan(level, number << bits, end_of(level, number, bits) - 1);
  }

  /// The triangle of an element, counted from the first one of a part.
  RAYDEX_HD void triangle(unsigned part, std::uint64_t i, point3 (&corners)[3]) const {
    unsigned level = 0;
    while (level + 1 < level_count && levels[level + 1].first_part <= part)
      ++level;
    const std::uint64_t element = (std::uint64_t{part - levels[level].first_part} << part_bits) + i;
    const std::uint64_t number = element >> block_bits;
    const std::uint64_t block_begin = number << block_bits;
    const std::uint64_t end = block_end(level, number);
    const placed own = at(level, element);
    std::uint64_t first = element;  // of the elements around it that it precedes
    while (first > block_begin) {
      if (begins_chunk(first) && precedes(own, chunk(level, first - 1))) {
        first -= chunk_size;
      } else if (precedes(own, at(level, first - 1))) {
        --first;
      } else {
        break;
      }
    }
    std::uint64_t past = element + 1;
    while (past < end) {
      if (begins_chunk(past) && precedes(own, chunk(level, past))) {
        past = past + chunk_size < end ? past + chunk_size : end;
      } else if (precedes(own, at(level, past))) {
        ++past;
      } else {
        break;
      }
    }

    const point3 origin = place_of(number);
    const auto in_block = static_cast<float>(element - block_begin);
    const float nearness =
        static_cast<float>(past - first) / static_cast<float>(std::uint64_t{1} << block_bits);
    const point3 corner = {1 - nearness, origin.y + in_block + 0.5F, origin.z + in_block - 0.5F};
    corners[0] = corner;
    corners[1] = {corner.x, corner.y - 2 * static_cast<float>(element + 1 - first), corner.z};
    corners[2] = {corner.x, corner.y, corner.z + 2 * static_cast<float>(past - element)};
  }

  // ---- queries

  /// The position of the minimum of the values [first, last], by up to two rays a level. `searched`
  /// becomes true if one of them does not lead to it, and a search does.
  template <class Tracer>
  RAYDEX_HD std::uint64_t find(const Tracer& tracer, std::uint64_t first, std::uint64_t last,
                               bool& searched) const {
    const std::uint64_t within = block() - 1;
    std::uint64_t best = none;
    for (unsigned level = 0;; ++level) {
      const std::uint64_t first_block = first >> block_bits;
      const std::uint64_t last_block = last >> block_bits;
      if (first_block == last_block)
        return better(best, find(tracer, level, first, last, searched));
      // The next level has the minima of whole blocks.
      const bool begins_within = (first & within) != 0;
      const bool ends_within = last + 1 != block_end(level, last_block);
      if (begins_within) best = better(best, find(tracer, level, first, first | within, searched));
      if (ends_within)
        best = better(best, find(tracer, level, last_block << block_bits, last, searched));
      first = first_block + (begins_within ? 1 : 0);
      last = last_block - (ends_within ? 1 : 0);
      if (first > last) return best;
    }
  }

 private:
  RAYDEX_HD std::uint64_t end_of(unsigned level, std::uint64_t number, unsigned bits) const {
    const std::uint64_t end = (number + 1) << bits;
    return end < levels[level].size ? end : levels[level].size;
  }

  static constexpr std::uint64_t chunk_size = std::uint64_t{1} << chunk_bits;
  RAYDEX_HD static bool begins_chunk(std::uint64_t element) { return element % chunk_size == 0; }
  // The minimum of the chunk that an element is in.
  RAYDEX_HD placed chunk(unsigned level, std::uint64_t element) const {
    const std::uint64_t place =
        load(chunk_positions + levels[level].first_chunk + (element >> chunk_bits));
    return {code(place), place};
  }

  // Where the ranges of a block begin in the plane. Blocks lie in rows, twice their size apart: no
  // triangle reaches to where rays of other blocks are.
  RAYDEX_HD point3 place_of(std::uint64_t number) const {
    const unsigned row_bits = (part_bits - block_bits + 1) / 2;
    const std::uint64_t in_part = number & ((std::uint64_t{1} << (part_bits - block_bits)) - 1);
    const std::uint64_t in_row = in_part & ((std::uint64_t{1} << row_bits) - 1);
    return {0, static_cast<float>(in_row << (block_bits + 1)),
            static_cast<float>((in_part >> row_bits) << (block_bits + 1))};
  }

  RAYDEX_HD std::uint64_t better(std::uint64_t a, std::uint64_t b) const {
    return a != none && precedes({code(a), a}, {code(b), b}) ? a : b;
  }

  // The position of the minimum of elements of one block, by one ray.
  template <class Tracer>
  RAYDEX_HD std::uint64_t find(const Tracer& tracer, unsigned level, std::uint64_t first,
                               std::uint64_t last, bool& searched) const {
    if (first == last) return position(level, first);
    const std::uint64_t number = first >> block_bits;
    const std::uint64_t part = first >> part_bits;
    const std::uint64_t within = block() - 1;
    const point3 at = place_of(number);
    const axis_ray ray = {{-0.5F, at.y + static_cast<float>(first & within),
                           at.z + static_cast<float>(last & within)},
                          0,
                          0,
                          2};
    std::uint64_t primitive = 0;
    const bool hit =
        tracer.closest(levels[level].first_part + static_cast<unsigned>(part), ray, primitive);
    const std::uint64_t element = (part << part_bits) + primitive;
    // Whatever an engine says, the answer is within the range.
    if (hit && element >= first && element <= last) return position(level, element);
    searched = true;
    return scan(level, first, last);
  }
};

/// The ranges of a batch, or of a slice of it. They are of an array, and the scene is of that, or
/// of the last level of a hierarchy above it: then it answers what a range leaves to that
/// level.
struct rmq_ray_job {
  rmq_ray_scene scene;            ///< where to look
  range_source ranges;            ///< all ranges
  std::uint64_t array_size = 0;   ///< values that ranges are of
  std::uint64_t first_place = 0;  ///< the place of the first of them in the hierarchy
  unsigned chunk_bits = 0;        ///< 2 to this power entries have a minimum in the next level
  unsigned levels_above = 0;      ///< how many levels are above the array
  std::uint64_t begin = 0;        ///< the first range
  std::uint64_t size = 0;         ///< how many
  std::uint64_t* out = nullptr;   ///< the position of the minimum of each, counted from `begin`, or
                                  ///< `rmq_ray_scene::none`
  std::uint64_t* repairs = nullptr;  ///< how many of them took a search

  /// Traces one range, counted from `begin`.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t number) const {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t found = rmq_ray_scene::none;
    bool searched = false;
    if (ranges.within(begin + number, array_size, first, last) && climb(first, last))
      found = scene.find(tracer, first, last, searched);
    out[number] = found;
    if (searched) add_atomically(repairs, 1);
  }

 private:
  // From a range to what it leaves to the last level; false if that is nothing.
  RAYDEX_HD bool climb(std::uint64_t& first, std::uint64_t& last) const {
    first += first_place;
    last += first_place;
    for (unsigned level = 0; level < levels_above; ++level) {
      const std::uint64_t left = first >> chunk_bits;
      const std::uint64_t right = last >> chunk_bits;
      if (right - left < 2) return false;
      first = left + 1;
      last = right - 1;
    }
    return true;
  }
};

}  // namespace raydex::core
