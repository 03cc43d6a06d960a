// SPDX-License-Identifier: Apache-2.0
// What the backends' aggregates have in common: all but the executor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/aggregate.hpp"
#include "src/interface/kept_parts.hpp"
#include "src/operations/aggregates/ranked_values.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_aggregate final : public aggregate {
 public:
  built_aggregate(const context& on, const index& over, const std::optional<column>& values,
                  const aggregate_options& options)
      : aggregate(over, on.memory) {
    const index_info& source = over.info();
    info_ = {.structure = source.structure,
             .where = source.where,
             .key = source.key,
             .value = values ? std::optional(values->format) : std::nullopt,
             .row_ids = source.row_ids,
             .parts = options,
             .entries = source.entries,
             .resident_bytes = 0,
             .build_peak_bytes = 0};
    const context own{memory(), on.stream};
    rows_ = {own, source.entries};
    read_row_ids(own, rows_.data());
    if (values) {
      values_.emplace(own, source.where, rows_.data(), rows_.size(), *values,
                      typename ranked::parts{options.sums, options.minima, options.maxima});
      // What is freed may still be read by what is queued on another stream.
      Executor::synchronise(own);
    }
    if (options.first_rows) {
      first_rows_ = cover_of(own, source.where, column(rows_));
    } else {
      rows_ = {};
    }
    Executor::synchronise(own);
    measure();
  }

 private:
  using ranked = ranked_values<RowId, Executor>;
  using ranks = core::found_ranks<RowId>;

  // Calls answer(ranks, first probe, probes) for slices of a batch.
  template <class Answer>
  void for_ranks(const context& on, const probes& batch, const Answer& answer) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 23;
    const std::uint64_t at_once = std::min(batch.size(), most);
    buffer<RowId> begins(on, at_once);
    buffer<RowId> counts(on, at_once);
    for (std::uint64_t first = 0; first < batch.size(); first += at_once) {
      const std::uint64_t size = std::min(at_once, batch.size() - first);
      probes sliced = batch;
      sliced.lower = slice(batch.lower, first, size);
      sliced.upper = slice(batch.upper, first, size);
      find_ranks(on, sliced, begins.data(), counts.data());
      answer(ranks{begins.data(), counts.data()}, first, size);
    }
  }

  void do_count_values(const context& on, const probes& batch, std::uint64_t* out) const override {
    if (!values_->any_missing()) return over().count(on, batch, {out, batch.size()});
    for_ranks(on, batch, [&](const ranks& found, std::uint64_t first, std::uint64_t size) {
      values_->count(on, found, size, out + first);
    });
  }

  void do_sum(const context& on, const probes& batch, void* out) const override {
    for_ranks(on, batch, [&](const ranks& found, std::uint64_t first, std::uint64_t size) {
      values_->sum(on, found, size, static_cast<std::uint64_t*>(out) + first);
    });
  }

  void do_mean(const context& on, const probes& batch, double* out) const override {
    for_ranks(on, batch, [&](const ranks& found, std::uint64_t first, std::uint64_t size) {
      values_->mean(on, found, size, out + first);
    });
  }

  void do_extreme(const context& on, const probes& batch, bool largest, void* out) const override {
    const std::uint64_t width = info_.value->width;
    for_ranks(on, batch, [&](const ranks& found, std::uint64_t first, std::uint64_t size) {
      values_->extreme(on, found, core::part_of_ranks::all, size, largest,
                       static_cast<std::byte*>(out) + first * width);
    });
  }

  void do_first(const context& on, const probes& batch, void* out) const override {
    for_ranks(on, batch, [&](const ranks& found, std::uint64_t first, std::uint64_t size) {
      with_rank_ranges<Executor>(
          on, found, core::part_of_ranks::all, size, [&](const probes& ranges) {
            first_rows_->minimum(on, ranges,
                                 {format_of<RowId>, static_cast<RowId*>(out) + first, size});
          });
    });
  }

  void do_keep(const context& own, kept_parts& file) override {
    const std::uint64_t entries = over().info().entries;
    if (values_) values_->keep(own, file, entries);
    if (!info_.parts.first_rows) return;
    if (file.verifies()) {  // rows of a file may be any
      rows_ = {own, entries};
      read_row_ids(own, rows_.data());
    } else {
      file.array<Executor>("rows", own, rows_, entries);
    }
    file.minima("first rows", own, column(rows_), first_rows_);
  }

  buffer<RowId> rows_;  // by rank; kept for `first_rows_` alone
  std::optional<ranked> values_;
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
