// SPDX-License-Identifier: Apache-2.0
// What the backends' as-of joins have in common: all but the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/core/joins/asof.hpp"
#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/located_index.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

// So many build rows have no numbers of 32 bits.
[[noreturn]] void refuse_ranked_times(std::uint64_t rows);

template <executor Executor>
class built_asof_join final : public asof_join {
 public:
  built_asof_join(backend where, const context& on, const column& times, const key_parts& by,
                  const index_maker& make)
      : memory_(on.memory), times_(times), by_(by), formats_(formats_of(by)) {
    const context own{memory_, on.stream};
    where_ = where == backend::optix ? backend::cuda : where;  // neighbours need no rays
    const key_parts both = beside(by, times);
    if (by.empty()) {
      entries_ = tree_over(own, times);
    } else if (both.size() <= most_key_parts && composite_of(both, false).bits() <= 64) {
      packed_ = true;
      entries_ =
          tree_over(own, packed<Executor>(own, composite_of(both, false), times.size).view());
    } else {
      rank_times(own, make);
    }
    Executor::synchronise(own);
    const index_info& of = entries_->info();
    info_ = {.structure = of.structure,
             .options = of.options,
             .where = where,
             .keys = by.empty() ? key_comparison::column
                     : packed_  ? key_comparison::packed
                                : key_comparison::hashed,
             .keys_differ = false,
             .entries = of.entries,
             .resident_bytes = memory_.current()};
  }

 private:
  const key_format& time_format() const override { return times_.format; }
  const std::vector<std::optional<key_format>>& formats() const override { return formats_; }
  row_id_type row_ids() const override { return entries_->info().row_ids; }

  static key_parts beside(const key_parts& by, const column& times) {
    key_parts both = by;
    both.emplace_back(times);
    return both;
  }
  std::unique_ptr<index> tree_over(const context& own, const column& keys) const {
    return build_pivot_tree(where_, own, keys);
  }

  // Orders rows by the first row of their key, then by the rank of their time.
  void rank_times(const context& own, const index_maker& make) {
    if (times_.size >= not_found<std::uint32_t>) refuse_ranked_times(times_.size);
    keys_.emplace(own, by_, join_options{}, make);
    ranked_times_ = tree_over(own, times_);
    made_column made;
    made.wide = {own, times_.size};
    made.validity = {own, (times_.size + 7) / 8};
    put_ranked(own, times_, by_, false, 0, made);
    entries_ = tree_over(own, made.view());
  }

  // Writes rows of keys above ranks of times, less `before`.
  void put_ranked(const context& on, const column& times, const key_parts& by, bool past,
                  std::uint64_t before, made_column& made) const {
    buffer<std::uint32_t> firsts(on, times.size);
    buffer<std::uint64_t> ranks(on, times.size);
    keys_->template first_rows<std::uint32_t>(on, by, firsts.data());
    located_index(*ranked_times_).rank(on, points(times), past, ranks.data());
    const core::put_ranked_times<std::uint32_t> put{firsts.data(), ranks.data(), before,
                                                    made.wide.data()};
    Executor::for_each(on, put, times.size);
    Executor::for_each(
        on, core::put_ranked_validity<std::uint32_t>{put, times.size, made.validity.data()},
        made.validity.size());
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
    buffer<RowId> before;
    buffer<RowId> after;
    if (how.direction != asof_direction::forward) {
      before = {on, times.size};
      find_closest(on, times, by, true, how.which, before.data());
    }
    if (how.direction != asof_direction::backward) {
      after = {on, times.size};
      find_closest(on, times, by, false, how.which, after.data());
    }
    Executor::for_each(on,
                       core::take_closest<RowId>{{{cells_of(times)}},
                                                 {{cells_of(times_)}},
                                                 composite_of(by, false),
                                                 composite_of(by_, false),
                                                 before.data(),
                                                 after.data(),
                                                 tolerance_of(how),
                                                 out},
                       times.size);
  }

  // Writes the row before or after each probe; where its key has none, any or none.
  template <class RowId>
  void find_closest(const context& on, const column& times, const key_parts& by, bool before,
                    closeness which, RowId* rows) const {
    const located_index all(*entries_);
    if (by.empty()) return all.closest(on, points(times), before, which, rows);
    if (packed_) {
      const made_column made =
          packed<Executor>(on, composite_of(beside(by, times), false), times.size);
      return all.closest(on, points(made.view()), before, which, rows);
    }
    // Ranks of build times below that of a probe are below how many these are.
    made_column made;
    made.wide = {on, times.size};
    made.validity = {on, (times.size + 7) / 8};
    const bool past = before != (which == closeness::strict);
    put_ranked(on, times, by, past, before ? 1 : 0, made);
    all.closest(on, points(made.view()), before, closeness::or_equal, rows);
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
  bool packed_ = false;
  std::optional<key_index<Executor>> keys_;  // finds the first row of a key
  std::unique_ptr<index> ranked_times_;
  std::unique_ptr<index> entries_;  // times, beside keys
};

}  // namespace raydex
