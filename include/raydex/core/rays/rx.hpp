// SPDX-License-Identifier: Apache-2.0
/// @file
/// RX: lookups as rays. A scene has a primitive for each distinct key, or for each entry, in
/// ascending order, so that the number of a primitive says where its entries are: matches are found
/// as a first primitive, and then read from the sorted column.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/traced.hpp"

namespace raydex::core {

/// The scene of an index, as tracers and searches see it. Keys are encoded.
template <class Key, class Position>
struct rx_scene {
  using key_type = Key;                  ///< an encoded key
  using position_type = Position;        ///< an entry, or a primitive
  using row_ids_type = const Position*;  ///< the row ids of entries

  static constexpr bool settles_apart = false;  ///< a look at a key tells whether a hit is right
  /// Whether a lookup's ray may stop at whatever it meets: all that a point's ray may meet has its
  /// key.
  RAYDEX_HD static constexpr bool any_will_do(bool is_point) { return is_point; }

  key_grid grid;                            ///< where keys lie
  bool ranges_from_zero = false;            ///< whether rays for ranges start before the row
  ray_hits hits = ray_hits::closest;        ///< which hits count
  const Key* keys = nullptr;                ///< the sorted column
  Position entries = 0;                     ///< its size
  const Position* first_entries = nullptr;  ///< the first entry of each primitive; null: its number
  Position primitives = 0;                  ///< how many
  const Position* part_begins = nullptr;    ///< the first primitive of each part
  const Key* part_keys = nullptr;           ///< the key of each of these
  unsigned parts = 1;                       ///< how many parts
  bool trusts_misses = true;  ///< whether a ray that meets nothing means that nothing is there
  std::uint64_t* repairs = nullptr;  ///< how many lookups rays did not answer rightly

  /// Rays that one lookup may need; beyond, it is left to a search.
  static constexpr unsigned most_rays = 16;

  /// The first entry of a primitive; of the one after the last, the number of entries.
  RAYDEX_HD Position first_entry(Position primitive) const {
    return first_entries == nullptr ? primitive : load(first_entries + primitive);
  }
  /// The key of a primitive.
  RAYDEX_HD Key key_of(Position primitive) const { return load(keys + first_entry(primitive)); }
  /// The key of a primitive of a part.
  RAYDEX_HD Key key_in(unsigned part, std::uint64_t i) const {
    return key_of(static_cast<Position>(part_begin(part) + i));
  }
  /// The triangle of a primitive of a part.
  RAYDEX_HD void triangle(unsigned part, std::uint64_t i, point3 (&corners)[3]) const {
    grid.triangle(key_in(part, i), corners);
  }
  /// Its centre, of a sphere.
  RAYDEX_HD point3 centre(unsigned part, std::uint64_t i) const {
    return grid.place(key_in(part, i));
  }
  /// Its box.
  RAYDEX_HD box3 box(unsigned part, std::uint64_t i) const { return grid.box(key_in(part, i)); }
  /// The first primitive of a part.
  RAYDEX_HD Position part_begin(unsigned part) const { return load(part_begins + part); }

  /// Traces the rays of a lookup.
  template <tracer<Position> Tracer>
  RAYDEX_HD traced<Position> trace(const Tracer& tracer, interval<Key> wanted,
                                   bool is_point) const {
    traced<Position> found = {traced<Position>::none, 0};
    if (primitives == 0) return found;
    // Nothing lies outside the keys, and all that lies inside has a place.
    const Key smallest = load(keys);
    const Key largest = load(keys + entries - 1);
    if (wanted.lower < smallest) wanted.lower = smallest;
    if (wanted.upper > largest) wanted.upper = largest;
    if (wanted.lower > wanted.upper || (is_point && wanted.lower != wanted.upper)) return found;

    met_primitives<Position> met;
    unsigned rays = 0;
    const unsigned first_part = part_of(wanted.lower);
    if (hits == ray_hits::any && !is_point) {
      // All rays will be cast: if they are too many, none need be. A new part begins a new ray.
      const std::uint64_t all = grid.segment(wanted.upper) - grid.segment(wanted.lower) + 1 +
                                (part_of(wanted.upper) - first_part);
      if (all > most_rays) return {traced<Position>::gave_up, 0};
    }
    for (unsigned part = first_part; part < parts; ++part) {
      // What a part holds begins with the key of its first primitive.
      const Key begin = load(part_keys + part);
      Key first = wanted.lower;
      if (begin > first) {
        // Nothing lay between the lower end and this part: its first key is the first match.
        if (hits == ray_hits::closest) return {part_begin(part), 0};
        first = begin;
      }
      Key last = wanted.upper;
      bool goes_on = false;
      if (part + 1 < parts) {
        const Key next = load(part_keys + part + 1);
        goes_on = next <= wanted.upper;
        // Where keys are kept as often as they are there, this part may end with copies of it.
        if (goes_on) last = first_entries == nullptr ? next : static_cast<Key>(next - 1);
      }
      for (std::uint64_t segment = grid.segment(first);; ++segment) {
        if (rays++ == most_rays) return {traced<Position>::gave_up, 0};
        const bool ends = segment == grid.segment(last);
        const auto end = static_cast<Key>(ends ? last : grid.last_of_segment(segment));
        const axis_ray ray =
            is_point ? grid.ray_to(first) : grid.ray_along(first, end, ranges_from_zero);
        if (hits == ray_hits::any) {
          tracer.visit(part, ray, part_begin(part), met);
        } else if (Position primitive; tracer.closest(part, ray, primitive)) {
          return {static_cast<Position>(part_begin(part) + primitive), 0};
        }
        if (end == last) break;
        first = static_cast<Key>(end + 1);
      }
      if (!goes_on) break;
    }
    if (met.count != 0) found = {met.first, met.count};
    return found;
  }

  /// The entries [begin, end) of what tracing found, or only the first of them. Rays are taken at
  /// their word only where the keys around what they met bear them out; else the lookup is searched
  /// for, and counted if there are matches. Lookups that rays give up are left to a search by
  /// design, and not counted.
  RAYDEX_HD void settle(const traced<Position>& found, interval<Key> wanted, bool is_point,
                        bool first_only, Position& begin, Position& end) const {
    begin = end = 0;
    if (entries == 0) return;
    const auto key_at = [this](Position i) { return load(keys + i); };
    bool right = true;
    if (found.first == traced<Position>::none) {
      // Most points that rays do not meet are not there. A range without hits is rare, and a
      // search costs less than its rays did.
      if (is_point && trusts_misses) return;
      begin = search(wanted.lower);
      right = false;
    } else if (found.first == traced<Position>::gave_up) {
      begin = search(wanted.lower);
    } else {
      begin = first_entry(found.first);
      const Key met = key_at(begin);
      if (met < wanted.lower || (begin > 0 && !(key_at(begin - 1) < wanted.lower))) {
        begin = search(wanted.lower);
        // Of primitives that share a place, a ray may meet any.
        right = begin < entries && key_at(begin) == met;
      }
    }
    if (!first_only && found.count != 0) {
      if (right && found.count <= primitives - found.first) {
        end = first_entry(found.first + found.count);
        if (end > begin && !(wanted.upper < key_at(end - 1)) &&
            (end == entries || wanted.upper < key_at(end)))
          return;
      }
      right = false;
    }
    end = end_of_matches(key_at, entries, begin, wanted.upper, first_only);
    if (!right && begin < end) add_atomically(repairs, 1);
  }

 private:
  RAYDEX_HD unsigned part_of(Key key) const {
    unsigned low = 0;
    unsigned high = parts;
    while (high - low > 1) {
      const unsigned middle = low + (high - low) / 2;
      if (key < load(part_keys + middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return low;
  }
  RAYDEX_HD Position search(Key lower) const {
    const Key wanted[1] = {lower};
    Position found[1];
    lower_bounds([this](Position i) { return load(keys + i); }, entries, wanted, found);
    return found[0];
  }
};
static_assert(traceable<rx_scene<std::uint32_t, std::uint32_t>>,
              "engines must be able to trace it");

}  // namespace raydex::core
