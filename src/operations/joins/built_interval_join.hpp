// SPDX-License-Identifier: Apache-2.0
// What the backends' interval joins have in common: all but the executor.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "raydex/order_join.hpp"
#include "src/operations/joins/dominance.hpp"
#include "src/operations/joins/interval_validity.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_interval_join final : public interval_join {
 public:
  built_interval_join(backend where, const context& on, const column& lower, const column& upper,
                      const key_parts& by, closed_ends closed)
      : interval_join(lower.format, formats_of(by)),
        memory_(on.memory),
        own_{memory_, on.stream},
        closed_(closed),
        table_rows_(lower.size) {
    buffer<std::uint64_t> empty(own_, 1);
    Executor::clear(own_, empty.data());
    {
      const auto validity = validity_of_intervals<Executor>(own_, lower, upper, by, empty.data());
      // Orders need no rays.
      const std::array<ordered_column, 2> ends{{{lower}, {upper}}};
      orders_.emplace(own_, where == backend::optix ? backend::cuda : where, by, ends,
                      validity.data());
    }
    by_lower_.emplace(own_, (*orders_)[from_lower], (*orders_)[from_upper], table_rows_);
    has_empty_ = Executor::read(own_, empty.data()) != 0;
    info_ = info_by_order(where, orders_->comparison(), (*orders_)[from_lower].size(),
                          memory_.current());
  }

 private:
  using rows = dominance<RowId, Executor>;
  static constexpr std::size_t from_lower = 0;  // the order of lower ends
  static constexpr std::size_t from_upper = 1;  // that of upper ends

  std::unique_ptr<joined> do_match(const context& on, const column& lower, const column* upper,
                                   const key_parts& by, std::optional<interval_relation> how,
                                   join_kind kind, matches_taken which) const override {
    if (wants_unmatched(kind)) {
      return std::make_unique<joined_with_unmatched<Executor>>(
          on, info_.where, kind, table_rows_,
          do_match(on, lower, upper, by, how, without_unmatched(kind), which));
    }
    buffer<std::uint64_t> empty(on, 1);
    buffer<std::uint8_t> validity;
    if (upper != nullptr) {
      Executor::clear(on, empty.data());
      validity = validity_of_intervals<Executor>(on, lower, *upper, by, empty.data());
    } else {
      validity = validity_beside<Executor>(on, lower, nullptr, by);
    }
    const bool is_within = how == interval_relation::within;
    dominance_request request = request_of(lower, upper, how);
    request.first = which == matches_taken::first;
    return match_dominated<RowId>(on, own_, info_.where, kind, table_rows_, *orders_, by,
                                  is_within ? by_upper() : *by_lower_, request, validity.data());
  }

  dominance_request request_of(const column& lower, const column* upper,
                               std::optional<interval_relation> how) const {
    const bool all_closed = closed_ == closed_ends::both;
    if (!how) {
      // Points: begun before it or with it, and not ended.
      const bool begins_with = all_closed || closed_ == closed_ends::left;
      const bool ends_with = all_closed || closed_ == closed_ends::right;
      return {from_lower,           {&lower, begins_with},    from_upper,
              {&lower, !ends_with}, counts_points_by_ranks(), true};
    }
    switch (*how) {
      case interval_relation::within:
        return {from_upper, {upper, true}, from_lower, {&lower, false}, false, false};
      case interval_relation::encloses:
        return {from_lower, {&lower, true}, from_upper, {upper, false}, false, true};
      case interval_relation::overlaps:
        break;
    }
    return {from_lower,
            {upper, all_closed},
            from_upper,
            {&lower, !all_closed},
            counts_overlaps_by_ranks(),
            true};
  }

  // What ended before a probe began before it, too, but for an interval of equal open ends: a point
  // there finds it ended, and not begun, and so does a probe of equal ends if one end is open.
  bool counts_points_by_ranks() const { return closed_ != closed_ends::neither || !has_empty_; }
  bool counts_overlaps_by_ranks() const { return closed_ == closed_ends::both || !has_empty_; }

  // Is built when it is first needed.
  const rows& by_upper() const {
    const std::lock_guard lock(changes_);
    if (!by_upper_) {
      by_upper_.emplace(own_, (*orders_)[from_upper], (*orders_)[from_lower], table_rows_);
      Executor::synchronise(own_);
    }
    return *by_upper_;
  }

  tracking_resource memory_;  // the first to come, the last to go
  context own_;
  closed_ends closed_;
  std::uint64_t table_rows_;
  bool has_empty_ = false;
  std::optional<value_orders<Executor>> orders_;
  std::optional<rows> by_lower_;
  mutable std::mutex changes_;
  mutable std::optional<rows> by_upper_;
};

}  // namespace raydex
