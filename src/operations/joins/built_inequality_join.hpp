// SPDX-License-Identifier: Apache-2.0
// What the backends' joins by two inequalities have in common: all but the executor.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/order_join.hpp"
#include "src/operations/joins/dominance.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

// A column compared by `greater` is put in descending order, the second one by `less`: then the
// rows that match are the first ones of the first order, and the last ones of the second.
template <class RowId, executor Executor>
class built_inequality_join final : public inequality_join {
 public:
  built_inequality_join(backend where, const context& on, const compared_column& first,
                        const compared_column& second, const key_parts& by)
      : inequality_join(first.values.format, second.values.format, formats_of(by)),
        memory_(on.memory),
        own_{memory_, on.stream},
        first_how_(first.how),
        second_how_(second.how),
        table_rows_(first.values.size) {
    {
      const auto validity = validity_beside<Executor>(own_, first.values, &second.values, by);
      const std::array<ordered_column, 2> columns{
          {{first.values, !is_less(first.how)}, {second.values, is_less(second.how)}}};
      orders_.emplace(own_, where == backend::optix ? backend::cuda : where, by, columns,
                      validity.data());
    }
    rows_.emplace(own_, (*orders_)[0], (*orders_)[1], table_rows_);
    Executor::synchronise(own_);
    info_ = info_by_order(where, orders_->comparison(), (*orders_)[0].size(), memory_.current());
  }

 private:
  static bool is_less(comparison how) {
    return how == comparison::less || how == comparison::less_equal;
  }
  static bool takes_equal(comparison how) {
    return how == comparison::less_equal || how == comparison::greater_equal;
  }

  std::unique_ptr<joined> do_match(const context& on, const column& first, const column& second,
                                   const key_parts& by, join_kind kind) const override {
    if (wants_unmatched(kind)) {
      return std::make_unique<joined_with_unmatched<Executor>>(
          on, info_.where, kind, table_rows_,
          do_match(on, first, second, by, without_unmatched(kind)));
    }
    const auto validity = validity_beside<Executor>(on, first, &second, by);
    const dominance_request request{0,     {&first, takes_equal(first_how_)},
                                    1,     {&second, !takes_equal(second_how_)},
                                    false, false};
    return match_dominated<RowId>(on, own_, info_.where, kind, table_rows_, *orders_, by, *rows_,
                                  request, validity.data());
  }

  tracking_resource memory_;  // the first to come, the last to go
  context own_;
  comparison first_how_;
  comparison second_how_;
  std::uint64_t table_rows_;
  std::optional<value_orders<Executor>> orders_;
  std::optional<dominance<RowId, Executor>> rows_;
};

}  // namespace raydex
