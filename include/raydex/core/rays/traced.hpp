// SPDX-License-Identifier: Apache-2.0
/// @file
/// What structures have in common whose lookups are rays: the lookups of a batch, in the order in
/// which they are traced, and how they are answered.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/rays/key_scene.hpp"

namespace raydex::core {

/// Which hits of a ray are looked at.
enum class ray_hits : std::uint8_t {
  closest,  ///< the first; the other matches follow it in the sorted column (thesis, section 4.1)
  any       ///< all of them (RX paper, section 3.3)
};

/// What tracing found of a lookup. Where it gave up, the lookup is left to a search.
template <class Position>
struct traced {
  static constexpr Position none = static_cast<Position>(-1);     ///< no primitive
  static constexpr Position gave_up = static_cast<Position>(-2);  ///< too many rays

  Position first;  ///< the first primitive, `none` or `gave_up`
  Position count;  ///< how many primitives; 0 if only the first one was looked for
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

/// Traces rays against a scene that an engine has built, whose parts and primitives are numbered.
template <class T, class Position>
concept closest_tracer = requires(const T& tracer, unsigned part, const axis_ray& ray,
                                  Position& primitive) {
  // Whether the ray meets a primitive of that part, and the one that it meets first.
  { tracer.closest(part, ray, primitive) } -> std::same_as<bool>;
};

/// Traces against scenes of keys.
template <class T, class Position>
concept tracer = closest_tracer<T, Position> &&
    requires(const T& tracer, unsigned part, const axis_ray& ray, Position& primitive,
             bool& from_behind, Position part_begin, met_primitives<Position>& met) {
  // Says also whether it meets that from behind.
  { tracer.closest(part, ray, primitive, from_behind) } -> std::same_as<bool>;
  // Adds all primitives that it meets, each as `part_begin` plus its number.
  tracer.visit(part, ray, part_begin, met);
};

/// What a scene is tried with.
template <class Position>
struct archetype_tracer {
  /// Whether the ray meets a primitive.
  RAYDEX_HD bool closest(unsigned part, const axis_ray& ray, Position& primitive) const;
  /// Whether from behind, too.
  RAYDEX_HD bool closest(unsigned part, const axis_ray& ray, Position& primitive,
                         bool& from_behind) const;
  /// Adds all.
  RAYDEX_HD void visit(unsigned part, const axis_ray& ray, Position part_begin,
                       met_primitives<Position>& met) const;
};

/// A scene of keys. Engines also look for other primitives than triangles: `centre`, `box` and
/// `key_in(part, i)`.
template <class S>
concept traceable = requires(const S& scene,
                             const archetype_tracer<typename S::position_type>& tracer,
                             interval<typename S::key_type> wanted, bool is_point, bool first_only,
                             const traced<typename S::position_type>& found,
                             typename S::position_type& begin, typename S::position_type& end,
                             unsigned part, std::uint64_t i, point3 (&corners)[3]) {
  typename S::row_ids_type;  // how the row ids of its entries lie
  // What rays find.
  { scene.trace(tracer, wanted, is_point) } -> std::same_as<traced<typename S::position_type>>;
  // The entries [begin, end) that it stands for, or only the first of them.
  scene.settle(found, wanted, is_point, first_only, begin, end);
  // Whether lookups had better be settled after all have been traced.
  { S::settles_apart } -> std::convertible_to<bool>;
  // Whether a lookup's ray may stop at whatever it meets.
  { scene.any_will_do(is_point) } -> std::same_as<bool>;
  { scene.hits } -> std::convertible_to<ray_hits>;
  { scene.grid } -> std::convertible_to<key_grid>;
  scene.triangle(part, i, corners);
};

/// Where matches that begin at an entry end: past the last key that is not above `upper`, or, if
/// only the first counts, past that.
template <class Keys, class Key, class Position>
RAYDEX_HD inline Position end_of_matches(const Keys& keys, Position entries, Position begin,
                                         Key upper, bool first_only) {
  if (begin == entries || upper < keys(begin)) return begin;
  return first_only ? begin + 1 : gallop_past(keys, begin, entries, upper);
}

/// The lookups of a batch, or of a part of it, in the order in which they are traced.
template <class Scene>
struct trace_job {
  using key = typename Scene::key_type;            ///< an encoded key
  using position = typename Scene::position_type;  ///< an entry, or a row id

  Scene scene;              ///< where to look
  probe_set<key> probes;    ///< all probes
  std::uint64_t begin = 0;  ///< the first probe
  std::uint64_t size = 0;   ///< how many
  const std::uint32_t* order =
      nullptr;                  ///< lookup i is probe `begin + order[i]`; null: `begin + i`
  const key* points = nullptr;  ///< the key of each lookup, a point; null: read the probe
  position* rows = nullptr;     ///< the smallest row id of each point; or null
  bool rows_by_probe = true;    ///< `rows[i]` is of probe i, else of lookup i
  typename Scene::row_ids_type row_ids = {};  ///< those of the entries, for `rows`
  position* firsts = nullptr;                 ///< without `rows`: `traced::first` of each lookup
  position* counts = nullptr;                 ///< and its `count`; null: only the first hit counts

  /// The probe of a lookup.
  RAYDEX_HD std::uint64_t probe(std::uint64_t lookup) const {
    return begin + (order == nullptr ? lookup : load(order + lookup));
  }
  /// Reads what a lookup wants; false if it matches nothing, being missing or empty.
  RAYDEX_HD bool read(std::uint64_t lookup, interval<key>& wanted) const {
    if (points == nullptr) return probes.read(probe(lookup), wanted);
    wanted.lower = wanted.upper = load_once(points + lookup);
    return true;
  }
  /// Traces one lookup. The smallest row of a point is one read away from its first primitive, so
  /// that it is written here; other answers follow once matches are settled.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t lookup) const {
    interval<key> wanted;
    traced<position> result = {traced<position>::none, 0};
    const bool exists = read(lookup, wanted);
    if (exists) result = scene.trace(tracer, wanted, probes.is_points);
    if (rows != nullptr) {
      rows[rows_by_probe ? probe(lookup) : lookup] = row(result, wanted, exists);
      return;
    }
    firsts[lookup] = result.first;
    if (counts != nullptr) counts[lookup] = result.count;
  }
  /// The smallest row id of a point.
  RAYDEX_HD position row(const traced<position>& result, interval<key> wanted, bool exists) const {
    position first = 0;
    position last = 0;
    if (exists) scene.settle(result, wanted, true, true, first, last);
    return first < last ? load_at(row_ids, first) : static_cast<position>(-1);
  }
  /// What was found of a lookup.
  RAYDEX_HD traced<position> found(std::uint64_t lookup) const {
    return {firsts[lookup], counts == nullptr ? position{0} : counts[lookup]};
  }
};

/// Lookups the other way round (thesis, section 4.3): the scene is of sorted points, and rays are
/// cast from the keys of an index. Equal points share a place in the scene, and of equal keys only
/// the first casts a ray: no two rays write to the same place.
template <class Scene>
struct inverse_job {
  using key = typename Scene::key_type;            ///< an encoded key
  using position = typename Scene::position_type;  ///< an entry

  Scene points;                ///< the scene of the sorted points
  const key* keys = nullptr;   ///< the sorted column of the index
  std::uint64_t begin = 0;     ///< the first entry
  std::uint64_t size = 0;      ///< how many
  position* firsts = nullptr;  ///< by point, the first of those that are equal: the first entry
                               ///< with its key; left alone where there is none

  /// Traces the key of one entry, counted from `begin`.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t number) const {
    const std::uint64_t entry = begin + number;
    const key own = load(keys + entry);
    if (entry > 0 && load(keys + entry - 1) == own) return;
    const interval<key> wanted = {own, own};
    position first = 0;
    position last = 0;
    points.settle(points.trace(tracer, wanted, true), wanted, true, true, first, last);
    if (first < last) firsts[first] = static_cast<position>(entry);
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

/// What traced lookups stand for where the scene is of the entries themselves. Where entries lie
/// elsewhere, something else settles lookups: it has the same members.
template <class Scene>
struct entries_of_scene {
  using position_type = typename Scene::position_type;  ///< an entry

  Scene scene;                           ///< the scene
  typename Scene::row_ids_type row_ids;  ///< the row ids of the entries

  /// The entries [begin, end) of a lookup, or only the first of them.
  RAYDEX_HD void settle(const traced<position_type>& found,
                        interval<typename Scene::key_type> wanted, bool is_point, bool first_only,
                        position_type& begin, position_type& end) const {
    scene.settle(found, wanted, is_point, first_only, begin, end);
  }
  /// The row id of an entry.
  RAYDEX_HD position_type row_id(position_type entry) const { return load_at(row_ids, entry); }
};

/// An operation that visits matches, of lookups whose matches were located.
template <class Operation, class Count>
struct answer_located {
  using result = typename Operation::result;                           ///< what is written
  using position = typename decltype(Operation::view)::position_type;  ///< where an entry is

  decltype(Operation::view) view;  ///< the entries
  numbered_lookups probes;         ///< the lookups
  Operation operation;             ///< what is wanted
  const position* begins;          ///< the first entry of each lookup; any if there is none
  const Count* counts;      ///< how many it has; null: as the operation, which lists rows, says
  result* out;              ///< where results go
  std::uint64_t begin = 0;  ///< the first probe
  const std::uint32_t* order =
      nullptr;  ///< lookup i is probe `begin + order[i]`; null: `begin + i`

  /// Answers N tickets, whose probes are lookups.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], numbered_lookups::nothing,
                     result* to) const {
    ticket own[N];
    position first[N];
    position last[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      own[j] = {~std::uint64_t{0}, 0};
      first[j] = last[j] = 0;
      const std::uint64_t lookup = tickets[j].probe;
      if (lookup >= probes.size) continue;
      own[j].probe = own[j].result = begin + (order == nullptr ? lookup : load(order + lookup));
      const auto count = static_cast<position>(count_of(lookup, own[j].probe));
      if (count != 0) first[j] = load_once(begins + lookup);
      last[j] = first[j] + count;
    }
    answer_matches(operation, team, own, first, last, to);
  }

 private:
  RAYDEX_HD std::uint64_t count_of(std::uint64_t lookup, std::uint64_t probe) const {
    if constexpr (requires { operation.count(probe); }) {
      if (counts == nullptr) return operation.count(probe);
    }
    return load_once(counts + lookup);
  }
};

}  // namespace raydex::core
