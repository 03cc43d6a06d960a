// SPDX-License-Identifier: Apache-2.0
/// @file
/// Nearest intervals, and how far away they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"

namespace raydex {

/// Which intervals of the build side are taken for each of the probe side.
struct nearest_options {
  std::uint64_t count = 1;  ///< how many, at most; 1 or more
  bool overlaps = true;     ///< whether those at a distance of 0 are: they overlap, or touch
  bool before = true;       ///< whether those are that end before the probe begins
  bool after = true;        ///< and those that begin behind its end
};

/// The build side of joins with the nearest intervals, among rows of equal keys if there are keys.
///
/// The distance of two intervals is 0 if they have a point in common, both ends included, else from
/// the end of one to the beginning of the other: of integers exact, of floating ends as their type
/// rounds it; NaN, which comes after all numbers, is far from all but NaN. So half-open intervals
/// that touch are 0 apart, as those that overlap.
///
/// *Method*: an interval before a probe is near by its upper end, one behind it by its lower end,
/// and one at a distance of 0 is one of those that `interval_join` finds; an order each. *Cost* of
/// a probe: four searches, two reads of a row and its ends for each interval taken before or behind
/// it, and two for each bit of the number of intervals for each of those at a distance of 0.
/// *Memory* an interval: three times that of a `range_join`, and 4.6 bytes; the matrix as of
/// `interval_join`, if those at a distance of 0 count.
///
/// Intervals that end before they begin match nothing, on either side, nor do those with a missing
/// end or key. The columns of ends and of `by` must outlive the build side. *Streams, threads,
/// errors*: as for `interval_join`.
class RAYDEX_EXPORT nearest_join {
 public:
  nearest_join(const nearest_join&) = delete;
  nearest_join& operator=(const nearest_join&) = delete;
  virtual ~nearest_join();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }

  /// Writes the nearest build rows of each probe row, and how far away they are.
  ///
  /// `rows`: `how.count` row ids for each probe row, side by side, by distance; of equal ones those
  /// at a distance of 0 by lower end, then by row, others by row. `not_found` stands behind the
  /// last one. The type is uint32 where the build side has fewer than 2^32 - 1 rows, else uint64;
  /// uint64 in any case, with 4 bytes of scratch each. `distances`: one for each of `rows`, of no
  /// row the largest number; or nothing, if they are not wanted. Further scratch: up to 96 bytes
  /// for each of at most 2^22 probe rows.
  void match(const context& on, const column& lower, const column& upper, const key_parts& by,
             const nearest_options& how, const row_id_span& rows,
             std::span<std::uint64_t> distances = {}) const;
  /// The same for floating ends; the distance of no row is NaN.
  void match(const context& on, const column& lower, const column& upper, const key_parts& by,
             const nearest_options& how, const row_id_span& rows,
             std::span<double> distances) const;
  /// Joins probe rows with these, and with all others that are no farther away than the last of
  /// them. Rows are ordered by probe row, then by lower end, then by build row. Takes those at a
  /// distance of 0 in any case; `unsupported` without them.
  std::unique_ptr<joined> match_ties(const context& on, const column& lower, const column& upper,
                                     const key_parts& by, const nearest_options& how,
                                     join_kind kind) const;

 protected:
  /// For implementations: over ends of a format, and rows of a type.
  nearest_join(key_format format, row_id_type row_ids, std::vector<std::optional<key_format>> by)
      : format_(format), row_ids_(row_ids), by_(std::move(by)) {}
  /// Answers `match`. `distances`: 8 bytes each, or null.
  virtual void do_match(const context& on, const column& lower, const column& upper,
                        const key_parts& by, const nearest_options& how, void* rows,
                        void* distances) const = 0;
  /// Answers `match_ties`.
  virtual std::unique_ptr<joined> do_match_ties(const context& on, const column& lower,
                                                const column& upper, const key_parts& by,
                                                const nearest_options& how,
                                                join_kind kind) const = 0;
  join_info info_;  ///< what `info` returns

 private:
  void check(const context& on, const column& lower, const column& upper, const key_parts& by,
             const nearest_options& how) const;
  template <class Distance>
  void checked_match(const context& on, const column& lower, const column& upper,
                     const key_parts& by, const nearest_options& how, const row_id_span& rows,
                     std::span<Distance> distances) const;

  key_format format_;
  row_id_type row_ids_;
  std::vector<std::optional<key_format>> by_;
};

/// Builds the build side of joins with nearest intervals: ends of one format and number, which are
/// numbers.
RAYDEX_EXPORT std::unique_ptr<nearest_join> build_nearest_join(backend where, const context& on,
                                                               const column& lower,
                                                               const column& upper,
                                                               const key_parts& by = {});

}  // namespace raydex
