// SPDX-License-Identifier: Apache-2.0
// What the backends' interval joins have in common: all but the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "raydex/core/joins/intervals.hpp"
#include "raydex/join.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/located_index.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

template <class Key, class RowId, executor Executor>
class joined_intervals final : public joined {
 public:
  joined_intervals(const context& on, backend where, join_kind kind, std::uint64_t intervals,
                   buffer<Key> points, buffer<RowId> begins, buffer<RowId> counts,
                   const core::interval_tree<Key, RowId>& tree)
      : joined(where, kind, points.size(), intervals == 0 ? 0 : intervals - 1),
        points_(std::move(points)),
        begins_(std::move(begins)),
        counts_(std::move(counts)),
        tree_(tree),
        tiles_(on, view()) {
    this->size_ = tiles_.rows();
  }

 private:
  using found = core::contained_points<Key, RowId>;

  found view() const {
    const column codes(points_);
    return {tree_,          {cells_of(codes)}, begins_.data(),
            counts_.data(), counts_.size(),    joining_of(this->kind())};
  }

  void do_counts(const context& on, std::uint64_t* out) const override {
    Executor::for_each(on, core::write_row_counts<found>{view(), out}, this->probes());
  }
  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    with_slice(first, out, [&]<class Out>(const core::row_slice<Out>& slice) {
      Executor::for_each_in_blocks(
          on, core::write_contained_rows<Key, RowId, Out>{view(), tiles_.ends(), slice},
          tiles_.tiles());
    });
  }

  buffer<Key> points_;  // codes: the probes need not outlive it
  buffer<RowId> begins_;
  buffer<RowId> counts_;
  core::interval_tree<Key, RowId> tree_;
  row_tiles<Executor> tiles_;
};

template <class Key, class RowId, executor Executor>
class built_interval_join final : public interval_join {
 public:
  built_interval_join(backend where, const context& on, const column& lower, const column& upper)
      : interval_join(lower.format), memory_(on.memory) {
    const context own{memory_, on.stream};
    const std::uint64_t size = lower.size;
    const core::encoded_column<Key> ends{cells_of(upper)};
    {
      buffer<std::uint8_t> valid(own, (size + 7) / 8);
      Executor::for_each(
          own, core::put_interval_validity<Key>{{cells_of(lower)}, ends, size, valid.data()},
          valid.size());
      begun_ = tree_over(where, own, lower, valid.data());
      ended_ = tree_over(where, own, upper, valid.data());
    }
    const std::uint64_t entries = begun_->info().entries;
    tree_.size = entries;
    tree_.rows = static_cast<const RowId*>(located_index(*begun_).row_list(own, rows_));
    ends_ = {own, entries};
    tree_.ends = ends_.data();
    Executor::for_each(own, core::put_ordered_ends<Key, RowId>{ends, tree_.rows, ends_.data()},
                       entries);
    add_levels(own);
    Executor::synchronise(own);
    info_ = {.structure = begun_->info().structure,
             .options = begun_->info().options,
             .where = where,
             .keys = key_comparison::column,
             .keys_differ = false,
             .entries = entries,
             .resident_bytes = memory_.current()};
    intervals_ = size;
  }

 private:
  using tree = core::interval_tree<Key, RowId>;

  // Ranks need no rays.
  static std::unique_ptr<index> tree_over(backend where, const context& own, column ends,
                                          const std::uint8_t* valid) {
    ends.validity = valid;
    return build_pivot_tree(where == backend::optix ? backend::cuda : where, own, ends);
  }

  void add_levels(const context& own) {
    const std::uint64_t size = tree_.size;
    tree_.levels = tree::levels_of(size);
    std::uint64_t all = 0;
    for (unsigned level = 1; level <= tree_.levels; ++level) {
      tree_.begins[level] = all;
      all += tree::size_of(size, level);
    }
    largest_ = {own, all};
    tree_.largest = largest_.data();
    const Key* below = ends_.data();
    for (unsigned level = 1; level <= tree_.levels; ++level) {
      Key* const made = largest_.data() + tree_.begins[level];
      Executor::for_each(own, core::put_largest<Key>{below, tree::size_of(size, level - 1), made},
                         tree::size_of(size, level));
      below = made;
    }
  }

  std::unique_ptr<joined> do_match(const context& on, const column& points,
                                   join_kind kind) const override {
    buffer<Key> codes(on, points.size);
    buffer<RowId> begins(on, points.size);
    buffer<RowId> counts(on, points.size);
    Executor::for_each(on, core::put_codes<Key>{{cells_of(points)}, codes.data()}, points.size);
    for_each_slice(points.size, [&](std::uint64_t first, std::uint64_t size) {
      const probes some = raydex::points(slice(points, first, size));
      buffer<std::uint64_t> begun(on, size);
      buffer<std::uint64_t> ended(on, size);
      located_index(*begun_).rank(on, some, true, begun.data());
      located_index(*ended_).rank(on, some, false, ended.data());
      Executor::for_each(
          on,
          core::count_containing<RowId>{begun.data(), ended.data(), begins.data() + first,
                                        counts.data() + first},
          size);
    });
    return std::make_unique<joined_intervals<Key, RowId, Executor>>(
        on, info_.where, kind, intervals_, std::move(codes), std::move(begins), std::move(counts),
        tree_);
  }

  tracking_resource memory_;  // the first to come, the last to go
  std::unique_ptr<index> begun_;
  std::unique_ptr<index> ended_;
  buffer<std::byte> rows_;
  buffer<Key> ends_;
  buffer<Key> largest_;
  tree tree_{};
  std::uint64_t intervals_ = 0;
};

template <executor Executor>
std::unique_ptr<interval_join> make_interval_join(backend where, const context& on,
                                                  const column& lower, const column& upper) {
  const auto make = [&](auto key, auto row) -> std::unique_ptr<interval_join> {
    return std::make_unique<built_interval_join<decltype(key), decltype(row), Executor>>(
        where, on, lower, upper);
  };
  const bool narrow = lower.format.encoded_bits() == 32;
  if (lower.size < not_found<std::uint32_t>)
    return narrow ? make(std::uint32_t{}, std::uint32_t{}) : make(std::uint64_t{}, std::uint32_t{});
  return narrow ? make(std::uint32_t{}, std::uint64_t{}) : make(std::uint64_t{}, std::uint64_t{});
}

}  // namespace raydex
