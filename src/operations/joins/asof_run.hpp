// SPDX-License-Identifier: Apache-2.0
// Rows of the build side of an as-of join in the order of keys and times, and those near probes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <variant>

#include "raydex/core/joins/asof.hpp"
#include "raydex/join.hpp"
#include "src/operations/joins/asof_walk.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <executor Executor>
class asof_run {
 public:
  // Of these rows; `by` outlives it, and so do the times if it `may_walk`. Waits for the stream.
  asof_run(const context& own, backend where, const column& times, const key_parts& by,
           bool missing_equal, bool may_walk)
      : own_(own), where_(where), times_(times), by_(by), missing_equal_(missing_equal) {
    const ordered_column timed{times_};
    const bool walks =
        Executor::walks_along && may_walk && !missing_equal && are_plain_times(times_);
    // Of keys that are few and far between, the numbers of a table are walked by.
    orders_.emplace(own_, by_, missing_equal_, std::span(&timed, 1),
                    walks ? walked_key_bits(times_.size) : 64);
    if constexpr (Executor::walks_along) walks_ = walks && can_walk();
    if (walks_) return;
    order_rows();
    orders_->drop_own_keys();
  }

  // How many rows have a time and a key.
  std::uint64_t entries() const { return walks_ ? times_.size : order().size(); }
  key_comparison comparison() const { return orders_->comparison(); }

  // Whether the rows near these times are found by a walk along both columns, without an order. Few
  // probes are walked to only a few times: an order soon costs less than all build rows do.
  bool is_walked(const context& on, const column& times) const {
    constexpr std::uint64_t few = 16;
    constexpr unsigned most = 8;
    return walks_ && are_plain_times(times) && do_ascend<Executor>(on, times) &&
           (by_.empty() || times.size >= times_.size / few || walks_to_few_++ < most);
  }

  // Has `take` take the row near these times by such a walk; it has all but its lists.
  void walk(const context& on, const column& times, const key_parts& by, const asof_options& how,
            core::take_closest<std::uint32_t> take) const {
    walked_by keys;
    buffer<std::uint32_t> slots;
    if (!by_.empty())
      keys = {orders_->keys().own(), orders_->numbers_of(on, by, slots), orders_->keys().bits()};
    const bool both = how.direction == asof_direction::nearest;
    buffer<std::uint32_t> after(on, both ? times.size : 0);
    for (const unsigned s : {0U, 1U}) {
      const bool before = s == 0;
      if (how.direction == (before ? asof_direction::forward : asof_direction::backward)) continue;
      std::uint32_t* const rows = both && !before ? after.data() : take.out;
      walk_along<Executor>(on,
                           {.build = &times_,
                            .probe = &times,
                            .before = before,
                            .strict = how.which == closeness::strict},
                           by_.empty() ? nullptr : &keys, rows);
      take.lists[s].rows = rows;
    }
    if (both || take.counts != nullptr || !take.near.takes_any())
      Executor::for_each(on, take, times.size);
  }

  // Has `take` take the rows near these times, which has all but its lists and `build`.
  template <class RowId>
  void match(const context& on, const column& times, const key_parts& by, const asof_options& how,
             core::take_closest<RowId> take) const {
    if (walks_) order_if_needed();
    const bool is_nearest = how.direction == asof_direction::nearest;
    buffer<std::uint32_t> slots;
    const core::key_numbers keys = orders_->numbers_of(on, by, slots);
    keyed_numbers timed;
    bool is_timed = false;
    buffer<std::uint64_t> ranks[2];
    for (const unsigned s : {0U, 1U}) {
      const bool before = s == 0;
      if (how.direction == (before ? asof_direction::forward : asof_direction::backward)) continue;
      // Of rows before and after a probe, those of its time are before it.
      const bool strict = how.which == closeness::strict || (is_nearest && !before);
      const bool past = before != strict;
      take.lists[s].before = before;
      if (is_nearest && !before && how.which == closeness::or_equal) {
        take.lists[1].ranks = take.lists[0].ranks;
        continue;
      }
      ranks[s] = {on, times.size};
      if (!orders_->has_keys()) {
        order().rank(on, keys, times, past, ranks[s].data());
      } else {
        if (order().is_ranked() || !is_timed) timed = order().numbers_of(on, keys, times, past);
        is_timed = true;
        order().rank(on, timed, past, ranks[s].data());
      }
      take.lists[s].ranks = ranks[s].data();
    }
    take.build.size = order().size();
    take.build.rows = order().template rows<RowId>();
    if (orders_->has_keys()) {
      take.build.keys = order().numbers();
      take.build.probes = column_of(timed).data;
      take.build.wide = std::holds_alternative<buffer<std::uint64_t>>(timed);
      take.build.time_bits = order().value_bits();
    }
    Executor::for_each(on, take, times.size);
  }

 private:
  const value_order<Executor>& order() const { return (*orders_)[0]; }

  bool can_walk() const {
    if (by_.empty()) return do_ascend<Executor>(own_, times_);
    const auto is_complete = [](const key_part& part) {
      return std::visit([](const auto& cells) { return cells.validity == nullptr; }, part);
    };
    return orders_->ascends(0) && orders_->keys().bits() <= walked_key_bits(times_.size) &&
           std::ranges::all_of(by_, is_complete);
  }

  void order_rows() const {
    const ordered_column timed{times_};
    const auto validity = validity_beside<Executor>(own_, times_, nullptr, by_, missing_equal_);
    orders_->order(own_, where_, std::span(&timed, 1), validity.data());
    is_ordered_ = true;
  }
  void order_if_needed() const {
    const std::lock_guard lock(changes_);
    if (is_ordered_) return;
    order_rows();
    Executor::synchronise(own_);
  }

  context own_;
  backend where_;
  column times_;
  key_parts by_;
  bool missing_equal_;
  bool walks_ = false;  // whether the rows need no order for probes that ascend
  mutable std::atomic<unsigned> walks_to_few_ = 0;
  // If rows may be walked, their order is made when it is first needed.
  mutable std::mutex changes_;
  mutable bool is_ordered_ = false;
  mutable std::optional<value_orders<Executor>> orders_;  // of times
};

}  // namespace raydex
