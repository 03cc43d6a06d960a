// SPDX-License-Identifier: Apache-2.0
/// @file
/// Aggregates of ranges and points in a time that does not depend on how many rows match.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"
#include "raydex/rmq.hpp"

namespace raydex {

class kept_parts;

/// What an aggregate is built for. Each costs memory; see `aggregate`.
struct aggregate_options {
  bool sums = true;        ///< `sum` and `mean`
  bool minima = true;      ///< `minimum`
  bool maxima = true;      ///< `maximum`
  bool first_rows = true;  ///< `first`
};

/// What an aggregate is and what it holds.
struct aggregate_info {
  std::string structure;            ///< the structure of the index that finds the ranks
  backend where;                    ///< the backend
  key_format key;                   ///< format of its keys
  std::optional<key_format> value;  ///< format of the values, if there are any
  row_id_type row_ids;              ///< type of its row ids
  aggregate_options parts;          ///< what it was built for
  std::uint64_t entries;            ///< of the index
  std::uint64_t resident_bytes;     ///< bytes held beside the index, measured
  std::uint64_t build_peak_bytes;   ///< most bytes allocated at once during the build, measured
};

/// Aggregates of the values of matching rows, by key: sums of integers from prefix sums over the
/// values in the order of the keys, sums of floating values from a tree of sums over these; minima,
/// maxima and smallest row ids from an `rmq_cover` over each of these.
///
/// *Cost*: the index finds where the matches of a probe begin and end, and two reads answer a sum
/// of integers, a few an extreme, up to 14 for each factor of 8 among the matches a sum of floating
/// values, whose lines are few. *Memory*, per entry of the index: sums 8 bytes, of 64-bit integers
/// 16, of floating values 10.3; minima and maxima a value and what an `rmq_cover` has above it,
/// each; first rows a row id and an `rmq_cover`; 8 bytes if values are missing, and 24 if some are
/// infinite or NaN. *Build*: a pass over the row ids with scattered reads of the values, and the
/// builds of what is above; synchronises. Queries take 8 to 24 bytes of scratch for each of up to
/// 2^23 probes at a time. *Streams, threads, errors*: as for `index`. Nothing synchronises.
///
/// *Sums* of integers are exact, modulo 2^64. Sums of floating values are kept in pairs of doubles:
/// they are off by less than 2^-90 of the sum of the absolute values that match, whatever the
/// others are, and rounded once. Where infinities or NaN match they give what plain addition does.
/// A sum that exceeds the largest double on the way is infinite, or NaN if it does so in both
/// directions. *Means* of integers are of exact sums, not modulo 2^64, of fewer than 2^32 values:
/// rounded once, and once more by the division. Means of floating values are their sum by their
/// number.
///
/// A missing value belongs to nothing. Values are ordered as keys are: NaN comes after everything,
/// so that a maximum is NaN where one matches, and a minimum only where nothing else does. *Of no
/// value at all*, a sum is 0; a mean, and a minimum or maximum of floating values, NaN; the minimum
/// of integers is the largest of their type, the maximum the smallest. `count_values` tells.
///
/// What an aggregate was not built for, by its options or for want of values, throws `unsupported`.
/// The index must outlive the aggregate and must not be edited: later calls then throw
/// `invalid_argument`. Indexes whose entries lie in nodes (`cgrx` with `node`) have no ranks and
/// are `unsupported`.
class RAYDEX_EXPORT aggregate {
 public:
  aggregate(const aggregate&) = delete;
  aggregate& operator=(const aggregate&) = delete;
  virtual ~aggregate();

  /// What the aggregate is and what it holds.
  const aggregate_info& info() const noexcept { return info_; }

  /// Writes the number of matches of each probe.
  void count(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes how many of the matches of each probe have a value.
  void count_values(const context& on, const probes& batch, std::span<std::uint64_t> out) const;

  /// Writes the sum of the values of each probe; for values of an unsigned integer type.
  void sum(const context& on, const probes& batch, std::span<std::uint64_t> out) const;
  /// The same for values of a signed integer type.
  void sum(const context& on, const probes& batch, std::span<std::int64_t> out) const;
  /// The same for values of type float or double.
  void sum(const context& on, const probes& batch, std::span<double> out) const;

  /// Writes the mean of the values of each probe: their sum, not modulo 2^64, as a double, divided
  /// by their number.
  void mean(const context& on, const probes& batch, std::span<double> out) const;

  /// Writes the smallest value of each probe, -0.0 as 0.0. `out`: of the values' type.
  void minimum(const context& on, const probes& batch, const value_span& out) const;
  /// Writes the largest value of each probe.
  void maximum(const context& on, const probes& batch, const value_span& out) const;

  /// Writes, for each probe, the smallest matching row id, or `not_found`, as `index::first` does.
  void first(const context& on, const probes& batch, const row_id_span& out) const;

 protected:
  /// For implementations: over an index that outlives it.
  aggregate(const index& over, memory_resource& upstream);

  /// @name What an implementation provides. Arguments are checked; batches are not empty.
  /// @{

  /// Answers `count_values`.
  virtual void do_count_values(const context& on, const probes& batch,
                               std::uint64_t* out) const = 0;
  /// Answers all kinds of `sum`.
  virtual void do_sum(const context& on, const probes& batch, void* out) const = 0;
  /// Answers `mean`.
  virtual void do_mean(const context& on, const probes& batch, double* out) const = 0;
  /// Answers `minimum`, or `maximum`.
  virtual void do_extreme(const context& on, const probes& batch, bool largest,
                          void* out) const = 0;
  /// Answers `first`.
  virtual void do_first(const context& on, const probes& batch, void* out) const = 0;
  /// Names its numbers and arrays to a file, which saves them, or has others in their place.
  virtual void do_keep(const context& own, kept_parts& file) = 0;
  /// @}

  /// The index.
  const index& over() const noexcept { return *over_; }
  /// Its row ids in the order of its keys.
  void read_row_ids(const context& on, void* out) const { over_->do_row_ids(on, out); }
  /// Where the matches of each probe begin among these, and how many they are; row ids.
  void find_ranks(const context& on, const probes& batch, void* begins, void* counts) const {
    over_->do_locate(on, batch, begins, counts, false);
  }
  /// The counted resource: an implementation's memory comes from here.
  tracking_resource& memory() noexcept { return memory_; }
  /// Fills in the byte counts once the build's scratch is freed.
  void measure() noexcept;

  aggregate_info info_;  ///< what `info` returns

 private:
  friend class index_keeper;

  void check(const context& on, const probes& batch, std::uint64_t out_size) const;
  void check_unedited() const;
  void check_part(bool built, const char* option) const;
  void check_sum(bool fits, const char* legal) const;
  void check_extreme(const context& on, const probes& batch, const value_span& out) const;

  const index* over_;
  std::uint64_t edits_;  // of the index, when this was built
  tracking_resource memory_;
};

/// Builds an aggregate over an index.
///
/// @param on memory for the aggregate and its scratch, of the index's backend, and a stream
/// @param over the index
/// @param values what to aggregate, more cells than `over.info().max_row_id`; read by the build
///        only. Without it only `count` and `first` are answered.
/// @param options which aggregates
///
/// Cost and memory: see `aggregate`. Throws `invalid_argument`, `unsupported` (of indexes without
/// ranks), `out_of_memory`, `cuda_error`.
RAYDEX_EXPORT std::unique_ptr<aggregate> build_aggregate(
    const context& on, const index& over, const std::optional<column>& values = std::nullopt,
    const aggregate_options& options = {});

}  // namespace raydex
