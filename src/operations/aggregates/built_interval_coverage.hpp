// SPDX-License-Identifier: Apache-2.0
// What the backends' coverages have in common: all but the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/joins/interval_reach.hpp"
#include "raydex/interval_coverage.hpp"
#include "src/interface/builders.hpp"
#include "src/operations/aggregates/ranked_values.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

// Of fewer than 2^31 rows.
template <executor Executor>
class built_interval_coverage final : public interval_coverage {
 public:
  built_interval_coverage(backend where, const context& on, const column& lower,
                          const column& upper, const key_parts& by)
      : interval_coverage(lower.format, formats_of(by)), memory_(on.memory) {
    const context own{memory_, on.stream};
    order_ = operation_on(where, &operation_table::order_intervals)(where, own, lower, upper, by);
    const auto sums_of = [&](const column& ends, bool by_upper, std::optional<ranked>& sums) {
      column present = ends;
      present.validity = nullptr;  // rows without an end are not in the order
      sums.emplace(own, where, static_cast<const std::uint32_t*>(order_->rows(by_upper)),
                   order_->size(), present, typename ranked::parts{true, false, false});
    };
    sums_of(lower, false, begins_);
    sums_of(upper, true, stops_);
    Executor::synchronise(own);
    info_ = info_by_order(where, order_->comparison(), order_->size(), memory_.current());
  }

 private:
  using ranked = ranked_values<std::uint32_t, Executor>;

  void do_match(const context& on, const column& lower, const column& upper, const key_parts& by,
                std::uint64_t* out) const override {
    for_each_slice(lower.size, [&](std::uint64_t first, std::uint64_t size) {
      const column begins = slice(lower, first, size);
      const column stops = slice(upper, first, size);
      const auto found = order_->find(on, begins, stops, slice(by, first, size));
      const auto ends_of = [](const ordered_intervals::end_ranks& ranks, const ranked& ends) {
        return core::put_coverage::ends{ranks.of_lower.data(), ranks.of_upper.data(),
                                        ends.whole_sums(), ends.upper_halves()};
      };
      Executor::for_each(on,
                         core::put_coverage{.lower = {cells_of(begins)},
                                            .upper = {cells_of(stops)},
                                            .valid = found.valid.data(),
                                            .begins = ends_of(found.orders[0], *begins_),
                                            .stops = ends_of(found.orders[1], *stops_),
                                            .size = order_->size(),
                                            .out = out + first},
                         size);
    });
  }

  tracking_resource memory_;  // the first to come, the last to go
  std::unique_ptr<ordered_intervals> order_;
  std::optional<ranked> begins_;
  std::optional<ranked> stops_;
};

}  // namespace raydex
