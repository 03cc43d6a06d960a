// SPDX-License-Identifier: Apache-2.0
// What joins and aggregates search, and users do not see. Arguments are checked before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/window_join.hpp"

namespace raydex {

// Of composite_keys.hpp and key_dictionary.hpp.
struct packed_keys;
struct packed_ranges;
struct owned_strings;

// Builds an index over a column.
using index_maker = std::function<std::unique_ptr<index>(const context& on, const column& keys)>;

// An index that says where matches are among its entries.
class located_index {
 public:
  explicit located_index(const index& searched) : searched_(&searched) {}

  const index_info& info() const { return searched_->info(); }
  // How often its entries have changed.
  std::uint64_t changes() const { return searched_->changes_; }

  // See `index`; batches may be empty.
  void check_kind(const probes& batch) const { searched_->check_kind(batch); }
  void first(const context& on, const probes& batch, void* out) const {
    if (batch.size() != 0) searched_->do_first(on, batch, out);
  }
  void count(const context& on, const probes& batch, std::uint64_t* out) const {
    if (batch.size() != 0) searched_->do_count(on, batch, out);
  }
  void locate(const context& on, const probes& batch, void* begins, void* counts) const {
    if (batch.size() != 0) searched_->do_locate(on, batch, begins, counts, true);
  }
  void rank(const context& on, const probes& batch, bool past, std::uint64_t* out) const {
    searched_->do_rank(on, batch, past, out);
  }
  // A row of the closest key before each point, the last one by default, or the first one of that
  // after it.
  void closest(const context& on, const probes& batch, bool before, closeness which, void* out,
               bool last = true) const {
    searched_->do_closest(on, batch, before, which, last, out);
  }
  const void* row_list(const context& on, buffer<std::byte>& made) const {
    return searched_->do_row_list(on, made);
  }
  bool repeats(const context& on) const { return searched_->do_count_repeated(on) != 0; }

 private:
  const index* searched_;
};

// Keys in order, held with what finds places among them.
class ascending_keys {
 public:
  ascending_keys(const ascending_keys&) = delete;
  ascending_keys& operator=(const ascending_keys&) = delete;
  virtual ~ascending_keys() = default;

  // Their codes, in an array.
  const void* codes() const noexcept { return codes_; }
  std::uint64_t resident_bytes() const noexcept { return resident_bytes_; }
  // Writes how many keys are less than each wanted one, of the same format; or not greater, if
  // `past`. Of a missing one it writes the largest number.
  virtual void rank(const context& on, const column& wanted, bool past,
                    std::uint64_t* out) const = 0;

 protected:
  ascending_keys() = default;
  const void* codes_ = nullptr;
  std::uint64_t resident_bytes_ = 0;
};

// Copies them from a column without missing cells. Waits for the stream if there are many.
using ascending_keys_builder = std::unique_ptr<ascending_keys>(const context& on,
                                                               const column& sorted);

// Different keys and their numbers: see `key_dictionary`.
class held_dictionary {
 public:
  held_dictionary(const held_dictionary&) = delete;
  held_dictionary& operator=(const held_dictionary&) = delete;
  virtual ~held_dictionary() = default;

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t resident_bytes() const noexcept { return resident_bytes_; }
  // The numbers of keys of the column's format.
  virtual packed_keys numbers(const context& on, const key_part& keys) const = 0;
  // The keys of a column of strings, as their numbers follow.
  virtual owned_strings keys(const context& on) const = 0;
  // The codes of the keys of another column, of so many bits, likewise.
  virtual buffer<std::uint64_t> codes(const context& on, unsigned bits) const = 0;
  // The numbers of all keys that begin with strings; the column has strings, and numbers are by
  // order.
  virtual packed_ranges ranges_of_prefixes(const context& on,
                                           const string_column& strings) const = 0;

 protected:
  held_dictionary() = default;
  std::uint64_t size_ = 0;
  std::uint64_t resident_bytes_ = 0;
};

// Where the numbers of a column's rows go; null: nobody asks.
struct row_numbers {
  packed_keys* of_rows = nullptr;  // by row, or by number if there are `rows`
  packed_keys* rows = nullptr;     // the rows of these
};

using dictionary_builder = std::unique_ptr<held_dictionary>(const context& on, const key_part& keys,
                                                            const row_numbers& numbers);

// Rows in the order of keys and times, and where windows of probes lie among them.
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

// Of rows with a time, a key and, if there are `values`, a value. `own.memory` and `by` outlive it.
using ordered_times_builder = std::unique_ptr<ordered_times>(backend where, const context& own,
                                                             const column& times,
                                                             const key_parts& by,
                                                             const column* values);

// Intervals in the order of keys and lower ends, and in that of keys and upper ends.
class ordered_intervals {
 public:
  // Ranks of the ends of probes in both orders: how many ends of rows of lesser keys, or of the
  // same key and less, there are.
  struct end_ranks {
    buffer<std::uint64_t> of_lower;
    buffer<std::uint64_t> of_upper;
  };
  struct found {
    buffer<std::uint8_t> valid;       // a bit a probe
    std::array<end_ranks, 2> orders;  // by lower ends, and by upper ends
  };

  ordered_intervals(const ordered_intervals&) = delete;
  ordered_intervals& operator=(const ordered_intervals&) = delete;
  virtual ~ordered_intervals() = default;

  std::uint64_t size() const noexcept { return size_; }
  key_comparison comparison() const noexcept { return comparison_; }
  // The rows, by lower or by upper ends: numbers of 32 bits.
  const void* rows(bool by_upper) const noexcept { return rows_[by_upper ? 1 : 0]; }
  // Ranks of some probes.
  virtual found find(const context& on, const column& lower, const column& upper,
                     const key_parts& by) const = 0;

 protected:
  ordered_intervals() = default;
  std::uint64_t size_ = 0;
  key_comparison comparison_ = key_comparison::column;
  std::array<const void*, 2> rows_{};
};

// Of valid intervals, of fewer than 2^31 rows. `own.memory` and `by` outlive it.
using ordered_intervals_builder = std::unique_ptr<ordered_intervals>(backend where,
                                                                     const context& own,
                                                                     const column& lower,
                                                                     const column& upper,
                                                                     const key_parts& by);

}  // namespace raydex
