// SPDX-License-Identifier: Apache-2.0
// What the backends' as-of joins have in common: all but the executor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/core/joins/asof.hpp"
#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/located_index.hpp"
#include "src/operations/joins/asof_walk.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <executor Executor>
class built_asof_join final : public asof_join {
 public:
  built_asof_join(backend where, const context& on, const column& times, const key_parts& by)
      : memory_(on.memory),
        own_{memory_, on.stream},
        // Neighbours need no rays.
        where_(where == backend::optix ? backend::cuda : where),
        times_(times),
        by_(by),
        formats_(formats_of(by)) {
    if (!by_.empty()) {
      const ordered_column timed{times_};
      // Of keys that are few and far between, the numbers of a table are walked by.
      const bool walks = Executor::walks_along && are_plain_times(times_);
      orders_.emplace(own_, by_, std::span(&timed, 1), walks ? walked_key_bits(times_.size) : 64);
    }
    if constexpr (Executor::walks_along) walks_ = can_walk();
    info_.structure = "pivot_tree";
    info_.keys = orders_ ? orders_->comparison() : key_comparison::column;
    info_.entries = times.size;
    if (!walks_) {
      order_rows();
      if (orders_) orders_->drop_own_keys();
      if (entries_) info_.options = entries_->info().options;
      info_.entries = entries_ ? entries_->info().entries : order().size();
    }
    Executor::synchronise(own_);
    info_.where = where;
    info_.keys_differ = false;
    info_.resident_bytes = memory_.current();
  }

 private:
  const key_format& time_format() const override { return times_.format; }
  const std::vector<std::optional<key_format>>& formats() const override { return formats_; }
  row_id_type row_ids() const override { return row_ids_of(times_.size); }

  bool can_walk() const {
    if (!are_plain_times(times_)) return false;
    if (!orders_) return do_ascend<Executor>(own_, times_);
    const auto is_complete = [](const key_part& part) {
      return std::visit([](const auto& cells) { return cells.validity == nullptr; }, part);
    };
    return orders_->ascends(0) && orders_->keys().bits() <= walked_key_bits(times_.size) &&
           std::ranges::all_of(by_, is_complete);
  }

  void order_rows() const {
    if (!orders_) {
      entries_ = build_pivot_tree(where_, own_, times_);
    } else {
      const ordered_column times{times_};
      const auto validity = validity_beside<Executor>(own_, times_, nullptr, by_);
      orders_->order(own_, where_, std::span(&times, 1), validity.data());
    }
    is_ordered_ = true;
  }
  const value_order<Executor>& order() const { return (*orders_)[0]; }

  void do_match(const context& on, const column& times, const key_parts& by,
                const asof_options& how, void* out) const override {
    if constexpr (Executor::walks_along) {
      if (walks_) {
        if (is_walked(on, times)) return walk(on, times, by, how, static_cast<std::uint32_t*>(out));
        const std::lock_guard lock(changes_);
        if (!is_ordered_) {
          order_rows();
          Executor::synchronise(own_);
        }
      }
    }
    with_row_id(row_ids(), [&](auto zero) {
      for_each_slice(times.size, [&](std::uint64_t first, std::uint64_t size) {
        match(on, slice(times, first, size), slice(by, first, size), how,
              static_cast<decltype(zero)*>(out) + first);
      });
    });
  }

  // Few probes are walked to only a few times: an order soon costs less than all build rows do.
  bool is_walked(const context& on, const column& times) const {
    constexpr std::uint64_t few = 16;
    constexpr unsigned most = 8;
    return are_plain_times(times) && do_ascend<Executor>(on, times) &&
           (!orders_ || times.size >= times_.size / few || walks_to_few_++ < most);
  }

  void walk(const context& on, const column& times, const key_parts& by, const asof_options& how,
            std::uint32_t* out) const {
    walked_by keys;
    buffer<std::uint32_t> slots;
    if (orders_)
      keys = {orders_->keys().own(), orders_->numbers_of(on, by, slots), orders_->keys().bits()};
    core::take_closest<std::uint32_t> take = closest_of<std::uint32_t>(times, how, out);
    const bool both = how.direction == asof_direction::nearest;
    buffer<std::uint32_t> after(on, both ? times.size : 0);
    for (const unsigned s : {0U, 1U}) {
      const bool before = s == 0;
      if (how.direction == (before ? asof_direction::forward : asof_direction::backward)) continue;
      std::uint32_t* const rows = both && !before ? after.data() : out;
      walk_along<Executor>(on,
                           {.build = &times_,
                            .probe = &times,
                            .before = before,
                            .strict = how.which == closeness::strict},
                           orders_ ? &keys : nullptr, rows);
      take.sides[s].rows = rows;
    }
    if (both || how.tolerance) Executor::for_each(on, take, times.size);
  }

  template <class RowId>
  core::take_closest<RowId> closest_of(const column& times, const asof_options& how,
                                       RowId* out) const {
    return {.probe_times = {{cells_of(times)}},
            .build_times = {{cells_of(times_)}},
            .build = {},
            .sides = {},
            .size = times.size,
            .tolerance = tolerance_of(how),
            .out = out};
  }

  template <class RowId>
  void match(const context& on, const column& times, const key_parts& by, const asof_options& how,
             RowId* out) const {
    core::take_closest<RowId> take = closest_of(times, how, out);
    buffer<RowId> rows[2];
    buffer<std::uint64_t> ranks[2];
    keyed_numbers timed;
    core::key_numbers keys;
    buffer<std::uint32_t> slots;
    if (orders_) keys = orders_->numbers_of(on, by, slots);
    for (const unsigned s : {0U, 1U}) {
      const bool before = s == 0;
      if (how.direction == (before ? asof_direction::forward : asof_direction::backward)) continue;
      auto& side = take.sides[s];
      side.before = before;
      if (by.empty()) {
        rows[s] = {on, times.size};
        located_index(*entries_).closest(on, points(times), before, how.which, rows[s].data());
        side.rows = rows[s].data();
        continue;
      }
      const bool past = before != (how.which == closeness::strict);
      if (order().is_ranked() || take.sides[0].ranks == nullptr)
        timed = order().numbers_of(on, keys, times, past);
      ranks[s] = {on, times.size};
      order().rank(on, timed, past, ranks[s].data());
      side.ranks = ranks[s].data();
    }
    if (!by.empty()) take.build = ordered_rows<RowId>(timed);
    Executor::for_each(on, take, times.size);
  }

  // The build rows in order, for these numbers of probes.
  template <class RowId>
  core::timed_rows<RowId> ordered_rows(const keyed_numbers& probes) const {
    return {.keys = order().numbers(),
            .probes = column_of(probes).data,
            .wide = std::holds_alternative<buffer<std::uint64_t>>(probes),
            .time_bits = order().value_bits(),
            .size = info_.entries,
            .rows = order().template rows<RowId>()};
  }

  std::uint64_t tolerance_of(const asof_options& how) const {
    if (!how.tolerance) return ~std::uint64_t{0};
    const key_type type = times_.format.type;
    if (type == key_type::float32) return encode(double{static_cast<float>(how.tolerance->real())});
    return type == key_type::float64 ? encode(how.tolerance->real()) : how.tolerance->whole();
  }

  tracking_resource memory_;  // the first to come, the last to go
  context own_;
  backend where_;
  column times_;
  key_parts by_;
  std::vector<std::optional<key_format>> formats_;
  bool walks_ = false;  // whether the rows need no order for probes that ascend
  mutable std::atomic<unsigned> walks_to_few_ = 0;
  // If rows may be walked, their order is made when it is first needed.
  mutable std::mutex changes_;
  mutable bool is_ordered_ = false;
  mutable std::unique_ptr<index> entries_;                // over times; without keys
  mutable std::optional<value_orders<Executor>> orders_;  // of times; with keys
};

}  // namespace raydex
