// SPDX-License-Identifier: Apache-2.0
// What the backends' joins with ranges among rows of equal keys have in common: all but the
// executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "raydex/core/joins/dominance.hpp"
#include "raydex/order_join.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/dominance.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_range_join final : public range_join {
 public:
  built_range_join(backend where, const context& on, const column& values, const key_parts& by)
      : range_join(values.format, formats_of(by)), memory_(on.memory), table_rows_(values.size) {
    const context own{memory_, on.stream};
    {
      const ordered_column one{values};
      const auto validity = validity_beside<Executor>(own, values, nullptr, by);
      orders_.emplace(own, where == backend::optix ? backend::cuda : where, by, std::span(&one, 1),
                      validity.data());
    }
    Executor::synchronise(own);
    info_ = info_by_order(where, orders_->comparison(), order().size(), memory_.current());
  }

 private:
  const value_order<Executor>& order() const { return (*orders_)[0]; }

  std::unique_ptr<joined> do_match(const context& on, const request& wanted) const override {
    if (wants_unmatched(wanted.kind)) {
      request pairs = wanted;
      pairs.kind = without_unmatched(wanted.kind);
      return std::make_unique<joined_with_unmatched<Executor>>(on, info_.where, wanted.kind,
                                                               table_rows_, do_match(on, pairs));
    }
    const column& probe = wanted.batch ? wanted.batch->lower : *wanted.probe;
    const bool is_ranges = wanted.batch && !wanted.batch->is_points;
    const auto validity = validity_beside<Executor>(
        on, probe, is_ranges ? &wanted.batch->upper : nullptr, *wanted.by);
    found_rows<RowId> found;
    found.begins = {on, probe.size};
    found.counts = {on, probe.size};
    found.list = order().template rows<RowId>();
    for_each_slice(probe.size, [&](std::uint64_t first, std::uint64_t size) {
      buffer<std::uint32_t> slots;
      const core::key_numbers keys = orders_->numbers_of(on, slice(*wanted.by, first, size), slots);
      buffer<std::uint64_t> begin;
      buffer<std::uint64_t> end;
      find(on, wanted, keys, first, size, begin, end);
      Executor::for_each(on,
                         core::count_dominated<RowId>{
                             .end = end.data(),
                             .least = begin.data(),
                             .valid = validity.size() == 0 ? nullptr : validity.data() + first / 8,
                             .size = order().size(),
                             .matrix = {},
                             .first = false,
                             .rows = order().template rows<RowId>(),
                             .leasts = found.begins.data() + first,
                             .counts = found.counts.data() + first,
                             .most = nullptr},
                         size);
    });
    index_info described;
    described.where = info_.where;
    described.entries = info_.entries;
    described.max_row_id = table_rows_ == 0 ? 0 : table_rows_ - 1;
    return std::make_unique<built_joined<RowId, Executor>>(on, described, wanted.kind,
                                                           std::move(found));
  }

  // Where the rows of each probe begin and end, in order; nothing where that is where all do.
  void find(const context& on, const request& wanted, const core::key_numbers& keys,
            std::uint64_t first, std::uint64_t size, buffer<std::uint64_t>& begin,
            buffer<std::uint64_t>& end) const {
    if (wanted.how) return find_compared(on, wanted, keys, first, size, begin, end);
    begin = {on, size};
    end = {on, size};
    if (wanted.batch) {
      order().rank(on, keys, slice(wanted.batch->lower, first, size), false, begin.data());
      order().rank(
          on, keys,
          slice(wanted.batch->is_points ? wanted.batch->lower : wanted.batch->upper, first, size),
          true, end.data());
      return;
    }
    rank_near(on, order(), keys, slice(*wanted.probe, first, size), {*wanted.distance},
              {*wanted.distance}, begin.data(), end.data());
  }

  void find_compared(const context& on, const request& wanted, const core::key_numbers& keys,
                     std::uint64_t first, std::uint64_t size, buffer<std::uint64_t>& begin,
                     buffer<std::uint64_t>& end) const {
    const column sliced = slice(*wanted.probe, first, size);
    const bool is_less = *wanted.how == comparison::less || *wanted.how == comparison::less_equal;
    const bool past = *wanted.how == comparison::less_equal || *wanted.how == comparison::greater;
    buffer<std::uint64_t>& own = is_less ? end : begin;
    own = {on, size};
    order().rank(on, keys, sliced, past, own.data());
    if (!orders_->has_keys()) return;
    buffer<std::uint64_t>& other = is_less ? begin : end;
    other = {on, size};
    order().rank_of_keys(on, keys, size, !is_less, other.data());
  }

  tracking_resource memory_;  // the first to come, the last to go
  std::uint64_t table_rows_;
  std::optional<value_orders<Executor>> orders_;
};

}  // namespace raydex
