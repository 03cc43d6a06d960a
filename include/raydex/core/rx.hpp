// SPDX-License-Identifier: Apache-2.0
/// @file
/// RX: lookups as rays. A scene has a primitive for each distinct key, or for each entry, in
/// ascending order, so that the number of a primitive says where its entries are: matches are found
/// as a first primitive, and then read from the sorted column.
///
/// An engine brings a tracer:
/// - `closest(part, ray, primitive)`: whether the ray meets a primitive of that part of the scene,
///   and the number, within the part, of the one it meets first;
/// - `visit(part, ray, part_begin, met)`: adds all primitives that it meets to `met`, each as
///   `part_begin` plus its number within the part.
///
/// Where parts are joined, the scene is one part to rays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/interval.hpp"
#include "raydex/core/key_scene.hpp"
#include "raydex/core/lookup.hpp"
#include "raydex/core/search.hpp"

namespace raydex::core {

/// Which hits of a ray are looked at.
enum class ray_hits : std::uint8_t {
  closest,  ///< the first; the other matches follow it in the sorted column (thesis, section 4.1)
  any       ///< all of them (RX paper, section 3.3)
};

/// Primitives that rays met: their smallest number and how many there were.
template <class Position>
struct met_primitives {
  Position first = static_cast<Position>(-1);  ///< -1: none
  Position count = 0;                          ///< how many

  /// Adds one.
  RAYDEX_HD void add(Position primitive) {
    first = primitive < first ? primitive : first;
    ++count;
  }
};

/// What tracing found of a lookup. Where it gave up, the lookup is left to a search.
template <class Position>
struct traced {
  static constexpr Position none = static_cast<Position>(-1);     ///< no primitive
  static constexpr Position gave_up = static_cast<Position>(-2);  ///< too many rays

  Position first;  ///< the first primitive, `none` or `gave_up`
  Position count;  ///< how many primitives; 0 if only the first one was looked for
};

/// The scene of an index, as tracers and searches see it. Keys are encoded.
template <class Key, class Position>
struct rx_scene {
  key_grid grid;                                ///< where keys lie
  point_ray points = point_ray::perpendicular;  ///< rays for points
  bool ranges_from_zero = false;                ///< whether rays for ranges start before the row
  ray_hits hits = ray_hits::closest;            ///< which hits count
  const Key* keys = nullptr;                    ///< the sorted column
  Position entries = 0;                         ///< its size
  const Position* first_entries = nullptr;  ///< the first entry of each primitive; null: its number
  Position primitives = 0;                  ///< how many
  const Position* part_begins = nullptr;    ///< the first primitive of each part
  const Key* part_keys = nullptr;           ///< the key of each of these
  unsigned parts = 1;                       ///< how many parts
  bool joined = false;        ///< whether one ray meets the primitives of all parts (by instances)
  bool trusts_misses = true;  ///< whether a ray that meets nothing means that nothing is there

  /// Rays that one lookup may need; beyond, it is left to a search.
  static constexpr unsigned most_rays = 16;

  /// The first entry of a primitive; of the one after the last, the number of entries.
  RAYDEX_HD Position first_entry(Position primitive) const {
    return first_entries == nullptr ? primitive : load(first_entries + primitive);
  }
  /// The key of a primitive.
  RAYDEX_HD Key key_of(Position primitive) const { return load(keys + first_entry(primitive)); }
  /// The first primitive of a part.
  RAYDEX_HD Position part_begin(unsigned part) const { return load(part_begins + part); }

  /// Traces the rays of a lookup.
  template <class Tracer>
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
    const unsigned traced_parts = joined ? 1 : parts;
    for (unsigned part = part_of(wanted.lower, traced_parts); part < traced_parts; ++part) {
      // What a part holds begins with the key of its first primitive.
      Key first = wanted.lower;
      Key last = wanted.upper;
      if (part + 1 < traced_parts) {
        const Key next = load(part_keys + part + 1);
        if (next <= last) last = static_cast<Key>(next - 1);
      }
      const Key begin = load(part_keys + part);
      if (begin > wanted.upper) break;
      if (begin > first) {
        // Nothing lay between the lower end and this part: its first key is the first match.
        if (hits == ray_hits::closest) return {part_begin(part), 0};
        first = begin;
      }
      for (std::uint64_t row = grid.row(first);; ++row) {
        if (rays++ == most_rays) return {traced<Position>::gave_up, 0};
        const auto end = static_cast<Key>(row == grid.row(last) ? last : grid.last_of_row(row));
        const axis_ray ray =
            is_point ? grid.ray_to(first, points) : grid.ray_along(first, end, ranges_from_zero);
        if (hits == ray_hits::any) {
          tracer.visit(part, ray, part_begin(part), met);
        } else if (Position primitive; tracer.closest(part, ray, primitive)) {
          return {static_cast<Position>(part_begin(part) + primitive), 0};
        }
        if (end == last) break;
        first = static_cast<Key>(end + 1);
      }
      if (last == wanted.upper) break;
    }
    if (met.count != 0) found = {met.first, met.count};
    return found;
  }

  /// The entries [begin, end) of what tracing found, or only the first of them. Rays are taken at
  /// their word only where the keys around what they met bear them out.
  RAYDEX_HD void settle(const traced<Position>& found, interval<Key> wanted, bool is_point,
                        bool first_only, Position& begin, Position& end) const {
    begin = end = 0;
    if (entries == 0) return;
    const auto key_at = [this](Position i) { return load(keys + i); };
    if (found.first == traced<Position>::none || found.first == traced<Position>::gave_up) {
      // Most points that rays do not meet are not there. A range without hits is rare, and a
      // search costs less than its rays did.
      if (is_point && trusts_misses && found.first == traced<Position>::none) return;
      begin = search(wanted.lower);
    } else {
      begin = first_entry(found.first);
      const bool low = key_at(begin) < wanted.lower;
      if (low || (begin > 0 && !(key_at(begin - 1) < wanted.lower))) begin = search(wanted.lower);
    }
    if (begin == entries || wanted.upper < key_at(begin)) {
      end = begin;
      return;
    }
    if (first_only) {
      end = begin + 1;
      return;
    }
    if (found.count != 0 && found.count <= primitives - found.first) {
      end = first_entry(found.first + found.count);
      const bool right = end > begin && !(wanted.upper < key_at(end - 1)) &&
                         (end == entries || wanted.upper < key_at(end));
      if (right) return;
    }
    end = gallop_past(key_at, begin, entries, wanted.upper);
  }

 private:
  RAYDEX_HD unsigned part_of(Key key, unsigned high) const {
    unsigned low = 0;
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

/// The lookups of a batch, or of a part of it, in the order in which they are traced.
template <class Key, class Position>
struct trace_job {
  rx_scene<Key, Position> scene;  ///< where to look
  probe_set<Key> probes;          ///< all probes
  std::uint64_t begin = 0;        ///< the first probe
  std::uint64_t size = 0;         ///< how many
  const std::uint32_t* order =
      nullptr;                        ///< lookup i is probe `begin + order[i]`; null: `begin + i`
  const Key* points = nullptr;        ///< the key of each lookup, a point; null: read the probe
  Position* rows = nullptr;           ///< the smallest row id of each point; or null
  bool rows_by_probe = true;          ///< `rows[i]` is of probe i, else of lookup i
  const Position* row_ids = nullptr;  ///< those of the entries, for `rows`
  Position* firsts = nullptr;         ///< without `rows`: `traced::first` of each lookup
  Position* counts = nullptr;         ///< and its `count`; null: only the first hit counts

  /// The probe of a lookup.
  RAYDEX_HD std::uint64_t probe(std::uint64_t lookup) const {
    return begin + (order == nullptr ? lookup : load(order + lookup));
  }
  /// Traces one lookup. The smallest row of a point is one read away from its first primitive, so
  /// that it is written here; other answers follow in `answer_traced`.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t lookup) const {
    interval<Key> wanted;
    traced<Position> result = {traced<Position>::none, 0};
    bool exists = true;
    if (points != nullptr) {
      wanted = {load_once(points + lookup), 0};
      wanted.upper = wanted.lower;
    } else {
      exists = probes.read(probe(lookup), wanted);
    }
    if (exists) result = scene.trace(tracer, wanted, probes.is_points);
    if (rows != nullptr) {
      rows[rows_by_probe ? probe(lookup) : lookup] = row(result, wanted, exists);
      return;
    }
    firsts[lookup] = result.first;
    if (counts != nullptr) counts[lookup] = result.count;
  }
  /// The smallest row id of a point.
  RAYDEX_HD Position row(const traced<Position>& result, interval<Key> wanted, bool exists) const {
    Position first = 0;
    Position last = 0;
    if (exists) scene.settle(result, wanted, true, true, first, last);
    return first < last ? load(row_ids + first) : static_cast<Position>(-1);
  }
  /// What was found of a lookup.
  RAYDEX_HD traced<Position> found(std::uint64_t lookup) const {
    return {firsts[lookup], counts == nullptr ? Position{0} : counts[lookup]};
  }
};

/// Lookups the other way round (thesis, section 4.3): the scene is of sorted points, and rays are
/// cast from the keys of an index. Equal points share a place in the scene, and of equal keys only
/// the first casts a ray: no two rays write to the same place.
template <class Key, class Position>
struct inverse_job {
  rx_scene<Key, Position> points;  ///< the scene of the sorted points
  const Key* keys = nullptr;       ///< the sorted column of the index
  std::uint64_t begin = 0;         ///< the first entry
  std::uint64_t size = 0;          ///< how many
  Position* firsts = nullptr;      ///< by point, the first of those that are equal: the first entry
                                   ///< with its key; left alone where there is none

  /// Traces the key of one entry, counted from `begin`.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t number) const {
    const std::uint64_t entry = begin + number;
    const Key key = load(keys + entry);
    if (entry > 0 && load(keys + entry - 1) == key) return;
    const interval<Key> wanted = {key, key};
    Position first = 0;
    Position last = 0;
    points.settle(points.trace(tracer, wanted, true), wanted, true, true, first, last);
    if (first < last) firsts[first] = static_cast<Position>(entry);
  }
};

/// Lookups without probes of their own, for an executor.
struct numbered_lookups {
  std::uint64_t size;  ///< how many
  /// What has been fetched.
  struct nothing {};
  /// None has a key by which it could be sorted.
  template <class Key>
  RAYDEX_HD bool read(std::uint64_t, interval<Key>&) const {
    return false;
  }
  /// Nothing needs to be read.
  template <std::size_t N>
  RAYDEX_HD nothing fetch(const ticket (&)[N]) const {
    return {};
  }
};

/// An operation whose matches were traced: settles where they are and answers. Not for
/// `first_of_points`, which a job answers by itself.
template <class Operation, class Key, class Position>
struct answer_traced {
  using result = typename Operation::result;  ///< what is written

  decltype(Operation::view) view;  ///< the entries
  numbered_lookups probes;         ///< the lookups
  Operation operation;             ///< what is asked
  trace_job<Key, Position> job;    ///< what was traced
  result* out;                     ///< where results go

  /// Answers N tickets, whose probes are lookups of the job.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], numbered_lookups::nothing,
                     result* to) const {
    ticket own[N];
    Position begin[N];
    Position end[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      own[j] = {~std::uint64_t{0}, 0};
      begin[j] = end[j] = 0;
      const std::uint64_t lookup = tickets[j].probe;
      if (lookup >= probes.size) continue;
      const std::uint64_t probe = job.probe(lookup);
      own[j] = {probe, probe};
      interval<Key> wanted;
      if (!operation.probes.read(probe, wanted)) continue;
      job.scene.settle(job.found(lookup), wanted, operation.probes.is_points, false, begin[j],
                       end[j]);
    }
    operation.answer(team, own, begin, end, to);
  }
};

}  // namespace raydex::core
