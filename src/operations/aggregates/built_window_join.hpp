// SPDX-License-Identifier: Apache-2.0
// What the backends' window joins have in common: all but the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/window_join.hpp"
#include "src/interface/builders.hpp"
#include "src/operations/aggregates/ranked_values.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_windowed final : public windowed {
 public:
  using windowed::facts;
  using ranked = ranked_values<RowId, Executor>;

  // `by_rank`: the windows are those of the rows, in their order.
  built_windowed(const facts& known, const ordered_times& order,
                 const std::optional<ranked>& values, buffer<RowId> begins, buffer<RowId> counts,
                 bool by_rank)
      : windowed(known, begins.size()),
        rows_(static_cast<const RowId*>(order.rows())),
        values_(&values),
        begins_(std::move(begins)),
        counts_(std::move(counts)),
        by_rank_(by_rank) {
    if (known.value) width_ = known.value->width;
  }

 private:
  using ranks = core::found_ranks<RowId>;

  ranks found(std::uint64_t first = 0) const {
    return {begins_.data() + first, counts_.data() + first, by_rank_ ? rows_ + first : nullptr};
  }
  const ranked& values() const { return **values_; }
  // Where the answers from window `first` on are written, unless each has its place.
  template <class T>
  T* from(T* out, std::uint64_t first) const {
    return by_rank_ ? out : out + first;
  }

  void do_count(const context& on, std::uint64_t* out) const override {
    Executor::for_each(on, core::answer_integer_sum<RowId>{found(), nullptr, out}, size());
  }

  void do_sum(const context& on, void* out) const override {
    values().sum(on, found(), size(), out);
  }
  void do_mean(const context& on, double* out) const override {
    values().mean(on, found(), size(), out);
  }

  void do_extreme(const context& on, bool largest, void* out) const override {
    write_value(on, core::part_of_ranks::all, largest, out);
  }
  void do_end(const context& on, bool last, void* out) const override {
    write_value(on, last ? core::part_of_ranks::last : core::part_of_ranks::first, false, out);
  }
  void write_value(const context& on, core::part_of_ranks part, bool largest, void* out) const {
    for_each_slice(size(), [&](std::uint64_t first, std::uint64_t count) {
      values().extreme(on, found(first), part, count, largest,
                       from(static_cast<std::byte*>(out), first * width_));
    });
  }

  void do_row_of_extreme(const context& on, bool largest, void* out) const override {
    for_each_slice(size(), [&](std::uint64_t first, std::uint64_t count) {
      buffer<std::uint64_t> ranks_of(on, count);
      values().rank_of_extreme(on, found(first), count, largest, ranks_of.data());
      Executor::for_each(on,
                         core::put_row_at<RowId>{found(first), ranks_of.data(), false, rows_,
                                                 from(static_cast<RowId*>(out), first)},
                         count);
    });
  }
  void do_row_of_end(const context& on, bool last, void* out) const override {
    Executor::for_each(
        on, core::put_row_at<RowId>{found(), nullptr, last, rows_, static_cast<RowId*>(out)},
        size());
  }

  const RowId* rows_;
  const std::optional<ranked>* values_;
  std::uint64_t width_ = 0;  // of a value
  buffer<RowId> begins_;
  buffer<RowId> counts_;
  bool by_rank_;
};

template <class RowId, executor Executor>
class built_window_join final : public window_join {
 public:
  built_window_join(backend where, const context& on, const column& times, const key_parts& by,
                    const std::optional<column>& values, const window_options& options)
      : window_join(times, formats_of(by), values ? std::optional(values->format) : std::nullopt),
        memory_(on.memory),
        options_(options) {
    const context own{memory_, on.stream};
    order_ = operation_on(where, &operation_table::order_times)(where, own, times, by,
                                                                values ? &*values : nullptr);
    if (values) {
      column present = *values;
      present.validity = nullptr;  // rows without a value are not in the order
      values_.emplace(own, where, static_cast<const RowId*>(order_->rows()), order_->size(),
                      present,
                      typename ranked::parts{options.sums, options.minima, options.maxima});
      Executor::synchronise(own);
    }
    info_ = info_by_order(where, order_->comparison(), order_->size(), memory_.current());
  }

 private:
  using ranked = ranked_values<RowId, Executor>;

  std::unique_ptr<windowed> do_match(const context& on, const probes& batch, const key_parts& by,
                                     const time_window& window, bool own) const override {
    buffer<RowId> begins(on, batch.size());
    buffer<RowId> counts(on, batch.size());
    const bool by_rank = own && order_->find_own(on, window, begins.data(), counts.data());
    if (!by_rank) order_->find(on, batch, by, window, begins.data(), counts.data());
    constexpr row_id_type row_ids = sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64;
    return std::make_unique<built_windowed<RowId, Executor>>(
        typename built_windowed<RowId, Executor>::facts{info_.where, row_ids, value(), options_},
        *order_, values_, std::move(begins), std::move(counts), by_rank);
  }

  tracking_resource memory_;  // the first to come, the last to go
  window_options options_;
  std::unique_ptr<ordered_times> order_;
  std::optional<ranked> values_;
};

}  // namespace raydex
