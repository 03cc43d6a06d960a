// SPDX-License-Identifier: Apache-2.0
/// @file
/// Coverage: the summed length of what intervals share with others.
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

/// Intervals of integers that answer the summed length of what they share with each interval of a
/// batch, in a time that does not depend on how many these are.
///
/// The length of an interval is its upper end less its lower one, whether these belong to it or
/// not: half-open intervals of whole numbers have as many as that, closed ones one more each.
/// Several intervals of the build side that overlap each other count what they share once each.
///
/// *Method*: what ends or begins before a place has a count and a sum, which a rank in the order of
/// lower ends, one in that of upper ends, and prefix sums over both tell; four ranks are an answer.
/// *Memory* an interval: twice that of a `range_join`, and 16 bytes, 32 of 64-bit ends. *Streams,
/// threads, errors*: as for `interval_join`; nothing synchronises but the build.
class RAYDEX_EXPORT interval_coverage {
 public:
  interval_coverage(const interval_coverage&) = delete;
  interval_coverage& operator=(const interval_coverage&) = delete;
  virtual ~interval_coverage();

  /// What it holds.
  const join_info& info() const noexcept { return info_; }
  /// Writes, for each probe row, the summed length of what it shares with the build rows of its
  /// key; 0 for one that ends before it begins, or that lacks an end or a key. Exact up to 2^64 -
  /// 2^48; what is more is the largest number. Scratch: up to 64 bytes for each of at most 2^22
  /// probe rows.
  void match(const context& on, const column& lower, const column& upper, const key_parts& by,
             std::span<std::uint64_t> out) const;

 protected:
  /// For implementations: over ends of a format.
  interval_coverage(key_format format, std::vector<std::optional<key_format>> by)
      : format_(format), by_(std::move(by)) {}
  /// Answers `match`; there are probe rows.
  virtual void do_match(const context& on, const column& lower, const column& upper,
                        const key_parts& by, std::uint64_t* out) const = 0;
  join_info info_;  ///< what `info` returns

 private:
  key_format format_;
  std::vector<std::optional<key_format>> by_;
};

/// Builds it over ends of one format and number, which are integers and are read by the build only;
/// `by` must outlive it. Intervals that end before they begin are none, nor are those with a
/// missing end or key. Throws `unsupported` for 2^31 of them or more.
RAYDEX_EXPORT std::unique_ptr<interval_coverage> build_interval_coverage(backend where,
                                                                         const context& on,
                                                                         const column& lower,
                                                                         const column& upper,
                                                                         const key_parts& by = {});

}  // namespace raydex
