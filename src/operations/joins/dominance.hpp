// SPDX-License-Identifier: Apache-2.0
// Rows in two orders, what leads from one to the other, and what probes found in both.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "raydex/core/joins/dominance.hpp"
#include "raydex/join.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

template <class RowId, executor Executor>
class dominance {
 public:
  // Of the rows of an order, by their ranks in another one of the same rows, of a table of so many.
  dominance(const context& own, const value_order<Executor>& places,
            const value_order<Executor>& ranks, std::uint64_t table_rows)
      : ranks_(own, in_blocks(places.size()) + further),
        rows_by_rank_(ranks.template rows<RowId>()),
        table_rows_(table_rows) {
    const auto* const rows = places.template rows<RowId>();
    tree_.rows = rows;
    tree_.size = places.size();
    {
      buffer<RowId> rank_of_row(own, table_rows);
      Executor::for_each(own, core::put_permuted<RowId>{rows_by_rank_, nullptr, rank_of_row.data()},
                         tree_.size);
      Executor::for_each(own, core::put_permuted<RowId>{rows, rank_of_row.data(), ranks_.data()},
                         tree_.size);
    }
    tree_.ranks = ranks_.data();
    largest_ = add_levels(own, tree_);
  }

  const core::rank_tree<RowId>& tree() const { return tree_; }

  // Is built when it is first needed, with `own`, which is that of the build. Waits for its
  // stream then. Of no rows there is none, and nothing is counted.
  const core::wavelet_matrix<RowId>& matrix(const context& own) const {
    const std::lock_guard lock(changes_);
    if (matrix_.words == nullptr && tree_.size != 0) build_matrix(own);
    return matrix_;
  }
  // Likewise; wide row ids have none.
  const core::rank_lists<RowId>& lists(const context& own) const {
    const std::lock_guard lock(changes_);
    if constexpr (sizeof(RowId) == 4) {
      if (lists_.places == nullptr && tree_.size != 0) build_lists(own);
    }
    return lists_;
  }

 private:
  using tree_type = core::rank_tree<RowId>;
  using matrix_type = core::wavelet_matrix<RowId>;

  // Entries that are read behind the last one, beside those of its block.
  static constexpr std::uint64_t further = 32;

  static std::uint64_t in_blocks(std::uint64_t entries) {
    constexpr std::uint64_t most = 32;  // that are read together
    return (entries + most - 1) / most * most;
  }

  // Makes the levels above `tree.size` ranks.
  static buffer<RowId> add_levels(const context& own, tree_type& tree) {
    tree.levels = tree_type::levels_of(tree.size);
    std::uint64_t all = 0;
    for (unsigned level = 1; level <= tree.levels; ++level) {
      tree.begins[level] = all;
      all += in_blocks(tree_type::size_of(tree.size, level));
    }
    buffer<RowId> largest(own, all);
    tree.largest = largest.data();
    const RowId* below = tree.ranks;
    for (unsigned level = 1; level <= tree.levels; ++level) {
      RowId* const made = largest.data() + tree.begins[level];
      Executor::for_each(
          own, core::put_largest<RowId>{below, tree_type::size_of(tree.size, level - 1), made},
          tree_type::size_of(tree.size, level));
      below = made;
    }
    return largest;
  }

  void build_lists(const context& own) const {
    constexpr std::uint64_t spacing = core::rank_lists<RowId>::spacing;
    const std::uint64_t size = tree_.size;
    const std::uint64_t lists = (size + spacing - 1) / spacing;
    buffer<RowId> places(own, lists);
    buffer<RowId> leasts(own, lists);
    buffer<RowId> counts(own, lists);
    buffer<std::uint64_t> ends(own, lists);
    {
      buffer<RowId> place_of_rank(own, size);
      Executor::for_each(own, core::put_permuted<RowId>{tree_.ranks, nullptr, place_of_rank.data()},
                         size);
      tree_type by_rank{};
      by_rank.ranks = place_of_rank.data();
      by_rank.size = size;
      const auto largest = add_levels(own, by_rank);
      Executor::for_each(own,
                         core::measure_lists<RowId>{by_rank, places.data(), leasts.data(),
                                                    counts.data(), ends.data()},
                         lists);
      Executor::inclusive_sum(own, ends.data(), lists);
    }
    const core::dominating_probes<RowId> probes{
        {leasts.data(), counts.data(), nullptr, lists, core::joining::matches}, tree_, {}, {}};
    const row_tiles<Executor> tiles(own, probes.found);
    const std::uint64_t rows = tiles.rows();
    buffer<RowId> numbers(own, rows);
    buffer<RowId> listed_ranks(own, rows + further);
    buffer<RowId> listed_rows(own, rows);
    if (rows != 0) {
      tiles.template write<core::dominated_writer<RowId, RowId>>(
          own, probes, core::row_slice<RowId>{0, rows, numbers.data(), listed_rows.data()});
      buffer<RowId> rank_of_row(own, table_rows_);
      Executor::for_each(own, core::put_permuted<RowId>{rows_by_rank_, nullptr, rank_of_row.data()},
                         size);
      Executor::for_each(
          own,
          core::put_permuted<RowId>{listed_rows.data(), rank_of_row.data(), listed_ranks.data()},
          rows);
    }
    Executor::synchronise(own);
    list_places_ = std::move(places);
    list_ends_ = std::move(ends);
    listed_ranks_ = std::move(listed_ranks);
    listed_rows_ = std::move(listed_rows);
    lists_ = {list_places_.data(), list_ends_.data(), listed_ranks_.data(), listed_rows_.data()};
  }

  void build_matrix(const context& own) const {
    const std::uint64_t size = tree_.size;
    const auto levels = static_cast<unsigned>(std::bit_width(size));
    const std::uint64_t words = matrix_type::words_of(size);
    buffer<core::ranked_bits<RowId>> all(own, levels * words);
    buffer<RowId> places(own, size);
    buffer<RowId> next(own, size);
    buffer<std::uint64_t> ones(own, words);
    Executor::for_each(own, core::put_permuted<RowId>{tree_.ranks, nullptr, places.data()}, size);
    for (unsigned level = 0; level < levels; ++level) {
      using put_bits = core::put_level_bits<RowId>;
      core::ranked_bits<RowId>* const own_words = all.data() + level * words;
      Executor::for_each_in_warps(
          own, put_bits{places.data(), size, levels - 1 - level, own_words, ones.data()},
          (words + put_bits::chunk - 1) / put_bits::chunk);
      Executor::inclusive_sum(own, ones.data(), words);
      Executor::for_each_in_warps(
          own,
          core::put_next_level<RowId>{places.data(), size, ones.data(), own_words, next.data()},
          (words + put_bits::chunk - 1) / put_bits::chunk);
      std::swap(places, next);
    }
    Executor::synchronise(own);
    words_ = std::move(all);
    matrix_ = {words_.data(), size, levels};
  }

  buffer<RowId> ranks_;
  const RowId* rows_by_rank_;
  std::uint64_t table_rows_;
  buffer<RowId> largest_;
  tree_type tree_{};
  mutable std::mutex changes_;
  mutable buffer<core::ranked_bits<RowId>> words_;
  mutable matrix_type matrix_;
  mutable buffer<RowId> list_places_;
  mutable buffer<std::uint64_t> list_ends_;
  mutable buffer<RowId> listed_ranks_;
  mutable buffer<RowId> listed_rows_;
  mutable core::rank_lists<RowId> lists_;
};

template <class RowId, executor Executor>
class joined_dominated final : public joined {
 public:
  joined_dominated(const context& on, backend where, join_kind kind, std::uint64_t table_rows,
                   found_rows<RowId> found, const core::rank_tree<RowId>& tree,
                   const core::wavelet_matrix<RowId>& matrix)
      : joined(where, kind, found.begins.size(), table_rows == 0 ? 0 : table_rows - 1),
        found_(std::move(found)),
        tree_(tree),
        matrix_(matrix),
        tiles_(on, found_.view(kind)) {
    this->size_ = tiles_.rows();
  }

  // Finds the few rows of a probe in these.
  void take(const core::rank_lists<RowId>& lists) { lists_ = lists; }

 private:
  using located = core::located_probes<RowId>;

  void do_counts(const context& on, std::uint64_t* out) const override {
    Executor::for_each(on, core::write_row_counts<located>{found_.view(this->kind()), out},
                       this->probes());
  }
  void do_rows(const context& on, std::uint64_t first, const gather_maps& out) const override {
    const located found = found_.view(this->kind());
    with_slice(first, out, [&]<class Out>(const core::row_slice<Out>& slice) {
      if (slice.build_rows == nullptr)
        return tiles_.template write<core::row_writer<located, Out>>(on, found, slice);
      // Wide row numbers do not fit narrow ones, which are refused.
      if constexpr (sizeof(Out) >= sizeof(RowId)) {
        tiles_.template write<core::dominated_writer<RowId, Out>>(
            on, core::dominating_probes<RowId>{found, tree_, matrix_, lists_}, slice);
      }
    });
  }

  found_rows<RowId> found_;
  core::rank_tree<RowId> tree_;
  core::wavelet_matrix<RowId> matrix_;
  core::rank_lists<RowId> lists_;
  row_tiles<Executor> tiles_;
};

// One of two columns that probes are compared by.
struct probed_values {
  const column* values;
  bool past;  // see `value_order::rank`
};

// Ranks of probes in the orders of a build side.
template <executor Executor>
class ranked_probes {
 public:
  ranked_probes(const value_orders<Executor>& orders, const key_parts& by)
      : orders_(orders), by_(by) {}

  // Calls f(first, size, rank) for slices of probes; rank(which order, values, out) writes ranks of
  // a slice.
  template <class F>
  void for_each_slice(const context& on, std::uint64_t probes, const F& f) const {
    raydex::for_each_slice(probes, [&](std::uint64_t first, std::uint64_t size) {
      buffer<std::uint32_t> slots;
      const core::key_numbers keys = orders_.numbers_of(on, slice(by_, first, size), slots);
      f(first, size,
        [&](std::size_t order, const probed_values& probed, buffer<std::uint64_t>& out) {
          out = {on, size};
          orders_[order].rank(on, keys, slice(*probed.values, first, size), probed.past,
                              out.data());
        });
    });
  }

 private:
  const value_orders<Executor>& orders_;
  const key_parts& by_;
};

// Which rows probes dominate: of order `places` those before the place of one column, whose rank in
// order `ranks` is not below that of another.
struct dominance_request {
  std::size_t places;
  probed_values end;
  std::size_t ranks;
  probed_values least;
  bool by_ranks;  // whether the rows of lower ranks are all among the first places, so that two
                  // ranks count the others
  bool lists;     // whether probes in lists of a few ranks have few other rows
  bool first = false;  // whether each probe has only the first one
};

template <class RowId, executor Executor>
std::unique_ptr<joined> match_dominated(const context& on, const context& own, backend where,
                                        join_kind kind, std::uint64_t table_rows,
                                        const value_orders<Executor>& orders, const key_parts& by,
                                        const dominance<RowId, Executor>& rows,
                                        const dominance_request& request,
                                        const std::uint8_t* validity) {
  const std::uint64_t probes = request.end.values->size;
  found_rows<RowId> found;
  found.begins = {on, probes};
  found.counts = {on, probes};
  buffer<std::uint64_t> most(on, 1);
  Executor::clear(on, most.data());
  core::wavelet_matrix<RowId> matrix;
  if (!request.by_ranks) matrix = rows.matrix(own);
  ranked_probes<Executor>(orders, by)
      .for_each_slice(on, probes, [&](std::uint64_t first, std::uint64_t size, const auto& rank) {
        buffer<std::uint64_t> end;
        buffer<std::uint64_t> least;
        rank(request.places, request.end, end);
        rank(request.ranks, request.least, least);
        Executor::for_each(on,
                           core::count_dominated<RowId>{
                               .end = end.data(),
                               .least = least.data(),
                               .valid = validity == nullptr ? nullptr : validity + first / 8,
                               .size = rows.tree().size,
                               .matrix = matrix,
                               .first = request.first,
                               .rows = nullptr,
                               .leasts = found.begins.data() + first,
                               .counts = found.counts.data() + first,
                               .most = most.data()},
                           size);
      });
  const bool lists = kind == join_kind::inner || kind == join_kind::left;
  if (matrix.words == nullptr && lists && probes != 0 &&
      Executor::read(on, most.data()) > core::dominating_probes<RowId>::most_skipped)
    matrix = rows.matrix(own);
  auto made = std::make_unique<joined_dominated<RowId, Executor>>(
      on, where, kind, table_rows, std::move(found), rows.tree(), matrix);
  // Lists take the time of so many rows.
  if (request.lists && lists && made->size() > rows.tree().size) made->take(rows.lists(own));
  return made;
}

}  // namespace raydex
