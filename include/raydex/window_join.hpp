// SPDX-License-Identifier: Apache-2.0
/// @file
/// Window joins: aggregates of the build rows whose time is near that of a probe row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

/// The build rows of a probe row at time t: those with times from t - `before` to t + `after`.
///
/// Distances are those of `join::match_band`: exact for integers, and of floating times with the
/// difference as their type rounds it. An infinite one has no end there.
struct time_window {
  key_distance before = 0;                 ///< how far back, 0 or more
  key_distance after = 0;                  ///< how far on, 0 or more
  closed_ends closed = closed_ends::both;  ///< whether rows at the ends belong to it; if both
                                           ///< distances are 0, only `both` has any rows
};

/// What a window join is built for. Each costs memory; see `window_join`.
struct window_options {
  bool sums = true;    ///< `sum` and `mean`
  bool minima = true;  ///< `minimum` and `argmin`; `first` and `last`
  bool maxima = true;  ///< `maximum` and `argmax`
};

/// The windows of a batch of probe rows, which answer aggregates.
///
/// *Of no row*, a sum and a count are 0, a row is `not_found`, and a mean NaN; a minimum, `first`
/// and `last` are NaN if values are floating, else the largest number of their type, a maximum the
/// smallest, as of `aggregate`. `count` tells. What the join was not built for throws
/// `unsupported`.
///
/// *Memory*: 8 bytes a probe row, 16 with row ids of 64 bits; scratch of extremes 16 bytes for each
/// of up to 2^22 probe rows at a time. The join must outlive it; probe columns need not. *Streams,
/// threads, errors*: as for `index`; nothing synchronises.
class RAYDEX_EXPORT windowed {
 public:
  windowed(const windowed&) = delete;
  windowed& operator=(const windowed&) = delete;
  virtual ~windowed();

  /// How many probe rows there are: each output has room for as many.
  std::uint64_t size() const noexcept { return size_; }

  /// Writes how many rows each window has.
  void count(const context& on, std::span<std::uint64_t> out) const;

  /// Writes the sum of each window, for values of an unsigned integer type, modulo 2^64.
  void sum(const context& on, std::span<std::uint64_t> out) const;
  /// The same for values of a signed integer type.
  void sum(const context& on, std::span<std::int64_t> out) const;
  /// The same for values of type float or double, as exact as those of `aggregate`.
  void sum(const context& on, std::span<double> out) const;
  /// Writes the mean of each window: the sum, not modulo 2^64, by the number of rows.
  void mean(const context& on, std::span<double> out) const;

  /// Writes the smallest value of each window, -0.0 as 0.0. `out`: of the values' type.
  void minimum(const context& on, const value_span& out) const;
  /// Writes the largest value of each window; NaN if there is one.
  void maximum(const context& on, const value_span& out) const;
  /// Writes the value of the first row of each window, by time, then by row; -0.0 as 0.0.
  void first(const context& on, const value_span& out) const;
  /// Writes the value of the last row.
  void last(const context& on, const value_span& out) const;

  /// Writes the build row of the smallest value of each window; of equal ones the first by time,
  /// then by row. `out`: uint32 where the build side has fewer than 2^32 - 1 rows, else uint64;
  /// uint64 in any case, with 4 bytes of scratch each.
  void argmin(const context& on, const row_id_span& out) const;
  /// The same of the largest value.
  void argmax(const context& on, const row_id_span& out) const;
  /// Writes the first build row of each window, by time, then by row. Needs no values.
  void first_row(const context& on, const row_id_span& out) const;
  /// Writes the last one.
  void last_row(const context& on, const row_id_span& out) const;

 protected:
  /// What is known of the join.
  struct facts {
    backend where;                    ///< its backend
    row_id_type row_ids;              ///< the type of build rows
    std::optional<key_format> value;  ///< the format of the values
    window_options built;             ///< what it was built for
  };
  /// For implementations: of so many probe rows.
  windowed(const facts& known, std::uint64_t size) : facts_(known), size_(size) {}

  /// @name What an implementation provides. Arguments are checked; there are probe rows.
  /// @{

  /// Answers `count`.
  virtual void do_count(const context& on, std::uint64_t* out) const = 0;
  /// Answers all kinds of `sum`.
  virtual void do_sum(const context& on, void* out) const = 0;
  /// Answers `mean`.
  virtual void do_mean(const context& on, double* out) const = 0;
  /// Answers `minimum` or `maximum`.
  virtual void do_extreme(const context& on, bool largest, void* out) const = 0;
  /// Answers `first` or `last`.
  virtual void do_end(const context& on, bool last, void* out) const = 0;
  /// Answers `argmin` or `argmax`, in the type of build rows.
  virtual void do_row_of_extreme(const context& on, bool largest, void* out) const = 0;
  /// Answers `first_row` or `last_row`, in the type of build rows.
  virtual void do_row_of_end(const context& on, bool last, void* out) const = 0;
  /// @}

 private:
  void check(const context& on, std::uint64_t out_size) const;
  void check_part(bool built, const char* option) const;
  template <class T>
  void checked_sum(const context& on, std::span<T> out, bool fits, const char* legal) const;
  void checked_value(const context& on, const value_span& out, bool built,
                     const char* option) const;
  template <class Write>
  void write_rows(const context& on, const row_id_span& out, const Write& write) const;

  facts facts_;
  std::uint64_t size_;
};

/// The build side of window joins: aggregates of a column of values over the build rows of an equal
/// key, if there are keys, whose time is near that of a probe row, in a time that does not depend
/// on how many these are.
///
/// *Method*: the rows in the order of keys and times, as `range_join` has them, and over the values
/// in that order what `aggregate` has: prefix sums, trees of sums of floating values, and an
/// `rmq_cover`. A window is two searches; an aggregate of it a few reads, as of `aggregate`.
/// *Memory* a build row: that of a `range_join`; sums 8 bytes, of 64-bit integers 16, of floating
/// values 10.3; minima and maxima a value and what an `rmq_cover` has above it, each. *Streams,
/// threads, errors*: as for `index`. The build synchronises.
///
/// A row with a missing time, key or value belongs to no window, a probe row with a missing time or
/// key has none. A NaN is a value, which comes after all others; a time that is NaN is within no
/// distance of any other, and in a range that ends at NaN.
class RAYDEX_EXPORT window_join {
 public:
  window_join(const window_join&) = delete;
  window_join& operator=(const window_join&) = delete;
  virtual ~window_join();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }
  /// The format of the values, if there are any.
  const std::optional<key_format>& value() const noexcept { return value_; }

  /// Finds the windows of probe rows. `times` and `by` are of the formats of the build side's.
  /// Scratch: up to 64 bytes for each of at most 2^22 probe rows.
  std::unique_ptr<windowed> match(const context& on, const column& times, const key_parts& by,
                                  const time_window& window) const;
  /// The same of the build rows themselves, a result each: `times` and `by` are their columns, as
  /// the build took them. Integers that fit beside the key are searched for in their order,
  /// which takes less time than that of the probes.
  std::unique_ptr<windowed> match_own(const context& on, const column& times, const key_parts& by,
                                      const time_window& window) const;
  /// The same with a window of its own for each probe: ranges of times, both ends included.
  std::unique_ptr<windowed> match(const context& on, const probes& ranges,
                                  const key_parts& by) const;

 protected:
  /// For implementations: over times, and keys and values of these formats.
  window_join(const column& times, std::vector<std::optional<key_format>> by,
              std::optional<key_format> value)
      : value_(value), time_(times.format), size_(times.size), by_(std::move(by)) {}
  /// Answers `match`: of a window about each point, or of ranges. `own`: the points are those of
  /// the build side.
  virtual std::unique_ptr<windowed> do_match(const context& on, const probes& batch,
                                             const key_parts& by, const time_window& window,
                                             bool own) const = 0;
  join_info info_;  ///< what `info` returns

 private:
  void check_times(const context& on, const column& times, const key_parts& by,
                   const time_window& window) const;

  std::optional<key_format> value_;
  key_format time_;
  std::uint64_t size_;
  std::vector<std::optional<key_format>> by_;
};

/// Builds the build side of window joins.
///
/// @param where the backend
/// @param on memory for it and its scratch, and the stream of the build
/// @param times the times of the rows: numbers, in any order
/// @param by columns of a key that has to be equal, none if there is none; they must outlive it
/// @param values what to aggregate: numbers. Without them only `count`, `first_row` and `last_row`
///        are answered
/// @param options which aggregates
///
/// `times` and `values` are read by the build only. Throws as `build_range_join`.
RAYDEX_EXPORT std::unique_ptr<window_join> build_window_join(
    backend where, const context& on, const column& times, const key_parts& by = {},
    const std::optional<column>& values = std::nullopt, const window_options& options = {});

}  // namespace raydex
