// SPDX-License-Identifier: Apache-2.0
// Rows in the order of keys and times, and where windows of probes lie among them.
#pragma once

#include <cstdint>
#include <memory>

#include "raydex/window_join.hpp"

namespace raydex {

class ordered_times {
 public:
  ordered_times(const ordered_times&) = delete;
  ordered_times& operator=(const ordered_times&) = delete;
  virtual ~ordered_times() = default;

  std::uint64_t size() const noexcept { return size_; }
  key_comparison comparison() const noexcept { return comparison_; }
  // The rows, in order: row ids of the type of so many build rows, as all that follows.
  const void* rows() const noexcept { return rows_; }
  // Writes where the rows of each probe begin, and how many they are: those of a window about each
  // point, or of ranges.
  virtual void find(const context& on, const probes& batch, const key_parts& by,
                    const time_window& window, void* begins, void* counts) const = 0;
  // The same about the build rows themselves, in the order of `rows`; false if that is left to
  // `find`.
  virtual bool find_own(const context& on, const time_window& window, void* begins,
                        void* counts) const = 0;

 protected:
  ordered_times() = default;
  std::uint64_t size_ = 0;
  key_comparison comparison_ = key_comparison::column;
  const void* rows_ = nullptr;
};

// Of rows with a time, a key and, if `values` is given, a value. `own.memory` and `by` outlive it.
using ordered_times_builder = std::unique_ptr<ordered_times>(backend where, const context& own,
                                                             const column& times,
                                                             const key_parts& by,
                                                             const column* values);

}  // namespace raydex
