// SPDX-License-Identifier: Apache-2.0
// What the backends' orders of times have in common: all but the executor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "raydex/core/joins/dominance.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_ordered_times final : public ordered_times {
 public:
  built_ordered_times(backend where, const context& own, const column& times, const key_parts& by,
                      const column* values)
      : build_rows_(times.size) {
    const ordered_column one{times};
    const auto validity = validity_beside<Executor>(own, times, values, by);
    orders_.emplace(own, where == backend::optix ? backend::cuda : where, by, std::span(&one, 1),
                    validity.data());
    Executor::synchronise(own);
    size_ = order().size();
    comparison_ = orders_->comparison();
    rows_ = order().template rows<RowId>();
  }

  void find(const context& on, const probes& batch, const key_parts& by, const time_window& window,
            void* begins, void* counts) const override {
    const auto [before, after] = reaches_of(window);
    const auto validity =
        validity_beside<Executor>(on, batch.lower, batch.is_points ? nullptr : &batch.upper, by);
    for_each_slice(batch.size(), [&, before = before, after = after](std::uint64_t first,
                                                                     std::uint64_t size) {
      buffer<std::uint32_t> slots;
      const core::key_numbers keys = orders_->numbers_of(on, slice(by, first, size), slots);
      buffer<std::uint64_t> begin(on, size);
      buffer<std::uint64_t> end(on, size);
      const column lower = slice(batch.lower, first, size);
      if (batch.is_points) {
        rank_near(on, order(), keys, lower, before, after, begin.data(), end.data());
      } else {
        order().rank(on, keys, lower, false, begin.data());
        order().rank(on, keys, slice(batch.upper, first, size), true, end.data());
      }
      Executor::for_each(on,
                         core::count_dominated<RowId>{
                             .end = end.data(),
                             .least = begin.data(),
                             .valid = validity.size() == 0 ? nullptr : validity.data() + first / 8,
                             .size = size_,
                             .matrix = {},
                             .first = false,
                             .rows = nullptr,
                             .leasts = static_cast<RowId*>(begins) + first,
                             .counts = static_cast<RowId*>(counts) + first,
                             .most = nullptr},
                         size);
    });
  }

  bool find_own(const context& on, const time_window& window, void* begins,
                void* counts) const override {
    if constexpr (sizeof(RowId) == 4) {
      if (size_ != build_rows_ || !order().keeps_distances()) return false;
      const auto [before, after] = reaches_of(window);
      order().find_near_own(on, before, after, static_cast<RowId*>(begins),
                            static_cast<RowId*>(counts));
      return true;
    }
    return false;
  }

 private:
  static std::pair<key_reach, key_reach> reaches_of(const time_window& window) {
    const closed_ends closed = window.closed;
    return {{window.before, closed == closed_ends::right || closed == closed_ends::neither},
            {window.after, closed == closed_ends::left || closed == closed_ends::neither}};
  }
  const value_order<Executor>& order() const { return (*orders_)[0]; }

  std::uint64_t build_rows_;
  std::optional<value_orders<Executor>> orders_;
};

}  // namespace raydex
