// SPDX-License-Identifier: Apache-2.0
// What the backends' orders of times have in common: all but the executor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "raydex/core/joins/dominance.hpp"
#include "src/interface/ordered_times.hpp"
#include "src/operations/joins/near_values.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_ordered_times final : public ordered_times {
 public:
  built_ordered_times(backend where, const context& own, const column& times, const key_parts& by,
                      const column* values) {
    const ordered_column one{times};
    const auto validity = validity_beside<Executor>(own, times, values, by);
    orders_.emplace(own, where == backend::optix ? backend::cuda : where, by, std::span(&one, 1),
                    validity.data());
    Executor::synchronise(own);
    size_ = order().size();
    comparison_ = orders_->comparison();
    rows_ = order().template rows<RowId>();
  }

  void find(const context& on, const column& times, const key_parts& by, const time_window& window,
            void* begins, void* counts) const override {
    const key_reach before{window.before, window.closed == closed_ends::right ||
                                              window.closed == closed_ends::neither};
    const key_reach after{
        window.after, window.closed == closed_ends::left || window.closed == closed_ends::neither};
    const auto validity = validity_beside<Executor>(on, times, nullptr, by);
    buffer<std::uint64_t> most(on, 1);
    Executor::clear(on, most.data());
    for_each_slice(times.size, [&](std::uint64_t first, std::uint64_t size) {
      buffer<std::uint32_t> slots;
      const core::key_numbers keys = orders_->numbers_of(on, slice(by, first, size), slots);
      buffer<std::uint64_t> begin(on, size);
      buffer<std::uint64_t> end(on, size);
      rank_near(on, order(), keys, slice(times, first, size), before, after, begin.data(),
                end.data());
      Executor::for_each(on,
                         core::count_dominated<RowId>{
                             .end = end.data(),
                             .least = begin.data(),
                             .valid = validity.size() == 0 ? nullptr : validity.data() + first / 8,
                             .size = size_,
                             .matrix = {},
                             .rows = nullptr,
                             .leasts = static_cast<RowId*>(begins) + first,
                             .counts = static_cast<RowId*>(counts) + first,
                             .most = most.data()},
                         size);
    });
  }

 private:
  const value_order<Executor>& order() const { return (*orders_)[0]; }

  std::optional<value_orders<Executor>> orders_;
};

}  // namespace raydex
