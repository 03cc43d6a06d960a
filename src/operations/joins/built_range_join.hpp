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
    info_ = {.structure = "pivot_tree",
             .options = "",
             .where = where,
             .keys = orders_->comparison(),
             .keys_differ = false,
             .entries = order().size(),
             .resident_bytes = memory_.current()};
  }

 private:
  const value_order<Executor>& order() const { return (*orders_)[0]; }

  std::unique_ptr<joined> do_match(const context& on, const request& what) const override {
    if (wants_unmatched(what.kind)) {
      request pairs = what;
      pairs.kind = without_unmatched(what.kind);
      return std::make_unique<joined_with_unmatched<Executor>>(on, info_.where, what.kind,
                                                               table_rows_, do_match(on, pairs));
    }
    const column& probe = what.batch ? what.batch->lower : *what.probe;
    const bool is_ranges = what.batch && !what.batch->is_points;
    const auto validity =
        validity_beside<Executor>(on, probe, is_ranges ? &what.batch->upper : nullptr, *what.by);
    found_rows<RowId> found;
    found.begins = {on, probe.size};
    found.counts = {on, probe.size};
    found.list = order().template rows<RowId>();
    for_each_slice(probe.size, [&](std::uint64_t first, std::uint64_t size) {
      buffer<std::uint32_t> slots;
      const core::key_numbers keys = orders_->numbers_of(on, slice(*what.by, first, size), slots);
      buffer<std::uint64_t> begin;
      buffer<std::uint64_t> end;
      find(on, what, keys, first, size, begin, end);
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
    index_info of;
    of.where = info_.where;
    of.entries = info_.entries;
    of.max_row_id = table_rows_ == 0 ? 0 : table_rows_ - 1;
    return std::make_unique<built_joined<RowId, Executor>>(on, of, what.kind, std::move(found));
  }

  // Where the rows of each probe begin and end, in order; nothing where that is where all do.
  void find(const context& on, const request& what, const core::key_numbers& keys,
            std::uint64_t first, std::uint64_t size, buffer<std::uint64_t>& begin,
            buffer<std::uint64_t>& end) const {
    if (what.how) return find_compared(on, what, keys, first, size, begin, end);
    begin = {on, size};
    end = {on, size};
    if (what.batch) {
      order().rank(on, keys, slice(what.batch->lower, first, size), false, begin.data());
      order().rank(
          on, keys,
          slice(what.batch->is_points ? what.batch->lower : what.batch->upper, first, size), true,
          end.data());
      return;
    }
    rank_near(on, order(), keys, slice(*what.probe, first, size), {*what.distance},
              {*what.distance}, begin.data(), end.data());
  }

  void find_compared(const context& on, const request& what, const core::key_numbers& keys,
                     std::uint64_t first, std::uint64_t size, buffer<std::uint64_t>& begin,
                     buffer<std::uint64_t>& end) const {
    const column some = slice(*what.probe, first, size);
    const bool is_less = *what.how == comparison::less || *what.how == comparison::less_equal;
    const bool past = *what.how == comparison::less_equal || *what.how == comparison::greater;
    buffer<std::uint64_t>& own = is_less ? end : begin;
    own = {on, size};
    order().rank(on, keys, some, past, own.data());
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
