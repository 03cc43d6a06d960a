// SPDX-License-Identifier: Apache-2.0
// What the backends' orders of intervals have in common: all but the executor.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "src/interface/searchable.hpp"
#include "src/operations/joins/interval_validity.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

// Of fewer than 2^31 rows.
template <executor Executor>
class built_ordered_intervals final : public ordered_intervals {
 public:
  built_ordered_intervals(backend where, const context& own, const column& lower,
                          const column& upper, const key_parts& by) {
    const std::array<ordered_column, 2> ends{{{lower}, {upper}}};
    const auto validity = validity_of_intervals<Executor>(own, lower, upper, by);
    orders_.emplace(own, where == backend::optix ? backend::cuda : where, by, ends,
                    validity.data());
    Executor::synchronise(own);
    size_ = (*orders_)[0].size();
    comparison_ = orders_->comparison();
    for (std::size_t order = 0; order < 2; ++order)
      rows_[order] = (*orders_)[order].template rows<std::uint32_t>();
  }

  found find(const context& on, const column& lower, const column& upper,
             const key_parts& by) const override {
    found made;
    made.valid = validity_of_intervals<Executor>(on, lower, upper, by);
    buffer<std::uint32_t> slots;
    const core::key_numbers keys = orders_->numbers_of(on, by, slots);
    for (std::size_t order = 0; order < 2; ++order) {
      const auto rank = [&](const column& ends) {
        buffer<std::uint64_t> ranks(on, ends.size);
        (*orders_)[order].rank(on, keys, ends, false, ranks.data());
        return ranks;
      };
      made.orders[order] = {rank(lower), rank(upper)};
    }
    return made;
  }

 private:
  std::optional<value_orders<Executor>> orders_;
};

}  // namespace raydex
