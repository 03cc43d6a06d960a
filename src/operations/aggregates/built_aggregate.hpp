// SPDX-License-Identifier: Apache-2.0
// What the backends' aggregates have in common: all but the executor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "raydex/aggregate.hpp"
#include "raydex/core/aggregates/ordered_values.hpp"
#include "raydex/core/aggregates/prefix_sums.hpp"
#include "raydex/rmq_cover.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_aggregate final : public aggregate {
 public:
  built_aggregate(const context& on, const index& over, const std::optional<column>& values,
                  const aggregate_options& options)
      : aggregate(over, on.memory) {
    const index_info& of = over.info();
    options_ = options;
    info_ = {.structure = of.structure,
             .where = of.where,
             .key = of.key,
             .value = values ? std::optional(values->format) : std::nullopt,
             .row_ids = of.row_ids,
             .entries = of.entries,
             .resident_bytes = 0,
             .build_peak_bytes = 0};
    const context own{memory(), on.stream};
    rows_ = {own, of.entries};
    read_row_ids(own, rows_.data());
    if (values) {
      gather(own, *values);
      // What is freed may still be read by what is queued on another stream.
      Executor::synchronise(own);
    }
    if (options.first_rows) {
      first_rows_ = cover(own, column(rows_));
    } else {
      rows_ = {};
    }
    Executor::synchronise(own);
    measure();
  }

 private:
  using sums = buffer<std::uint64_t>;
  using ranks = core::found_ranks<RowId>;
  struct extremes {
    buffer<std::byte> codes;
    std::unique_ptr<rmq> smallest;
  };

  void gather(const context& on, const column& values) {
    const core::value_column cells{cells_of(values)};
    is_wide_ = values.format.width == 8;
    is_signed_ = values.format.type == key_type::int32 || values.format.type == key_type::int64;
    is_floating_ =
        values.format.type == key_type::float32 || values.format.type == key_type::float64;
    if (values.validity != nullptr) present_ = sums_of(on, cells, core::value_part::presence);
    if (options_.sums && is_floating_) {
      gather_floating(on, cells);
    } else if (options_.sums) {
      whole_ = sums_of(on, cells, core::value_part::whole);
      if (is_wide_) upper_halves_ = sums_of(on, cells, core::value_part::upper_half);
    }
    if (options_.minima) smallest_ = extremes_of(on, cells, false);
    if (options_.maxima) largest_ = extremes_of(on, cells, true);
  }

  sums sums_of(const context& on, const core::value_column& values, core::value_part part) {
    sums made(on, rows_.size() + 1);
    Executor::clear(on, made.data());
    if (rows_.size() == 0) return made;
    Executor::for_each(on, core::put_value_part<RowId>{rows_.data(), values, part, made.data()},
                       rows_.size());
    Executor::inclusive_sum(on, made.data() + 1, rows_.size());
    return made;
  }

  void gather_floating(const context& on, const core::value_column& values) {
    const std::uint64_t size = rows_.size();
    finite_ = {on, size};
    finite_sums_ = {on, core::sum_tree::all_sums(size)};
    if (size == 0) return;
    Executor::for_each(on, core::put_finite_value<RowId>{rows_.data(), values, finite_.data()},
                       size);
    const double* below_all = finite_.data();
    const core::double_sum* below = nullptr;
    core::double_sum* level = finite_sums_.data();
    for (std::uint64_t numbers = size; numbers > 1;) {
      const std::uint64_t above = core::sum_tree::above(numbers);
      Executor::for_each(on, core::add_neighbours{below_all, below, numbers, level}, above);
      below_all = nullptr;
      below = level;
      level += above;
      numbers = above;
    }
    sums nan = sums_of(on, values, core::value_part::not_a_number);
    sums positive = sums_of(on, values, core::value_part::positive_infinity);
    sums negative = sums_of(on, values, core::value_part::negative_infinity);
    const auto any = [&](const sums& of) { return Executor::read(on, of.data() + size) != 0; };
    if (!any(nan) && !any(positive) && !any(negative)) return;
    nan_ = std::move(nan);
    positive_ = std::move(positive);
    negative_ = std::move(negative);
  }

  extremes extremes_of(const context& on, const core::value_column& values, bool largest) {
    const auto made = [&]<class Code>(Code) -> extremes {
      extremes of{{on, rows_.size() * sizeof(Code)}, nullptr};
      auto* const codes = reinterpret_cast<Code*>(of.codes.data());
      Executor::for_each(on,
                         core::put_value_code<Code, RowId>{rows_.data(), {values}, largest, codes},
                         rows_.size());
      of.smallest = cover(on, column(format_of<Code>, codes, rows_.size()));
      return of;
    };
    return is_wide_ ? made(std::uint64_t{}) : made(std::uint32_t{});
  }

  // Minima need no rays.
  std::unique_ptr<rmq> cover(const context& on, const column& values) const {
    return build_rmq_cover(info_.where == backend::optix ? backend::cuda : info_.where, on, values);
  }

  // Calls answer(ranks, first probe, probes) for slices of a batch.
  template <class Answer>
  void for_ranks(const context& on, const probes& batch, const Answer& answer) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 23;
    const std::uint64_t at_once = std::min(batch.size(), most);
    buffer<RowId> begins(on, at_once);
    buffer<RowId> counts(on, at_once);
    for (std::uint64_t first = 0; first < batch.size(); first += at_once) {
      const std::uint64_t size = std::min(at_once, batch.size() - first);
      find_ranks(on, slice(batch, first, size), begins.data(), counts.data());
      answer(begins.data(), counts.data(), first, size);
    }
  }

  // Stretches begin at multiples of 2^23, at a byte of the validity bits.
  static probes slice(const probes& batch, std::uint64_t first, std::uint64_t size) {
    const auto part = [&](column cells) {
      cells.data = static_cast<const std::byte*>(cells.data) + first * cells.step();
      if (cells.validity != nullptr) cells.validity += first / 8;
      cells.size = size;
      return cells;
    };
    probes of = batch;
    of.lower = part(batch.lower);
    of.upper = part(batch.upper);
    return of;
  }

  template <class MakeAnswer>
  void answer_each(const context& on, const probes& batch, const MakeAnswer& make) const {
    for_ranks(
        on, batch,
        [&](const RowId* begins, const RowId* counts, std::uint64_t first, std::uint64_t size) {
          Executor::for_each(on, make(ranks{begins, counts}, first), size);
        });
  }

  core::sum_tree finite() const { return {finite_.data(), finite_sums_.data(), finite_.size()}; }
  core::unusual_values unusual() const { return {nan_.data(), positive_.data(), negative_.data()}; }

  void do_count_values(const context& on, const probes& batch, std::uint64_t* out) const override {
    if (present_.size() == 0) return over().count(on, batch, {out, batch.size()});
    answer_each(on, batch, [&](const ranks& found, std::uint64_t first) {
      return core::answer_integer_sum<RowId>{found, present_.data(), out + first};
    });
  }

  void do_sum(const context& on, const probes& batch, void* out) const override {
    answer_each_sum(
        on, batch,
        [&](const ranks& found, std::uint64_t first) {
          return core::answer_integer_sum<RowId>{found, whole_.data(),
                                                 static_cast<std::uint64_t*>(out) + first};
        },
        [&](const ranks& found, std::uint64_t first) {
          return core::answer_floating_sum<RowId>{found, finite(), unusual(),
                                                  static_cast<double*>(out) + first};
        });
  }

  void do_mean(const context& on, const probes& batch, double* out) const override {
    answer_each_sum(
        on, batch,
        [&](const ranks& found, std::uint64_t first) {
          return core::answer_mean<core::integer_sum_as_double<RowId>>{
              {found, whole_.data(), upper_halves_.data(), is_signed_},
              present_.data(),
              out + first};
        },
        [&](const ranks& found, std::uint64_t first) {
          return core::answer_mean<core::answer_floating_sum<RowId>>{
              {found, finite(), unusual(), nullptr}, present_.data(), out + first};
        });
  }

  template <class OfIntegers, class OfFloating>
  void answer_each_sum(const context& on, const probes& batch, const OfIntegers& of_integers,
                       const OfFloating& of_floating) const {
    if (is_floating_) {
      answer_each(on, batch, of_floating);
    } else {
      answer_each(on, batch, of_integers);
    }
  }

  void do_extreme(const context& on, const probes& batch, bool largest, void* out) const override {
    const extremes& of = largest ? largest_ : smallest_;
    const key_format format = *info_.value;
    const key_format coded = is_wide_ ? format_of<std::uint64_t> : format_of<std::uint32_t>;
    minima(on, batch, *of.smallest, coded, out);
    const auto decode = [&]<class Value>(Value) {
      Executor::for_each(on,
                         core::decode_values<Value>{static_cast<encoded_t<Value>*>(out), largest},
                         batch.size());
    };
    switch (format.type) {
      case key_type::int32:
        return decode(std::int32_t{});
      case key_type::uint32:
        return decode(std::uint32_t{});
      case key_type::int64:
        return decode(std::int64_t{});
      case key_type::uint64:
        return decode(std::uint64_t{});
      case key_type::float32:
        return decode(float{});
      default:
        return decode(double{});
    }
  }

  void do_first(const context& on, const probes& batch, void* out) const override {
    minima(on, batch, *first_rows_, format_of<RowId>, out);
  }

  // Minima of the ranks of each probe, in the format that the structure holds.
  void minima(const context& on, const probes& batch, const rmq& of, key_format format,
              void* out) const {
    for_ranks(
        on, batch,
        [&](RowId* begins, const RowId* counts, std::uint64_t first, std::uint64_t size) {
          buffer<RowId> lasts(on, size);
          Executor::for_each(on, core::put_rank_range<RowId>{begins, counts, lasts.data()}, size);
          const auto ends = [&](const RowId* of_all) {
            return column(format_of<RowId>, of_all, size);
          };
          auto* const to = static_cast<std::byte*>(out) + first * format.width;
          of.minimum(on, ranges(ends(begins), ends(lasts.data())), {format, to, size});
        });
  }

  bool is_wide_ = false;
  bool is_signed_ = false;
  bool is_floating_ = false;
  buffer<RowId> rows_;     // by rank; kept for `first_rows_` alone
  sums present_;           // values that are not missing; empty: all
  sums whole_;             // of integers
  sums upper_halves_;      // of 64-bit ones
  buffer<double> finite_;  // floating values by rank, and their sums
  buffer<core::double_sum> finite_sums_;
  sums nan_, positive_, negative_;  // empty where all values are finite
  extremes smallest_, largest_;
  std::unique_ptr<rmq> first_rows_;
};

template <executor Executor>
std::unique_ptr<aggregate> make_aggregate(const context& on, const index& over,
                                          const std::optional<column>& values,
                                          const aggregate_options& options) {
  if (over.info().row_ids == row_id_type::uint32)
    return std::make_unique<built_aggregate<std::uint32_t, Executor>>(on, over, values, options);
  return std::make_unique<built_aggregate<std::uint64_t, Executor>>(on, over, values, options);
}

}  // namespace raydex
