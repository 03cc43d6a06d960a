// SPDX-License-Identifier: Apache-2.0
/// @file
/// RX as its paper has it (sections 2.1 and 2.2): primitives stand in the order of the rows, so
/// that the number of a primitive tells its row, and what a ray meets is gathered as it is met.
/// Only the scene knows the keys.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/keys/sum.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/traced.hpp"

namespace raydex::core {

/// The scene, as tracers see it. Keys are encoded.
template <class Key, class Position>
struct rx_row_scene {
  using key_type = Key;            ///< an encoded key
  using position_type = Position;  ///< a primitive

  static constexpr ray_hits hits = ray_hits::any;  ///< all hits count
  /// Rays that one lookup may need: 2^36 keys, or as many rows of a grid with short ones.
  static constexpr std::uint64_t most_rays = std::uint64_t{1} << 16;

  key_grid grid;              ///< where keys lie
  Key smallest = 0;           ///< the smallest key
  Key largest = 0;            ///< the largest key
  Position primitives = 0;    ///< how many
  Position part_size = 1;     ///< how many a part has, but for the last one
  unsigned parts = 1;         ///< how many parts
  const Key* keys = nullptr;  ///< of primitives, while they are built

  /// The first primitive of a part.
  RAYDEX_HD Position part_begin(unsigned part) const {
    return static_cast<Position>(part * part_size);
  }
  /// The key of a primitive of a part.
  RAYDEX_HD Key key_in(unsigned part, std::uint64_t i) const {
    return load(keys + part_begin(part) + i);
  }
  /// The triangle of a primitive of a part.
  RAYDEX_HD void triangle(unsigned part, std::uint64_t i, point3 (&corners)[3]) const {
    grid.triangle(key_in(part, i), corners);
  }
  /// Its centre, of a sphere.
  RAYDEX_HD point3 centre(unsigned part, std::uint64_t i) const {
    return grid.place(key_in(part, i));
  }

  /// Leaves of a range what lies among the keys; false if that is nothing.
  RAYDEX_HD bool clip(interval<Key>& wanted) const {
    if (wanted.lower < smallest) wanted.lower = smallest;
    if (wanted.upper > largest) wanted.upper = largest;
    return primitives != 0 && !wanted.empty();
  }
  /// How many rays a range among the keys takes, less one.
  RAYDEX_HD std::uint64_t further_rays(interval<Key> wanted) const {
    return grid.segment(wanted.upper) - grid.segment(wanted.lower);
  }

  /// Adds to `met` all primitives of a lookup, those of equal keys in any order.
  template <class Tracer, class Met>
  RAYDEX_HD void trace(const Tracer& tracer, interval<Key> wanted, bool is_point, Met& met) const {
    if (!clip(wanted)) return;
    for (unsigned part = 0; part < parts; ++part) {
      Key first = wanted.lower;
      for (;;) {
        const std::uint64_t segment = grid.segment(first);
        const bool ends = segment == grid.segment(wanted.upper);
        const auto last = ends ? wanted.upper : static_cast<Key>(grid.last_of_segment(segment));
        tracer.visit(part, is_point ? grid.ray_to(first) : grid.ray_along(first, last, false),
                     part_begin(part), met);
        if (ends) break;
        first = static_cast<Key>(last + 1);
      }
    }
  }
};

/// What a lookup wants of the rows that its rays meet.
enum class row_question : std::uint8_t { first, count, integer_sum, floating_sum };

/// Gathers the answer to a question, hit by hit.
template <class RowId>
class met_rows {
 public:
  /// `row_ids`: of each primitive; null: its number. `values`: what sums add up.
  RAYDEX_HD met_rows(row_question question, const RowId* row_ids, const value_column& values)
      : question_(question), row_ids_(row_ids), values_(values) {}

  /// Adds the row of a primitive.
  RAYDEX_HD void add(RowId primitive) {
    if (question_ == row_question::count) {
      ++count_;
      return;
    }
    const RowId row = row_ids_ == nullptr ? primitive : load(row_ids_ + primitive);
    if (question_ == row_question::first) {
      smallest_ = row < smallest_ ? row : smallest_;
    } else if (question_ == row_question::integer_sum) {
      integers_.add(values_, row);
    } else {
      numbers_.add(values_, row);
    }
  }
  /// Writes the answer as answer `i` of `out`.
  RAYDEX_HD void put(void* out, std::uint64_t i) const {
    switch (question_) {
      case row_question::first:
        static_cast<RowId*>(out)[i] = smallest_;
        break;
      case row_question::count:
        static_cast<std::uint64_t*>(out)[i] = count_;
        break;
      case row_question::integer_sum:
        static_cast<std::uint64_t*>(out)[i] = integers_.get();
        break;
      case row_question::floating_sum:
        static_cast<double*>(out)[i] = numbers_.get();
        break;
    }
  }

 private:
  row_question question_;
  const RowId* row_ids_;
  value_column values_;
  RowId smallest_ = static_cast<RowId>(-1);  // none
  std::uint64_t count_ = 0;
  integer_sum integers_;
  floating_sum numbers_;
};

/// The lookups of a batch, or of a part of it, in its order.
template <class Key, class RowId>
struct row_job {
  rx_row_scene<Key, RowId> scene;  ///< where to look
  probe_set<Key> probes;           ///< all probes
  row_question question;           ///< what each asks
  const RowId* row_ids = nullptr;  ///< of each primitive; null: its number
  value_column values{};           ///< what sums add up; none: row ids
  void* out = nullptr;             ///< an answer a probe
  std::uint64_t begin = 0;         ///< the first probe
  std::uint64_t size = 0;          ///< how many

  /// Answers one probe, counted from `begin`.
  template <class Tracer>
  RAYDEX_HD void run(const Tracer& tracer, std::uint64_t number) const {
    met_rows<RowId> met(question, row_ids, values);
    interval<Key> wanted;
    if (probes.read(begin + number, wanted)) scene.trace(tracer, wanted, probes.is_points, met);
    met.put(out, begin + number);
  }
};

}  // namespace raydex::core
