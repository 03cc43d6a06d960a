// SPDX-License-Identifier: Apache-2.0
// Aggregates of values in an order of their rows, over ranges of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "raydex/core/aggregates/ordered_values.hpp"
#include "raydex/core/aggregates/prefix_sums.hpp"
#include "raydex/rmq_cover.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/kept_parts.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// What finds minima over ranks, which needs no rays.
inline std::unique_ptr<rmq> cover_of(const context& own, backend where, const column& by_rank) {
  return build_rmq_cover(where == backend::optix ? backend::cuda : where, own, by_rank);
}

// Calls ask(ranges) with the ranks that `part` has of those found for each of `size` probes.
template <executor Executor, class RowId, class Ask>
void with_rank_ranges(const context& on, const core::found_ranks<RowId>& found,
                      core::part_of_ranks part, std::uint64_t size, const Ask& ask) {
  buffer<RowId> firsts(on, size);
  buffer<RowId> lasts(on, size);
  Executor::for_each(on, core::put_rank_range<RowId>{found, part, firsts.data(), lasts.data()},
                     size);
  ask(ranges(column(firsts), column(lasts)));
}

template <class RowId, executor Executor>
class ranked_values {
 public:
  using ranks = core::found_ranks<RowId>;
  struct parts {
    bool sums;
    bool minima;
    bool maxima;
  };

  // Of the rows by rank. Both are read by the build only.
  ranked_values(const context& own, backend where, const RowId* rows, std::uint64_t size,
                const column& values, const parts& wanted)
      : format_(values.format), size_(size), has_sums_(wanted.sums) {
    const core::value_column cells{cells_of(values)};
    is_signed_ = format_.type == key_type::int32 || format_.type == key_type::int64;
    is_floating_ = format_.type == key_type::float32 || format_.type == key_type::float64;
    if (values.validity != nullptr)
      present_ = sums_of(own, rows, cells, core::value_part::presence);
    if (wanted.sums && is_floating_) {
      gather_floating(own, rows, cells);
    } else if (wanted.sums) {
      whole_ = sums_of(own, rows, cells, core::value_part::whole);
      if (is_wide()) upper_halves_ = sums_of(own, rows, cells, core::value_part::upper_half);
    }
    if (wanted.minima) smallest_ = extremes_of(own, where, rows, cells, false);
    if (wanted.maxima) largest_ = extremes_of(own, where, rows, cells, true);
  }

  // Whether values are missing, and which of the found ones are not.
  bool any_missing() const { return present_.size() != 0; }
  void count(const context& on, const ranks& found, std::uint64_t probes,
             std::uint64_t* out) const {
    Executor::for_each(on, core::answer_integer_sum<RowId>{found, present_.data(), out}, probes);
  }

  // Sums of the first integers, as many as a rank says, modulo 2^64.
  const std::uint64_t* whole_sums() const { return whole_.data(); }
  // Of their upper halves, with their signs; null unless they have 64 bits.
  const std::uint64_t* upper_halves() const { return upper_halves_.data(); }

  // Of 8 bytes each.
  void sum(const context& on, const ranks& found, std::uint64_t probes, void* out) const {
    if (is_floating_) {
      Executor::for_each(on, floating_sum(found, static_cast<double*>(out)), probes);
    } else {
      Executor::for_each(
          on,
          core::answer_integer_sum<RowId>{found, whole_.data(), static_cast<std::uint64_t*>(out)},
          probes);
    }
  }

  void mean(const context& on, const ranks& found, std::uint64_t probes, double* out) const {
    if (is_floating_) {
      Executor::for_each(on,
                         core::answer_mean<core::answer_floating_sum<RowId>>{
                             floating_sum(found, nullptr), present_.data(), out},
                         probes);
    } else {
      Executor::for_each(
          on,
          core::answer_mean<core::integer_sum_as_double<RowId>>{
              {found, whole_.data(), upper_halves_.data(), is_signed_}, present_.data(), out},
          probes);
    }
  }

  // The smallest value of a part of the found ones, or the largest. Only those of narrow row ids
  // can belong elsewhere.
  void extreme(const context& on, const ranks& found, core::part_of_ranks part,
               std::uint64_t probes, bool largest, void* out) const {
    // Those that belong elsewhere are found beside it.
    buffer<std::byte> apart(on, found.places == nullptr ? 0 : probes * format_.width);
    void* const codes = found.places == nullptr ? out : apart.data();
    const std::uint32_t* places = nullptr;
    if constexpr (sizeof(RowId) == 4) places = found.places;
    with_rank_ranges<Executor>(on, found, part, probes, [&](const raydex::probes& rank_ranges) {
      rmq_of(largest).minimum(on, rank_ranges, {code_format(), codes, probes});
    });
    dispatch_key(format_, [&]<class Code>() {
      Executor::for_each(on,
                         core::decode_values<Code>{static_cast<const Code*>(codes), format_.type,
                                                   largest, places, static_cast<Code*>(out)},
                         probes);
    });
  }
  // Its rank, of equal ones the first, or `no_position`.
  void rank_of_extreme(const context& on, const ranks& found, std::uint64_t probes, bool largest,
                       std::uint64_t* out) const {
    with_rank_ranges<Executor>(on, found, core::part_of_ranks::all, probes,
                               [&](const raydex::probes& rank_ranges) {
                                 rmq_of(largest).position(on, rank_ranges, {out, probes});
                               });
  }

  // Names all of it to a file, which saves it, or has that of so many rows in its place.
  void keep(const context& own, kept_parts& file, std::uint64_t size) {
    if (file.loads()) size_ = size;  // others may ask what is saved
    const auto keep_sums = [&](const char* name, sums& all) {
      file.array<Executor>(name, own, all, size + 1);
    };
    const auto keep_if_there = [&](const char* number, const sums& all, const auto& keep_them) {
      std::uint8_t are_there = all.size() != 0;
      file.number(number, are_there, 1);
      if (are_there != 0) keep_them();
    };
    keep_if_there("some are missing", present_, [&] { keep_sums("present", present_); });
    if (has_sums_ && is_floating_) {
      file.array<Executor>("finite values", own, finite_, size);
      file.array<Executor>("finite sums", own, finite_sums_, core::sum_tree::all_sums(size));
      keep_if_there("some are infinite", nan_, [&] {
        keep_sums("nan", nan_);
        keep_sums("positive infinities", positive_);
        keep_sums("negative infinities", negative_);
      });
    } else if (has_sums_) {
      keep_sums("sums", whole_);
      if (is_wide()) keep_sums("upper halves", upper_halves_);
    }
    for (extremes* const one : {&smallest_, &largest_}) {
      if (one->smallest == nullptr) continue;
      const bool largest = one == &largest_;
      const std::uint64_t bytes = size * code_format().width;
      file.array<Executor>(largest ? "codes of maxima" : "codes of minima", own, one->codes, bytes);
      file.minima(largest ? "maxima" : "minima", own,
                  column(code_format(), one->codes.data(), size), one->smallest);
    }
  }

 private:
  using sums = buffer<std::uint64_t>;
  struct extremes {
    buffer<std::byte> codes;
    std::unique_ptr<rmq> smallest;
  };

  bool is_wide() const { return format_.width == 8; }
  key_format code_format() const {
    return is_wide() ? format_of<std::uint64_t> : format_of<std::uint32_t>;
  }
  const rmq& rmq_of(bool largest) const { return *(largest ? largest_ : smallest_).smallest; }
  core::answer_floating_sum<RowId> floating_sum(const ranks& found, double* out) const {
    return {found,
            {finite_.data(), finite_sums_.data(), finite_.size()},
            {nan_.data(), positive_.data(), negative_.data()},
            out};
  }

  sums sums_of(const context& on, const RowId* rows, const core::value_column& values,
               core::value_part part) const {
    sums made(on, size_ + 1);
    Executor::clear(on, made.data());
    if (size_ == 0) return made;
    Executor::for_each(on, core::put_value_part<RowId>{rows, values, part, made.data()}, size_);
    Executor::inclusive_sum(on, made.data() + 1, size_);
    return made;
  }

  void gather_floating(const context& on, const RowId* rows, const core::value_column& values) {
    finite_ = {on, size_};
    finite_sums_ = {on, core::sum_tree::all_sums(size_)};
    if (size_ == 0) return;
    Executor::for_each(on, core::put_finite_value<RowId>{rows, values, finite_.data()}, size_);
    const double* below_all = finite_.data();
    const core::double_sum* below = nullptr;
    core::double_sum* level = finite_sums_.data();
    for (std::uint64_t numbers = size_; numbers > 1;) {
      const std::uint64_t above = core::sum_tree::above(numbers);
      Executor::for_each(on, core::add_neighbours{below_all, below, numbers, level}, above);
      below_all = nullptr;
      below = level;
      level += above;
      numbers = above;
    }
    sums nan = sums_of(on, rows, values, core::value_part::not_a_number);
    sums positive = sums_of(on, rows, values, core::value_part::positive_infinity);
    sums negative = sums_of(on, rows, values, core::value_part::negative_infinity);
    const auto any = [&](const sums& tree) { return Executor::read(on, tree.data() + size_) != 0; };
    if (!any(nan) && !any(positive) && !any(negative)) return;
    nan_ = std::move(nan);
    positive_ = std::move(positive);
    negative_ = std::move(negative);
  }

  extremes extremes_of(const context& on, backend where, const RowId* rows,
                       const core::value_column& values, bool largest) const {
    const auto make = [&]<class Code>(Code) -> extremes {
      extremes made{{on, size_ * sizeof(Code)}, nullptr};
      auto* const codes = reinterpret_cast<Code*>(made.codes.data());
      Executor::for_each(on, core::put_value_code<Code, RowId>{rows, {values}, largest, codes},
                         size_);
      made.smallest = cover_of(on, where, column(format_of<Code>, codes, size_));
      return made;
    };
    return is_wide() ? make(std::uint64_t{}) : make(std::uint32_t{});
  }

  key_format format_;
  std::uint64_t size_ = 0;
  bool has_sums_ = false;
  bool is_signed_ = false;
  bool is_floating_ = false;
  sums present_;           // values that are not missing; empty: all
  sums whole_;             // of integers
  sums upper_halves_;      // of 64-bit ones
  buffer<double> finite_;  // floating values by rank, and their sums
  buffer<core::double_sum> finite_sums_;
  sums nan_, positive_, negative_;  // empty where all values are finite
  extremes smallest_, largest_;
};

}  // namespace raydex
