// SPDX-License-Identifier: Apache-2.0
/// @file
/// Joins by order among rows of equal keys: ranges, intervals, two inequalities.
///
/// In all of them `by` are the columns of a key that has to be equal, none if there is none; `by`
/// of a batch has the formats of the build side's. A row with a missing value in any column matches
/// nothing. Values are compared in the order of keys, in which NaN comes last. Columns of `by` must
/// outlive the build side, others need not. *Streams, threads, errors*: as for `join`. What is
/// built when it is first needed comes from the memory and lies on the stream of the build, which
/// have to be there still; the call waits for that stream, and may throw `out_of_memory`. Keys that
/// do not fit 64 bits beside the values throw `unsupported` from about 2^32 rows on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"

namespace raydex {

/// The build side of joins with ranges: each probe row with the build rows of its key whose value
/// is in a range.
///
/// *Method*: the rows in the order of keys and values, as numbers that have the key above the value
/// and the bits that both span, see `asof_join`; a range is two searches. *Cost* of the build: two
/// passes and a sort; of a probe, two searches; of a match, a read and a write. *Memory*: 12 bytes
/// a build row, 8 if 32 bits suffice, and a thirtieth of it; up to 32 more if keys are strings, or
/// too long to fit beside values. Rows are ordered by probe row, then by
/// value, then by build row.
class RAYDEX_EXPORT range_join {
 public:
  range_join(const range_join&) = delete;
  range_join& operator=(const range_join&) = delete;
  virtual ~range_join();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }

  /// Joins by ranges, both ends included, or points. One whose lower end is above the upper one
  /// contains nothing.
  std::unique_ptr<joined> match(const context& on, const probes& batch, const key_parts& by,
                                join_kind kind) const;
  /// Joins with the values that are at most `distance` away, as `join::match_band` does.
  std::unique_ptr<joined> match_band(const context& on, const column& probe, key_distance distance,
                                     const key_parts& by, join_kind kind) const;
  /// Joins with the values that compare so with the probe.
  std::unique_ptr<joined> match_compared(const context& on, const column& probe, comparison how,
                                         const key_parts& by, join_kind kind) const;

 protected:
  /// For implementations: over values of a format.
  range_join(key_format format, std::vector<std::optional<key_format>> by)
      : format_(format), by_(std::move(by)) {}
  /// What a batch asks for.
  struct request {
    join_kind kind;                             ///< which rows
    const key_parts* by;                        ///< keys
    std::optional<probes> batch = {};           ///< ranges, or
    const column* probe = nullptr;              ///< a column with
    std::optional<key_distance> distance = {};  ///< a distance, or
    std::optional<comparison> how = {};         ///< a comparison
  };
  /// Answers all kinds of `match`.
  virtual std::unique_ptr<joined> do_match(const context& on, const request& wanted) const = 0;
  join_info info_;  ///< what `info` returns

 private:
  void check(const context& on, const column& probe, const key_parts& by, join_kind kind) const;

  key_format format_;
  std::vector<std::optional<key_format>> by_;
};

/// Builds the build side of joins with ranges of `values` among rows of equal `by`.
RAYDEX_EXPORT std::unique_ptr<range_join> build_range_join(backend where, const context& on,
                                                           const column& values,
                                                           const key_parts& by = {});

/// Which of its ends belong to an interval.
enum class closed_ends : std::uint8_t { both, left, right, neither };

/// How an interval of the build side lies to one of the probe side.
enum class interval_relation : std::uint8_t {
  overlaps,  ///< each begins before the other one ends, or, if both ends are closed, where it ends
  within,    ///< it begins where the other one does or later, and ends where it does or before
  encloses   ///< the other way round
};

/// Which of the matches of a probe row a join has.
enum class matches_taken : std::uint8_t {
  all,   ///< all of them
  first  ///< the first one in the order of rows, at the cost of one
};

/// Intervals of keys: which of them contain a point, and how they lie to other intervals.
///
/// *Method*: two orders of the intervals, by lower and by upper end. The matches are the
/// first ones of an order, as many as one rank tells, whose rank in the other order is not below a
/// second rank. For points and overlaps two ranks tell how many these are, unless some interval has
/// equal ends that are open. For others, and to divide the many matches of one probe among threads,
/// a wavelet matrix over the ranks (a bit a level and interval, built when it is first needed)
/// counts them and finds the k-th one. A tree of largest ranks leads from one match to the next.
/// *Cost* of a probe: two searches, and where the matrix counts, two reads for each bit of the
/// number of intervals; per match one or a few reads, however unevenly matches are spread over the
/// probes. *Memory* an interval: twice that of a `range_join`, and 4.6 bytes; what is built when it
/// is first needed is not in `info`: the matrix, 2 bits for each bit of their number and, while it
/// is built, 8 bytes, and for `within` 4.6 bytes and a matrix of its own. Rows are ordered by probe
/// row, then by lower end, `within` by upper end, then by build row.
///
/// Intervals whose lower end is above the upper one match nothing, on either side. An interval
/// whose ends are equal contains its point if both ends are closed, and none if one is open; with
/// an open end it still overlaps an interval that it lies strictly inside.
class RAYDEX_EXPORT interval_join {
 public:
  interval_join(const interval_join&) = delete;
  interval_join& operator=(const interval_join&) = delete;
  virtual ~interval_join();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }
  /// Joins points with the intervals that contain them.
  std::unique_ptr<joined> match(const context& on, const column& points, const key_parts& by,
                                join_kind kind, matches_taken which = matches_taken::all) const;
  /// The same without keys.
  std::unique_ptr<joined> match(const context& on, const column& points, join_kind kind) const {
    return match(on, points, {}, kind);
  }
  /// Joins intervals, whose ends are closed as those of the build side, with the intervals of the
  /// build side that lie so to them.
  std::unique_ptr<joined> match(const context& on, const column& lower, const column& upper,
                                const key_parts& by, interval_relation how, join_kind kind,
                                matches_taken which = matches_taken::all) const;

 protected:
  /// For implementations: over ends of a format.
  interval_join(key_format format, std::vector<std::optional<key_format>> by)
      : format_(format), by_(std::move(by)) {}
  /// Answers `match`: of intervals, or without `upper` and `how` of points.
  virtual std::unique_ptr<joined> do_match(const context& on, const column& lower,
                                           const column* upper, const key_parts& by,
                                           std::optional<interval_relation> how, join_kind kind,
                                           matches_taken which) const = 0;
  join_info info_;  ///< what `info` returns

 private:
  key_format format_;
  std::vector<std::optional<key_format>> by_;
};

/// Builds an interval join over ends of one format and number.
RAYDEX_EXPORT std::unique_ptr<interval_join> build_interval_join(
    backend where, const context& on, const column& lower, const column& upper,
    const key_parts& by = {}, closed_ends closed = closed_ends::both);

/// A column of the build side, and how its values compare with those of the probe side.
struct compared_column {
  column values;   ///< the values
  comparison how;  ///< `less` asks for values less than the probe's
};

/// The build side of joins by two inequalities, as `a < x and b >= y`.
///
/// Method, memory and cost are those of `interval_join` where the matrix counts; the columns may
/// have different formats. Rows are ordered by probe row, then by the first value, descending if it
/// is compared by `greater` or `greater_equal`, then by build row.
class RAYDEX_EXPORT inequality_join {
 public:
  inequality_join(const inequality_join&) = delete;
  inequality_join& operator=(const inequality_join&) = delete;
  virtual ~inequality_join();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }
  /// Joins probe rows with the build rows whose values compare with theirs in both ways.
  std::unique_ptr<joined> match(const context& on, const column& first, const column& second,
                                const key_parts& by, join_kind kind) const;

 protected:
  /// For implementations: over values of these formats.
  inequality_join(key_format first, key_format second, std::vector<std::optional<key_format>> by)
      : first_(first), second_(second), by_(std::move(by)) {}
  /// Answers `match`.
  virtual std::unique_ptr<joined> do_match(const context& on, const column& first,
                                           const column& second, const key_parts& by,
                                           join_kind kind) const = 0;
  join_info info_;  ///< what `info` returns

 private:
  key_format first_;
  key_format second_;
  std::vector<std::optional<key_format>> by_;
};

/// Builds the build side of joins by two inequalities.
RAYDEX_EXPORT std::unique_ptr<inequality_join> build_inequality_join(backend where,
                                                                     const context& on,
                                                                     const compared_column& first,
                                                                     const compared_column& second,
                                                                     const key_parts& by = {});

}  // namespace raydex
