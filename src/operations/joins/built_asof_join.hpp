// SPDX-License-Identifier: Apache-2.0
// What the backends' as-of joins have in common: all but the executor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/core/joins/asof.hpp"
#include "raydex/core/joins/key_numbers.hpp"
#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/ascending_keys.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/located_index.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/numbered_keys.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex {

// So many build rows have no numbers of 32 bits.
[[noreturn]] void refuse_ranked_times(std::uint64_t rows);

template <executor Executor>
class built_asof_join final : public asof_join {
 public:
  built_asof_join(backend where, const context& on, const column& times, const key_parts& by)
      : memory_(on.memory), times_(times), by_(by), formats_(formats_of(by)) {
    const context own{memory_, on.stream};
    where_ = where == backend::optix ? backend::cuda : where;  // neighbours need no rays
    if (by.empty()) {
      entries_ = tree_over(own, times);
      const index_info& of = entries_->info();
      info_.structure = of.structure;
      info_.options = of.options;
      info_.keys = key_comparison::column;
      info_.entries = of.entries;
    } else {
      choose_numbers(own);
      order_rows(own);
    }
    Executor::synchronise(own);
    info_.where = where;
    info_.keys_differ = false;
    info_.resident_bytes = memory_.current();
  }

 private:
  // Keys above times, as numbers of one width.
  using timed_keys = std::variant<buffer<std::uint32_t>, buffer<std::uint64_t>>;

  static column view(const timed_keys& keys, const std::uint8_t* validity = nullptr) {
    return std::visit([&](const auto& numbers) { return column(numbers, validity); }, keys);
  }

  const key_format& time_format() const override { return times_.format; }
  const std::vector<std::optional<key_format>>& formats() const override { return formats_; }
  row_id_type row_ids() const override {
    return times_.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  }

  static key_parts beside(const key_parts& by, const column& times) {
    key_parts both = by;
    both.emplace_back(times);
    return both;
  }
  std::unique_ptr<index> tree_over(const context& own, const column& keys) const {
    return build_pivot_tree(where_, own, keys);
  }
  unsigned bits() const { return numbers_->bits() + time_bits_; }
  // Whether keys are above times in 64 bits, by a shift of less than these.
  bool fits() const { return time_bits_ < 64 && bits() <= 64; }

  // Times take the bits of `span` and of three numbers more: one for what is before them, one for
  // what is behind, and ones in all bits, which no time has.
  void give_times(std::uint64_t span) {
    behind_ = span + 2;
    time_bits_ =
        span < ~std::uint64_t{0} - 3 ? static_cast<unsigned>(std::bit_width(span + 3)) : 64;
  }

  // Finds how keys fit beside times: by the spans of both; else by a table of the keys, and then
  // by ranks of the times.
  void choose_numbers(const context& own) {
    const bool strings = std::ranges::any_of(
        by_, [](const key_part& part) { return std::holds_alternative<string_column>(part); });
    const key_parts measured = beside(strings ? key_parts{} : by_, times_);
    const auto spans = spans_of<Executor>(own, composite_of(measured, false), times_.size);
    const core::code_span& times = spans.back();
    ascend_ = times_.validity == nullptr && times.descends == 0;
    if (times.any()) first_ = times.first();
    give_times(times.any() ? times.size() : 0);
    if (!strings) numbers_.emplace(by_, spans);
    if (!strings && fits()) return;
    if (times_.size >= not_found<std::uint32_t>) refuse_ranked_times(times_.size);
    numbers_.emplace(own, by_);
    if (fits()) return;
    ranked_times_ = tree_over(own, times_);
    give_times(times_.size);
  }

  // Orders the rows by the numbers of their keys, then by time. Where times ascend, the numbers
  // alone have to be sorted.
  void order_rows(const context& own) {
    buffer<std::uint32_t> slots;
    buffer<std::uint64_t> ranks;
    const core::key_numbers keys = numbers_->own(slots);
    const timed_keys timed =
        put(own, keys, time_numbers(own, times_, false, false, ranks), times_.size);
    const auto validity =
        validity_of<Executor>(own, composite_of(beside(by_, times_), false), times_.size);
    ranks = {};
    slots = {};
    const entry_order order{.bits = {.first = ascend_ ? static_cast<int>(time_bits_) : 0,
                                     .last = static_cast<int>(bits())}};
    const column given = view(timed, validity.data());
    dispatch(given.format, row_ids(), [&]<class Key, class RowId>() {
      auto sorted = Executor::template sort_column<Key, RowId>(own, given, std::nullopt, order);
      info_.entries = sorted.keys.size();
      rows_ = std::move(sorted.row_ids);
      ordered_ = operation_on(where_, &operation_table::hold_ascending)(own, column(sorted.keys));
    });
    info_.structure = "pivot_tree";
    info_.keys = numbers_->by_table() ? key_comparison::hashed : key_comparison::packed;
  }

  // The numbers of times, or of ranks among the build side's, which lie in `ranks`. The one of a
  // rank is the rank of the last build time that is before a probe, if that is asked for; else it
  // is that of the next one.
  core::time_numbers time_numbers(const context& on, const column& times, bool past, bool before,
                                  buffer<std::uint64_t>& ranks) const {
    core::time_numbers all{key_cells_of(times), first_, behind_, time_bits_};
    if (!ranked_times_) return all;
    ranks = {on, times.size};
    located_index(*ranked_times_).rank(on, points(times), past, ranks.data());
    all.times = key_cells_of(column(ranks, times.validity));
    all.first = before ? 1 : 0;
    return all;
  }

  timed_keys put(const context& on, const core::key_numbers& keys, const core::time_numbers& times,
                 std::uint64_t size) const {
    buffer<std::uint32_t> narrow;
    buffer<std::uint64_t> wide;
    if (bits() <= 32) {
      narrow = {on, size};
    } else {
      wide = {on, size};
    }
    Executor::for_each(on, core::put_timed_keys{keys, times, narrow.data(), wide.data()}, size);
    return bits() <= 32 ? timed_keys(std::move(narrow)) : timed_keys(std::move(wide));
  }

  void do_match(const context& on, const column& times, const key_parts& by,
                const asof_options& how, void* out) const override {
    with_row_id(row_ids(), [&](auto zero) {
      for_each_slice(times.size, [&](std::uint64_t first, std::uint64_t size) {
        match(on, slice(times, first, size), slice(by, first, size), how,
              static_cast<decltype(zero)*>(out) + first);
      });
    });
  }

  template <class RowId>
  void match(const context& on, const column& times, const key_parts& by, const asof_options& how,
             RowId* out) const {
    core::take_closest<RowId> take{.probe_times = {{cells_of(times)}},
                                   .build_times = {{cells_of(times_)}},
                                   .build = {},
                                   .sides = {},
                                   .size = times.size,
                                   .tolerance = tolerance_of(how),
                                   .out = out};
    buffer<RowId> rows[2];
    buffer<std::uint64_t> ranks[2];
    timed_keys timed;
    core::key_numbers keys;
    buffer<std::uint32_t> slots;
    if (!by.empty()) keys = numbers_->of(on, by, slots);
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
      bool past = before != (how.which == closeness::strict);
      buffer<std::uint64_t> time_ranks;
      if (ranked_times_ || take.sides[0].ranks == nullptr)
        timed = put(on, keys, time_numbers(on, times, past, before, time_ranks), times.size);
      if (ranked_times_) past = before;  // strictly or not, they are that of the row asked for
      ranks[s] = {on, times.size};
      ordered_->rank(on, view(timed), past, ranks[s].data());
      side.ranks = ranks[s].data();
    }
    if (!by.empty()) take.build = ordered_rows<RowId>(timed);
    Executor::for_each(on, take, times.size);
  }

  // The build rows in order, for these numbers of probes.
  template <class RowId>
  core::timed_rows<RowId> ordered_rows(const timed_keys& probes) const {
    return {.keys = ordered_->codes(),
            .probes = view(probes).data,
            .wide = std::holds_alternative<buffer<std::uint64_t>>(probes),
            .time_bits = time_bits_,
            .size = info_.entries,
            .rows = std::get<buffer<RowId>>(rows_).data()};
  }

  std::uint64_t tolerance_of(const asof_options& how) const {
    if (!how.tolerance) return ~std::uint64_t{0};
    const key_type type = times_.format.type;
    if (type == key_type::float32) return encode(double{static_cast<float>(how.tolerance->real())});
    return type == key_type::float64 ? encode(how.tolerance->real()) : how.tolerance->whole();
  }

  tracking_resource memory_;  // the first to come, the last to go
  backend where_;
  column times_;
  key_parts by_;
  std::vector<std::optional<key_format>> formats_;
  std::unique_ptr<index> entries_;  // over times; without keys

  // With keys:
  std::optional<numbered_keys<Executor>> numbers_;
  bool ascend_ = false;                      // whether times do as they are given
  std::uint64_t first_ = 0;                  // the code of the smallest time
  std::uint64_t behind_ = 0;                 // see `core::time_numbers`
  unsigned time_bits_ = 0;                   // likewise
  std::unique_ptr<index> ranked_times_;      // if ranks stand in the place of times
  std::unique_ptr<ascending_keys> ordered_;  // above times, of all rows
  std::variant<buffer<std::uint32_t>, buffer<std::uint64_t>> rows_;  // in this order
};

}  // namespace raydex
