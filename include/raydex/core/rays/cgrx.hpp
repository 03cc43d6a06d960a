// SPDX-License-Identifier: Apache-2.0
/// @file
/// cgRX: a sorted column in buckets; the last key of each, its representative, stands in a scene.
/// A lookup casts rays until it meets the first representative that is not below its key, and then
/// searches that bucket ("More Bang For Your Buck(et)", sections 3.1 to 3.4).
///
/// Whatever rays say is checked against the keys around: a wrong bucket is searched for among the
/// representatives, and counted.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/traced.hpp"

namespace raydex::core {

/// Which scene stands for the representatives.
enum class bucket_scene : std::uint8_t {
  naive,      ///< triangles beside rows and planes mark those that hold something (3.1, 3.2)
  optimised,  ///< representatives are moved or added to the last cells of rows and planes (3.3)
  spans       ///< there is one row, and a triangle spans all places of its bucket
};

/// How a bucket is searched.
enum class bucket_search : std::uint8_t {
  binary,       ///< by halves
  linear,       ///< key by key (3.4)
  interpolated  ///< from where the key would be if those between two representatives lay evenly
};

/// A part of the scene: buckets from one on, in a scene of their own.
template <class Key, class Position>
struct cgrx_part {
  Position first_bucket;         ///< the first bucket
  Position buckets;              ///< how many
  Key first;                     ///< their smallest representative
  Key last;                      ///< their largest representative
  Key base;                      ///< the key at place 0
  std::uint8_t shift;            ///< 2 to this power keys share a place
  bool rows;                     ///< whether representatives lie in several rows
  bool planes;                   ///< whether they lie in several planes
  std::uint64_t first_triangle;  ///< the place of its first triangle among the slots
};

/// The scene, as tracers and searches see it. Keys are encoded.
template <class Key, class Position>
struct cgrx_scene {
  using key_type = Key;                    ///< an encoded key
  using position_type = Position;          ///< an entry, or a bucket
  using row_ids_type = strided<Position>;  ///< the row ids of entries
  using part = cgrx_part<Key, Position>;   ///< a part of it

  key_grid grid;                                 ///< where places lie
  bucket_scene kind = bucket_scene::optimised;   ///< which scene it is
  bucket_search search = bucket_search::binary;  ///< how buckets are searched
  strided<Key> keys;                             ///< of the entries, ascending
  Position entries = 0;                          ///< how many
  Position bucket_size = 16;             ///< entries of a bucket, as long as all have as many
  Position buckets = 0;                  ///< how many
  const Key* representatives = nullptr;  ///< once they have been edited: theirs
  const Position* begins = nullptr;      ///< and where each begins, and the last one ends
  const part* parts = nullptr;           ///< ascending
  unsigned part_count = 0;               ///< how many
  const Position* slots = nullptr;       ///< of each triangle, its slot; null: all slots are used
  std::uint64_t* repairs = nullptr;      ///< how many lookups were led to wrong buckets

  static constexpr ray_hits hits = ray_hits::closest;  ///< the first triangle that a ray meets
  static constexpr bool settles_apart = true;          ///< a bucket has to be searched, too

  /// Whether a lookup's ray may stop at whatever it meets: a ray across a row meets one triangle.
  RAYDEX_HD bool any_will_do(bool /*is_point*/) const { return kind == bucket_scene::spans; }

  /// The representative of a bucket.
  RAYDEX_HD Key representative(Position bucket) const {
    if (representatives != nullptr) return load(representatives + bucket);
    const Position end = (bucket + 1) * bucket_size;  // may wrap around in the last bucket
    return keys((end < entries && end > bucket ? end : entries) - 1);
  }

  /// Where a bucket begins in the column.
  RAYDEX_HD Position bucket_begin(Position bucket) const {
    return begins != nullptr ? load(begins + bucket) : bucket * bucket_size;
  }

  /// The cell of a key in a part. Keys below the base belong to parts before.
  RAYDEX_HD cell cell_in(const part& own, Key key) const {
    return grid.cell_of(key < own.base ? 0 : place_in(own, key));
  }

  // ---- the scene, built in one pass over slots

  /// Slots of a part, for triangles. Each bucket has one for its representative and, where
  /// representatives lie in several rows or planes, one for each marker of these.
  RAYDEX_HD static std::uint64_t slots_of(const part& own) {
    return std::uint64_t{own.buckets} * (1U + (own.rows ? 1U : 0U) + (own.planes ? 1U : 0U));
  }
  /// What is in a slot of a part: a cell, or nothing.
  struct placed {
    cell at;       ///< where
    bool exists;   ///< whether there is anything
    bool flipped;  ///< whether it is alone in its row, so that a ray along y need not go on
  };
  /// The triangle of slot `i` of a part.
  RAYDEX_HD placed triangle(const part& own, std::uint64_t i) const {
    const auto layer = static_cast<unsigned>(i / own.buckets);
    const auto bucket = static_cast<Position>(own.first_bucket + i % own.buckets);
    return kind == bucket_scene::naive ? apart(own, bucket, layer) : within(own, bucket, layer);
  }

  /// The slot of a triangle of a part.
  RAYDEX_HD std::uint64_t slot_of(const part& own, std::uint64_t i) const {
    return slots == nullptr ? i : load(slots + own.first_triangle + i);
  }

  /// Triangle `i` of a part. Where there is nothing it is a point, which no ray meets.
  RAYDEX_HD void triangle(unsigned number, std::uint64_t i, point3 (&corners)[3]) const {
    if (kind == bucket_scene::spans) return span(parts[number], i, corners);
    const placed made = triangle(parts[number], slot_of(parts[number], i));
    grid.triangle(made.at, made.flipped, corners);
    if (made.exists) return;
    for (point3& corner : corners)
      corner = grid.place(made.at);
  }

  // ---- lookups

  /// Traces the rays of a lookup: finds the first bucket whose representative is not below the
  /// lower end.
  template <tracer<Position> Tracer>
  RAYDEX_HD traced<Position> trace(const Tracer& tracer, interval<Key> wanted,
                                   bool /*is_point*/) const {
    const Key key = wanted.lower;
    if (entries == 0 || wanted.upper < key) return {traced<Position>::none, 0};
    if (representative(buckets - 1) < key)
      return {representatives != nullptr ? buckets - 1 : traced<Position>::none, 0};
    unsigned number = part_of(key);
    const part own = parts[number];
    if (!(own.first < key)) return {own.first_bucket, 0};
    const cell from = grid.cell_of(place_in(own, key));
    Position bucket = 0;
    bool found = false;
    if (kind == bucket_scene::spans) {
      Position primitive = 0;
      found = tracer.closest(number, grid.ray_across(from), primitive);
      bucket = own.first_bucket + primitive;
    } else {
      found = kind == bucket_scene::naive ? trace_apart(tracer, number, own, from, bucket)
                                          : trace_within(tracer, number, own, from, bucket);
    }
    return {found ? bucket : traced<Position>::gave_up, 0};
  }

  /// The entries [begin, end) of what tracing found, or only the first of them.
  RAYDEX_HD void settle(const traced<Position>& found, interval<Key> wanted, bool /*is_point*/,
                        bool first_only, Position& begin, Position& end) const {
    begin = end = 0;
    if (found.first == traced<Position>::none) return;
    const Position bucket = checked(found.first, wanted.lower);
    begin = search_bucket(bucket, wanted.lower);
    end = end_of_matches(keys, entries, begin, wanted.upper, first_only);
  }

  /// The bucket that holds what is not below a key, or ends just before it: the one that was found,
  /// or, of those at the same place, one that follows, if rays were right.
  RAYDEX_HD Position checked(Position found, Key key) const {
    const auto representative_at = [this](Position b) { return representative(b); };
    const bool in_order = found < buckets && (found == 0 || representative(found - 1) < key);
    if (in_order && !(representative(found) < key)) return found;
    if (in_order && found + 1 == buckets) return found;
    // A representative that was moved stands for what lies before the next key, too.
    if (in_order && !(key_after(found) < key)) return found + 1;
    if (!in_order || !shares_place(found, key)) add_atomically(repairs, 1);
    const Key wanted[1] = {key};
    Position first[1];
    if (!in_order) {
      lower_bounds(representative_at, buckets, wanted, first);
    } else {
      const Position after = found + 1;
      const auto later = [&](Position b) { return representative(after + b); };
      Position reach = 1;
      while (reach < buckets - after && later(reach - 1) < key)
        reach *= 2;
      lower_bounds(later, reach < buckets - after ? reach : buckets - after, wanted, first);
      first[0] += after;
    }
    return first[0];
  }

 private:
  RAYDEX_HD static std::uint64_t place_in(const part& own, Key key) {
    return std::uint64_t{static_cast<Key>(key - own.base)} >> own.shift;
  }
  RAYDEX_HD static bool same_row(cell a, cell b) { return a.y == b.y && a.z == b.z; }
  RAYDEX_HD static bool same(cell a, cell b) { return a.x == b.x && same_row(a, b); }

  // From the place after the representative before to that of its own; keys that share a place with
  // a representative, but are above it, are looked for from there.
  RAYDEX_HD void span(const part& own, std::uint64_t i, point3 (&corners)[3]) const {
    const auto bucket = static_cast<Position>(own.first_bucket + i);
    const cell last = cell_in(own, representative(bucket));
    cell first = last;
    if (i != 0) {
      first = cell_in(own, representative(bucket - 1));
      ++first.x;
    }
    grid.span(first, last, corners);
    if (first.x <= last.x) return;
    for (point3& corner : corners)
      corner = grid.place(last);
  }

  // Section 3.2, algorithm 1; but markers of planes stand in a column of their own, not below the
  // rows of another, where floats have no room for what lies a quarter beside them.
  RAYDEX_HD placed apart(const part& own, Position bucket, unsigned layer) const {
    const cell at = cell_in(own, representative(bucket));
    const bool leads = bucket == own.first_bucket;
    const cell before = leads ? at : cell_in(own, representative(bucket - 1));
    if (layer == 0) return {at, leads || !same(at, before), false};
    const bool marks_rows = layer == 1;  // there are no planes without rows
    if (marks_rows) return {{-1, at.y, at.z}, leads || !same_row(at, before), false};
    return {{-2, 0, at.z}, leads || at.z != before.z, false};
  }
  // Section 3.3, algorithm 3.
  RAYDEX_HD placed within(const part& own, Position bucket, unsigned layer) const {
    const cell last = grid.last_cell();
    const cell at = cell_in(own, representative(bucket));
    const bool leads = bucket == own.first_bucket;
    const bool ends = bucket + 1 == own.first_bucket + own.buckets;
    const cell before = leads ? at : cell_in(own, representative(bucket - 1));
    const cell after = ends ? at : cell_in(own, representative(bucket + 1));
    // Where there are rows to end, it may stand for all up to the next key.
    const bool movable = own.rows && (ends || !same_row(cell_in(own, key_after(bucket)), at));
    if (layer == 0) {
      const bool exists = leads || !same(at, before) || (movable && at.x != last.x);
      return {{movable ? last.x : at.x, at.y, at.z},
              exists,
              movable && (leads || !same_row(at, before))};
    }
    if (layer == 1) {
      const bool exists = !movable && !ends && !same_row(at, after) && at.x != last.x;
      return {{last.x, at.y, at.z}, exists, false};
    }
    return {{last.x, last.y, at.z}, at.y != last.y && (ends || at.z != after.z), false};
  }

  // The cell and the bucket of a triangle that a ray met, by its slot.
  struct met {
    cell at;
    Position bucket;
  };
  RAYDEX_HD met met_apart(const part& own, std::uint64_t primitive) const {
    const auto bucket = static_cast<Position>(own.first_bucket + primitive % own.buckets);
    return {cell_in(own, representative(bucket)), bucket};
  }
  RAYDEX_HD met met_within(const part& own, std::uint64_t primitive) const {
    const auto layer = static_cast<unsigned>(primitive / own.buckets);
    const auto bucket = static_cast<Position>(own.first_bucket + primitive % own.buckets);
    cell at = cell_in(own, representative(bucket));
    if (layer == 2) at.y = grid.last_cell().y;
    // What was added ends what the next bucket holds of a row or plane.
    return {at, layer == 0 ? bucket : static_cast<Position>(bucket + 1)};
  }

  // Section 3.2, algorithm 2.
  template <tracer<Position> Tracer>
  RAYDEX_HD bool trace_apart(const Tracer& tracer, unsigned number, const part& own, cell from,
                             Position& bucket) const {
    Position primitive = 0;
    const auto cast = [&](cell at, unsigned axis) {
      if (!tracer.closest(number, grid.ray_from(at, axis), primitive)) return false;
      primitive = static_cast<Position>(slot_of(own, primitive));
      return true;
    };
    if (!cast(from, 0)) {
      if (!own.rows) return false;
      const cell last = grid.last_cell();
      if (from.y == last.y || !cast({-1, from.y + 1, from.z}, 1)) {
        if (!own.planes || from.z == last.z || !cast({-2, 0, from.z + 1}, 2)) return false;
        if (!cast({-1, 0, met_apart(own, primitive).at.z}, 1)) return false;
      }
      const cell row = met_apart(own, primitive).at;
      if (!cast({0, row.y, row.z}, 0)) return false;
    }
    bucket = met_apart(own, primitive).bucket;
    return true;
  }
  // The same in the scene of section 3.3.
  template <tracer<Position> Tracer>
  RAYDEX_HD bool trace_within(const Tracer& tracer, unsigned number, const part& own, cell from,
                              Position& bucket) const {
    Position primitive = 0;
    bool from_behind = false;
    const auto cast = [&](cell at, unsigned axis) {
      if (!tracer.closest(number, grid.ray_from(at, axis), primitive, from_behind)) return false;
      primitive = static_cast<Position>(slot_of(own, primitive));
      return true;
    };
    if (!cast(from, 0)) {
      if (!own.rows) return false;
      const cell last = grid.last_cell();
      if (from.y == last.y || !cast({last.x, from.y + 1, from.z}, 1)) {
        if (!own.planes || from.z == last.z || !cast({last.x, last.y, from.z + 1}, 2)) return false;
        if (!cast({last.x, 0, met_within(own, primitive).at.z}, 1)) return false;
      }
      if (!from_behind) {
        const cell row = met_within(own, primitive).at;
        if (!cast({0, row.y, row.z}, 0)) return false;
      }
    }
    bucket = met_within(own, primitive).bucket;
    return true;
  }

  RAYDEX_HD unsigned part_of(Key key) const {
    unsigned low = 0;
    unsigned high = part_count - 1;
    while (low < high) {
      const unsigned middle = low + (high - low) / 2;
      if (load(&parts[middle].last) < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // What no key between a bucket and the next one is above: the first key of that, or, once others
  // may be inserted, its representative.
  RAYDEX_HD Key key_after(Position bucket) const {
    return representatives != nullptr ? representative(bucket + 1)
                                      : keys((bucket + 1) * bucket_size);
  }
  RAYDEX_HD bool shares_place(Position bucket, Key key) const {
    const part own = parts[part_of(key)];
    const cell a = cell_in(own, representative(bucket));
    return same(a, cell_in(own, key));
  }
  RAYDEX_HD Position search_bucket(Position bucket, Key key) const {
    const Position begin = bucket_begin(bucket);
    const Position size = (bucket + 1 == buckets ? entries : bucket_begin(bucket + 1)) - begin;
    const strided<Key> key_at = keys.from(begin);
    if (search == bucket_search::linear) {
      Position at = 0;
      while (at < size && key_at(at) < key)
        ++at;
      return begin + at;
    }
    if (search == bucket_search::interpolated && size > 1) {
      const Key low = bucket == 0 ? keys(0) : representative(bucket - 1);
      const Key high = representative(bucket);
      Position guess = low < key ? size - 1 : 0;
      if (low < key && key < high) {
        // In steps of 2^-24, as fine as floats are: what a float holds of a large size may be more.
        const float share = static_cast<float>(static_cast<Key>(key - low)) /
                            static_cast<float>(static_cast<Key>(high - low));
        constexpr unsigned share_bits = 24;
        const auto steps = static_cast<std::uint64_t>(share * static_cast<float>(1U << share_bits));
        guess = static_cast<Position>(steps * size >> share_bits);
      }
      // Even keys are about half a root of their number away from where they would lie.
      const Position step = Position{1} << (floor_log2(size) / 2);
      return begin + lower_bound_near(key_at, size, guess, step > 1 ? step / 2 : step, key);
    }
    const Key wanted[1] = {key};
    Position found[1];
    lower_bounds(key_at, size, wanted, found);
    return begin + found[0];
  }
};
static_assert(traceable<cgrx_scene<std::uint32_t, std::uint32_t>>,
              "engines must be able to trace it");

}  // namespace raydex::core
