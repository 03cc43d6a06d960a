// SPDX-License-Identifier: Apache-2.0
// What the backends' joins with nearest intervals have in common: all but the executor.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/joins/interval_reach.hpp"
#include "raydex/nearest_join.hpp"
#include "src/operations/joins/dominance.hpp"
#include "src/operations/joins/interval_validity.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <class RowId, executor Executor>
class built_nearest_join final : public nearest_join {
 public:
  built_nearest_join(backend where, const context& on, const column& lower, const column& upper,
                     const key_parts& by)
      : nearest_join(lower.format, row_ids_of(lower.size), formats_of(by)),
        memory_(on.memory),
        own_{memory_, on.stream},
        lower_(lower),
        upper_(upper) {
    {
      const std::array<ordered_column, 3> ends{{{lower}, {upper}, {upper, true}}};
      const auto validity = validity_of_intervals<Executor>(own_, lower, upper, by);
      orders_.emplace(own_, where == backend::optix ? backend::cuda : where, by, ends,
                      validity.data());
    }
    overlaps_.emplace(own_, order(by_lower), order(by_upper), lower.size);
    Executor::synchronise(own_);
    info_ = info_by_order(where, orders_->comparison(), order(by_lower).size(), memory_.current());
  }

 private:
  static constexpr std::size_t by_lower = 0;  // the order of lower ends
  static constexpr std::size_t by_upper = 1;  // of upper ends
  static constexpr std::size_t by_last = 2;   // of these, the largest one first

  const value_order<Executor>& order(std::size_t which) const { return (*orders_)[which]; }

  void do_match(const context& on, const column& lower, const column& upper, const key_parts& by,
                const nearest_options& how, void* rows, void* distances) const override {
    take(on, lower, upper, by, how, [&](std::uint64_t first, core::take_nearest<RowId>& each) {
      each.rows = static_cast<RowId*>(rows) + first * how.count;
      if (distances != nullptr)
        each.distances = static_cast<std::uint64_t*>(distances) + first * how.count;
    });
  }

  std::unique_ptr<joined> do_match_ties(const context& on, const column& lower, const column& upper,
                                        const key_parts& by, const nearest_options& how,
                                        join_kind kind) const override {
    const std::uint64_t width = lower.format.width;
    buffer<std::byte> reach_lower(on, lower.size * width);
    buffer<std::byte> reach_upper(on, lower.size * width);
    const auto validity =
        take(on, lower, upper, by, how, [&](std::uint64_t first, core::take_nearest<RowId>& each) {
          each.reach_lower = reach_lower.data() + first * width;
          each.reach_upper = reach_upper.data() + first * width;
        });
    // All that is no farther away overlaps what reaches as far.
    const column from(lower.format, reach_lower.data(), lower.size);
    const column to(upper.format, reach_upper.data(), upper.size);
    return match_dominated<RowId>(
        on, own_, info_.where, kind, lower_.size, *orders_, by, *overlaps_,
        {by_lower, {&to, true}, by_upper, {&from, false}, true, true}, validity.data());
  }

  // Has a kernel take the nearest ones of slices of probes, once `complete(first, kernel)` has told
  // it what to write; returns which probes are valid.
  template <class Complete>
  buffer<std::uint8_t> take(const context& on, const column& lower, const column& upper,
                            const key_parts& by, const nearest_options& how,
                            const Complete& complete) const {
    auto validity = validity_of_intervals<Executor>(on, lower, upper, by);
    core::wavelet_matrix<RowId> matrix;
    if (how.overlaps) matrix = overlaps_->matrix(own_);
    for_each_slice(lower.size, [&](std::uint64_t first, std::uint64_t size) {
      const column from = slice(lower, first, size);
      const column to = slice(upper, first, size);
      buffer<std::uint32_t> slots;
      const core::key_numbers keys = orders_->numbers_of(on, slice(by, first, size), slots);
      const auto rank = [&](std::size_t which, const column& ends, bool past) {
        buffer<std::uint64_t> ranks(on, size);
        order(which).rank(on, keys, ends, past, ranks.data());
        return ranks;
      };
      const auto begun = rank(by_lower, to, true);
      const auto ended = rank(by_last, from, true);
      const auto least = rank(by_upper, from, false);
      buffer<std::uint64_t> key_end;
      if (orders_->has_keys()) {
        key_end = {on, size};
        order(by_lower).rank_of_keys(on, keys, size, true, key_end.data());
      }
      core::take_nearest<RowId> each{.probes = {{{cells_of(from)}}, {{cells_of(to)}}},
                                     .builds = {{{cells_of(lower_)}}, {{cells_of(upper_)}}},
                                     .valid = validity.data() + first / 8,
                                     .size = order(by_lower).size(),
                                     .by_lower = order(by_lower).template rows<RowId>(),
                                     .by_upper = order(by_last).template rows<RowId>(),
                                     .begun = begun.data(),
                                     .ended = ended.data(),
                                     .key_end = key_end.data(),
                                     .least = least.data(),
                                     .matrix = matrix,
                                     .before = how.before,
                                     .after = how.after,
                                     .count = how.count,
                                     .rows = nullptr,
                                     .distances = nullptr,
                                     .reach_lower = nullptr,
                                     .reach_upper = nullptr};
      complete(first, each);
      Executor::for_each(on, each, size);
    });
    return validity;
  }

  tracking_resource memory_;  // the first to come, the last to go
  context own_;
  column lower_;
  column upper_;
  std::optional<value_orders<Executor>> orders_;
  std::optional<dominance<RowId, Executor>> overlaps_;
};

}  // namespace raydex
