// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a batch of probes is answered, written once for all structures and backends. A structure
/// brings a view with `locate`, `first`, `count` and `for_each`; a backend runs the operations
/// below for all probes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/column.hpp"
#include "raydex/core/config.hpp"

namespace raydex::core {

/// All keys k with lower <= k <= upper.
template <class Key>
struct interval {
  Key lower;  ///< the smallest key
  Key upper;  ///< the largest key
  /// Whether it holds no key.
  RAYDEX_HD bool empty() const { return upper < lower; }
};

/// The probes of a batch.
template <class Key>
struct probe_set {
  encoded_column<Key> lower;  ///< points, or lower ends
  encoded_column<Key> upper;  ///< upper ends; not read for points
  std::uint64_t size;         ///< number of probes
  bool is_points;             ///< whether these are points

  /// Reads probe `i`; false if it matches nothing, being missing or empty.
  RAYDEX_HD bool read(std::uint64_t i, interval<Key>& probe) const {
    if (!lower.valid(i)) return false;
    probe.lower = lower[i];
    if (is_points) {
      probe.upper = probe.lower;
      return true;
    }
    if (!upper.valid(i)) return false;
    probe.upper = upper[i];
    return !probe.empty();
  }

  /// Whether probe `i` is not above the next one, by their lower ends.
  RAYDEX_HD bool ascends(std::uint64_t i) const {
    return i + 1 >= size || lower[i] <= lower[i + 1];
  }
};

/// Locates the probes begin, begin + stride, .. (N of them, as far as there are so many) together,
/// then calls `consume(i, matches, probe, location)` for each; `matches` is false where the probe
/// matches nothing by itself.
template <std::size_t N, class View, class Consume>
RAYDEX_HD inline void answer(const View& view, const probe_set<typename View::key_type>& probes,
                             std::uint64_t begin, std::uint64_t stride, Consume&& consume) {
  using key = typename View::key_type;
  interval<key> probe[N];
  bool matches[N];
  key lower[N];
  typename View::position location[N];
  for (std::size_t j = 0; j < N; ++j) {
    const std::uint64_t i = begin + j * stride;
    matches[j] = i < probes.size && probes.read(i, probe[j]);
    lower[j] = matches[j] ? probe[j].lower : key{0};
  }
  view.locate(lower, location);
  for (std::size_t j = 0; j < N; ++j) {
    const std::uint64_t i = begin + j * stride;
    if (i < probes.size) consume(i, matches[j], probe[j], location[j]);
  }
}

/// Writes the smallest matching row id of each probe.
template <class View>
struct first_rows {
  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  typename View::row_id_type* out;            ///< a row id a probe

  /// Answers N probes.
  template <std::size_t N>
  RAYDEX_HD void run(std::uint64_t begin, std::uint64_t stride) const {
    answer<N>(view, probes, begin, stride, [&](auto i, bool matches, auto probe, auto location) {
      using row_id = typename View::row_id_type;
      out[i] = matches ? view.first(probe, location) : std::numeric_limits<row_id>::max();
    });
  }
};

/// Writes the number of matches of each probe.
template <class View>
struct count_rows {
  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  std::uint64_t* out;                         ///< a count a probe

  /// Answers N probes.
  template <std::size_t N>
  RAYDEX_HD void run(std::uint64_t begin, std::uint64_t stride) const {
    answer<N>(view, probes, begin, stride, [&](auto i, bool matches, auto probe, auto location) {
      out[i] = matches ? view.count(probe, location) : 0;
    });
  }
};

/// Writes the sum over the matches of each probe.
template <class View, class Sum>
struct sum_rows {
  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  value_column values;                        ///< what to add up
  typename Sum::result* out;                  ///< a sum a probe

  /// Answers N probes.
  template <std::size_t N>
  RAYDEX_HD void run(std::uint64_t begin, std::uint64_t stride) const {
    answer<N>(view, probes, begin, stride, [&](auto i, bool matches, auto probe, auto location) {
      Sum sum;
      if (matches) view.for_each(probe, location, [&](auto row) { sum.add(values, row); });
      out[i] = sum.get();
    });
  }
};

/// Writes the matching row ids of each probe, those of probe i from `out[offsets[i]]` on.
template <class View>
struct list_rows {
  View view;                                  ///< the index
  probe_set<typename View::key_type> probes;  ///< the batch
  const std::uint64_t* offsets;               ///< where the rows of each probe begin
  typename View::row_id_type* out;            ///< the row ids of all probes

  /// Answers N probes.
  template <std::size_t N>
  RAYDEX_HD void run(std::uint64_t begin, std::uint64_t stride) const {
    answer<N>(view, probes, begin, stride, [&](auto i, bool matches, auto probe, auto location) {
      auto* next = out + offsets[i];
      if (matches) view.for_each(probe, location, [&](auto row) { *next++ = row; });
    });
  }
};

}  // namespace raydex::core
