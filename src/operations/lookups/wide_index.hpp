// SPDX-License-Identifier: Apache-2.0
// Row ids of 64 bits, for every structure. The column is sorted; structures of 32-bit row ids are
// built over slices of it, and find positions. Row ids lie in a list by position, so that what a
// probe matches lies side by side there: one set of kernels visits it, whatever found it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/core/keys/sum.hpp"
#include "raydex/core/lookups/row_id_outputs.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/core/rays/traced.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/repairs.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/kept_entries.hpp"

namespace raydex {

template <executor Executor>
class wide_index final : public index, public counts_repairs {
 public:
  // `info` is what follows from the arguments; `make` builds a structure over ascending keys, which
  // stay where they are.
  wide_index(const index_info& info, bool updates, const context& on, const column& keys,
             const std::optional<column>& row_ids, index_maker make, std::uint64_t of_slice)
      : index(on.memory), updates_(updates), make_(std::move(make)), of_slice_(of_slice) {
    info_ = info;
    const context own{memory(), on.stream};
    dispatch_key(info.key, [&]<class Key>() {
      held_ =
          hold<Key>(own, Executor::template sort_column<Key, std::uint64_t>(own, keys, row_ids));
    });
    knows_ranks_ = can_rank(own);
    describe(keys.size);
  }

 private:
  // The entries from one place of the sorted column up to the next slice.
  struct slice {
    std::uint64_t begin;
    std::unique_ptr<index> found_by;
  };
  // Structures go before the keys that they may read.
  struct entries {
    std::variant<buffer<std::uint32_t>, buffer<std::uint64_t>> keys;  // codes, ascending
    buffer<std::uint64_t> rows;
    std::uint64_t max_row_id = 0;
    std::vector<slice> slices;
  };
  // The list of rows. A view of entries whose keys nobody asks for.
  using view_type = core::sorted_array_view<core::column_entries<std::uint32_t, std::uint64_t>>;

  template <class Key>
  entries hold(const context& on, sorted_column<Key, std::uint64_t>&& sorted) const {
    entries made;
    const std::uint64_t size = sorted.keys.size();
    const Key* const keys = sorted.keys.data();
    made.keys = std::move(sorted.keys);
    made.rows = std::move(sorted.row_ids);
    made.max_row_id = sorted.max_row_id;
    const std::uint64_t slices = std::max<std::uint64_t>(1, (size + of_slice_ - 1) / of_slice_);
    for (std::uint64_t begin = 0, i = 1; i <= slices; ++i) {
      const std::uint64_t end = i == slices ? size : cut(on, keys, size / slices * i);
      if (end == begin && slices != 1) continue;
      made.slices.push_back({begin, make_(on, column(std::span(keys + begin, end - begin)))});
      begin = end;
    }
    return made;
  }

  // Where the keys equal to the one at a place begin: a structure has all of them or none.
  template <class Key>
  static std::uint64_t cut(const context& on, const Key* keys, std::uint64_t place) {
    buffer<std::uint64_t> found(on, 1);
    Executor::for_each(on, core::find_cut<Key>{keys, place, found.data()}, 1);
    return Executor::read(on, found.data());
  }

  void describe(std::uint64_t rows) {
    const index_info& first = held_.slices.front().found_by->info();
    info_.options = first.options;
    info_.n = rows;
    info_.entries = held_.rows.size();
    info_.max_row_id = std::max(info_.max_row_id, held_.max_row_id);
    measure();
  }

  located_index front() const { return located_index(*held_.slices.front().found_by); }

  // Writes numbers of all slices by `ask(slice, to)`, added up.
  template <class Ask>
  void add_up(const context& on, std::uint64_t size, std::uint64_t* out, const Ask& ask) const {
    buffer<std::uint64_t> more(on, held_.slices.size() > 1 ? size : 0);
    for (const slice& each : held_.slices) {
      const bool is_first = &each == &held_.slices.front();
      ask(located_index(*each.found_by), is_first ? out : more.data());
      if (!is_first) Executor::for_each(on, core::add_numbers{more.data(), out}, size);
    }
  }

  // Writes the rows, or without `rows` the positions, that `ask(slice, to)` finds in the first
  // slice that has any, or in the last one.
  template <class Ask>
  void place(const context& on, std::uint64_t size, const std::uint64_t* rows, bool last_wins,
             std::uint64_t* out, const Ask& ask) const {
    buffer<std::uint32_t> found(on, size);
    for (const slice& each : held_.slices) {
      ask(located_index(*each.found_by), found.data());
      const bool fresh = &each == &held_.slices.front();
      Executor::for_each(
          on, core::place_rows{found.data(), each.begin, rows, fresh, last_wins, out}, size);
    }
  }

  // Whether the structure knows ranks, as most ordered ones do.
  bool can_rank(const context& on) const {
    try {
      front().rank(on, points(column(info_.key, nullptr, 0)), false, nullptr);
    } catch (const unsupported&) {
      return false;
    }
    return true;
  }

  // Positions are in the order of keys. So the matches of a range begin at the rank of its lower
  // end; without ranks at the smallest position, for which all of them are visited.
  void find_begins(const context& on, const probes& batch, std::uint64_t* begins) const {
    if (!batch.is_points && knows_ranks_) return do_rank(on, points(batch.lower), false, begins);
    place(on, batch.size(), nullptr, false, begins,
          [&](const located_index& in, std::uint32_t* to) { in.first(on, batch, to); });
  }

  view_type view() const { return view_type({nullptr, held_.rows.data()}, held_.rows.size()); }

  // Has an operation visit the rows of each probe.
  template <class Operation>
  void visit(const context& on, const probes& batch, const Operation& operation) const {
    buffer<std::uint64_t> begins(on, batch.size());
    buffer<std::uint64_t> counts(on, batch.size());
    find_begins(on, batch, begins.data());
    do_count(on, batch, counts.data());
    Executor::run(
        on, batch_plan{},
        core::answer_located<Operation, std::uint64_t>{
            view(), {batch.size()}, operation, begins.data(), counts.data(), operation.out});
  }
  // What operations on rows that are located already ask of probes: how many there are.
  static auto numbered(const probes& batch) { return probes_of<std::uint32_t>(batch); }

  void do_first(const context& on, const probes& batch, void* out) const override {
    auto* const rows = static_cast<std::uint64_t*>(out);
    if (!batch.is_points) {
      return visit(on, batch, core::first_rows<view_type>{view(), numbered(batch), rows});
    }
    place(on, batch.size(), held_.rows.data(), false, rows,
          [&](const located_index& in, std::uint32_t* to) { in.first(on, batch, to); });
  }

  void do_count(const context& on, const probes& batch, std::uint64_t* out) const override {
    add_up(on, batch.size(), out,
           [&](const located_index& in, std::uint64_t* to) { in.count(on, batch, to); });
  }

  void do_sum(const context& on, const probes& batch, const sum_request& request) const override {
    const auto sum = [&]<class Sum>(Sum) {
      visit(on, batch,
            core::sum_rows<view_type, Sum>{view(),
                                           numbered(batch),
                                           {cells_of(request.values)},
                                           static_cast<typename Sum::result*>(request.out)});
    };
    if (adds_floats(request.values)) {
      sum(core::floating_sum());
    } else {
      sum(core::integer_sum());
    }
  }

  void do_offsets(const context& on, const probes& batch, std::uint64_t* out) const override {
    if (batch.size() != 0) do_count(on, batch, out + 1);
    Executor::clear(on, out);
    if (batch.size() != 0) Executor::inclusive_sum(on, out + 1, batch.size());
  }

  void do_rows(const context& on, const probes& batch, const std::uint64_t* offsets,
               void* out) const override {
    auto* const rows = static_cast<std::uint64_t*>(out);
    buffer<std::uint64_t> begins(on, batch.size());
    find_begins(on, batch, begins.data());
    const core::list_rows<view_type> operation{view(), numbered(batch), offsets, rows};
    Executor::run(on, batch_plan{},
                  core::answer_located<core::list_rows<view_type>, std::uint64_t>{
                      view(), {batch.size()}, operation, begins.data(), nullptr, rows});
  }

  void check_ranks(const char* call) const override {
    if (!knows_ranks_) index::check_ranks(call);
  }

  void do_rank(const context& on, const probes& batch, bool past,
               std::uint64_t* out) const override {
    add_up(on, batch.size(), out,
           [&](const located_index& in, std::uint64_t* to) { in.rank(on, batch, past, to); });
  }

  void do_closest(const context& on, const probes& batch, bool before, closeness which, bool last,
                  void* out) const override {
    place(on, batch.size(), held_.rows.data(), before, static_cast<std::uint64_t*>(out),
          [&](const located_index& in, std::uint32_t* to) {
            in.closest(on, batch, before, which, to, last);
          });
  }

  void do_locate(const context& on, const probes& batch, void* begins, void* counts,
                 bool single_rows) const override {
    auto* const places = static_cast<std::uint64_t*>(begins);
    auto* const numbers = static_cast<std::uint64_t*>(counts);
    find_begins(on, batch, places);
    do_count(on, batch, numbers);
    Executor::for_each(
        on, core::settle_begins{single_rows ? held_.rows.data() : nullptr, numbers, places},
        batch.size());
  }

  void do_row_ids(const context& on, void* out) const override {
    Executor::for_each(on,
                       core::copy_wide_rows{held_.rows.data(), static_cast<std::uint64_t*>(out)},
                       held_.rows.size());
  }
  const void* do_row_list(const context& /*on*/, buffer<std::byte>& /*made*/) const override {
    return held_.rows.data();
  }
  std::uint64_t do_count_repeated(const context& on) const override {
    const bool repeat = std::ranges::any_of(
        held_.slices, [&](const slice& each) { return located_index(*each.found_by).repeats(on); });
    return repeat ? 1 : 0;
  }

  void check_kind(const probes& batch) const override { front().check_kind(batch); }
  std::uint64_t do_repairs(stream_t stream) const override {
    std::uint64_t all = 0;
    for (const slice& each : held_.slices)
      all += repairs(*each.found_by, stream);
    return all;
  }
  std::uint64_t do_read(const context& on, const std::uint64_t* number) const override {
    return Executor::read(on, number);
  }

  void do_keep(const context& own, kept_memory& file) override {
    dispatch_key(info_.key, [&]<class Key>() {
      if (!file.loads()) {
        file.array<Executor>("keys", own, std::as_const(std::get<buffer<Key>>(held_.keys)));
        file.array<Executor>("row ids", own, std::as_const(held_.rows));
        return;
      }
      held_ = hold<Key>(own, load_sorted<Executor, Key, std::uint64_t>(own, file, info_.entries,
                                                                       info_.max_row_id));
    });
    if (file.loads()) describe(info_.n);
  }

  void do_entries(const context& on, std::uint64_t* codes, void* rows) const override {
    dispatch_key(info_.key, [&]<class Key>() {
      Executor::for_each(on,
                         put_entry<core::column_entries<Key, std::uint64_t>>{
                             {std::get<buffer<Key>>(held_.keys).data(), held_.rows.data()},
                             codes,
                             static_cast<std::uint64_t*>(rows)},
                         held_.rows.size());
    });
  }

  // Merges the batch with the entries, and builds anew.
  void do_edit(stream_t stream, const edits& batch) override {
    if (!updates_) return index::do_edit(stream, batch);
    const context own{memory(), stream};
    const std::uint64_t missing = info_.n - info_.entries;
    dispatch_key(info_.key, [&]<class Key>() {
      const auto changes = Executor::template sort_edits<Key, std::uint64_t>(own, batch);
      const core::strided_list<Key, std::uint64_t> all{
          {std::get<buffer<Key>>(held_.keys).data()}, {held_.rows.data()}, held_.rows.size()};
      auto changed = Executor::edited(own, all, changes);
      if (changed) {
        entries made = hold<Key>(own, std::move(*changed));
        Executor::synchronise(own);
        held_ = std::move(made);
      }
      held_.max_row_id = std::max(held_.max_row_id, changes.insert.max_row_id);
    });
    describe(missing + held_.rows.size());
  }

  bool updates_;
  index_maker make_;
  std::uint64_t of_slice_;
  entries held_;
  bool knows_ranks_ = false;
};

template <executor Executor>
std::unique_ptr<index> make_wide(const index_info& info, bool updates, const context& on,
                                 const column& keys, const std::optional<column>& row_ids,
                                 const index_maker& make, std::uint64_t of_slice) {
  return std::make_unique<wide_index<Executor>>(info, updates, on, keys, row_ids, make, of_slice);
}

template <executor Executor>
void widen_row_ids(const context& on, const std::uint32_t* narrow, std::uint64_t size,
                   const std::uint64_t* count, std::uint64_t* wide) {
  Executor::for_each(on, core::widen_row_ids{narrow, count, wide}, size);
}

template <executor Executor>
void mark_found(const context& on, const row_id_span& rows, bool* out) {
  const auto mark = [&]<class RowId>(const RowId* from) {
    Executor::for_each(on, core::put_found<RowId>{from, out}, rows.size);
  };
  if (rows.type == row_id_type::uint32) {
    mark(static_cast<const std::uint32_t*>(rows.data));
  } else {
    mark(static_cast<const std::uint64_t*>(rows.data));
  }
}

template <executor Executor>
void replace_not_found(const context& on, const row_id_span& rows, std::uint64_t number) {
  const auto replace = [&]<class RowId>(RowId* in) {
    Executor::for_each(on, core::replace_not_found<RowId>{in, static_cast<RowId>(number)},
                       rows.size);
  };
  if (rows.type == row_id_type::uint32) {
    replace(static_cast<std::uint32_t*>(rows.data));
  } else {
    replace(static_cast<std::uint64_t*>(rows.data));
  }
}

}  // namespace raydex
