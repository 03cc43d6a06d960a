// SPDX-License-Identifier: Apache-2.0
// What the backends' as-of joins have in common: all but the executor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "raydex/core/joins/asof.hpp"
#include "raydex/join.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/kept_parts.hpp"
#include "src/operations/joins/asof_run.hpp"
#include "src/operations/joins/built_joined.hpp"
#include "src/operations/joins/chained_columns.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

template <executor Executor>
class built_asof_join final : public asof_join, public keeps_columns {
 public:
  built_asof_join(backend where, const context& on, const column& times, const key_parts& by,
                  bool missing_equal)
      : memory_(on.memory),
        where_(where == backend::optix ? backend::cuda : where),  // what is near needs no rays
        missing_equal_(missing_equal),
        times_(times),
        formats_(formats_of(by)) {
    const context own{memory_, on.stream};
    runs_.push_back(run_of(own, {.times = times, .by = by}, true));
    Executor::synchronise(own);
    info_.structure = "pivot_tree";
    info_.where = where;
    info_.keys_differ = false;
    measure();
  }

 private:
  // Rows that are next to each other, and their order.
  struct run {
    std::uint64_t first = 0;
    column times;
    key_parts by;
    buffer<std::uint8_t> validity{};    // of the times, if they were appended
    std::vector<chained_part> parts{};  // the columns of the key likewise
    std::unique_ptr<asof_run<Executor>> order{};
  };

  run run_of(const context& own, run rows, bool may_walk) const {
    rows.order = std::make_unique<asof_run<Executor>>(own, where_, rows.times, rows.by,
                                                      missing_equal_, may_walk);
    return rows;
  }

  void measure() {
    info_.keys = runs_.front().order->comparison();
    info_.entries = 0;
    for (const run& one : runs_) {
      info_.entries += one.order->entries();
      if (one.order->comparison() == key_comparison::hashed) info_.keys = key_comparison::hashed;
    }
    info_.resident_bytes = memory_.current();
  }

  void do_append(stream_t stream, const column& times, const key_parts& by) override {
    const context own{memory_, stream};
    column all = times_;
    buffer<std::byte> grown = room_for(own, times, all);
    copy_cells<Executor>(
        own, times, (grown.size() == 0 ? cells_ : grown).data() + times_.size * all.format.width);
    // With it go the runs before it that are no longer than what follows them.
    std::size_t kept = runs_.size();
    while (kept != 0 && runs_[kept - 1].times.size <= all.size - end_of(runs_[kept - 1]))
      --kept;
    run rows = chained(own, kept, times, by);
    rows.times.data = static_cast<const std::byte*>(all.data) + rows.first * all.format.width;
    rows = run_of(own, std::move(rows), false);
    Executor::synchronise(own);
    std::vector<run> runs;
    runs.reserve(kept + 1);
    std::move(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(kept),
              std::back_inserter(runs));
    runs.push_back(std::move(rows));
    runs_ = std::move(runs);
    if (grown.size() != 0) cells_ = std::move(grown);
    times_ = all;
    measure();
  }

  static std::uint64_t end_of(const run& one) { return one.first + one.times.size; }

  // Makes of `all`, the cells that there are, a column with room for more. Nothing if these have
  // it; else what holds it, with a copy of the cells.
  buffer<std::byte> room_for(const context& own, const column& more, column& all) const {
    const std::uint64_t width = all.format.width;
    const std::uint64_t size = all.size + more.size;
    buffer<std::byte> grown;
    if (cells_.size() < size * width) {
      grown = {own, std::max(2 * cells_.size(), size * width)};
      copy_cells<Executor>(own, all, grown.data());
      all = column(all.format, grown.data(), size);
    }
    all.size = size;
    return grown;
  }

  // The rows from a run on, and a batch behind them; their cells are to come.
  run chained(const context& own, std::size_t from, const column& times,
              const key_parts& by) const {
    run rows;
    rows.first = from == runs_.size() ? times_.size : runs_[from].first;
    std::vector<column> batches;
    for (std::size_t r = from; r < runs_.size(); ++r)
      batches.push_back(runs_[r].times);
    batches.push_back(times);
    rows.validity = chained_validity<Executor>(own, batches);
    rows.times =
        column(times.format, nullptr, times_.size + times.size - rows.first, rows.validity.data());
    for (std::size_t p = 0; p < by.size(); ++p) {
      std::vector<key_part> parts;
      for (std::size_t r = from; r < runs_.size(); ++r)
        parts.push_back(runs_[r].by[p]);
      parts.push_back(by[p]);
      rows.parts.push_back(chained_part::made_of<Executor>(own, parts));
      rows.by.push_back(rows.parts.back().view());
    }
    return rows;
  }

  std::pair<key_format, std::uint64_t> keep_columns(const context& on,
                                                    kept_memory& file) const override {
    std::uint64_t rows = times_.size;
    std::uint8_t missing_equal = missing_equal_;
    auto parts = static_cast<std::uint8_t>(formats_.size());
    file.number("rows", rows);
    file.number("missing is equal", missing_equal);
    file.number("columns of key", parts);
    chained_part::keep_format("time", times_.format, file);
    buffer<std::byte> cells(on, rows * times_.format.width);
    copy_cells<Executor>(on, times_, cells.data());
    file.array<Executor>("times", on, std::as_const(cells));
    std::vector<column> times;  // whose cells may be gone
    for (const run& one : runs_)
      times.push_back(one.times);
    file.array<Executor>("times present", on, chained_validity<Executor>(on, times));
    for (unsigned p = 0; p < parts; ++p) {
      std::vector<key_part> of_runs;
      for (const run& one : runs_)
        of_runs.push_back(one.by[p]);
      chained_part::made_of<Executor>(on, of_runs)
          .template keep<Executor>("key " + std::to_string(p), on, file);
    }
    return {times_.format, rows};
  }

  const key_format& time_format() const override { return times_.format; }
  const std::vector<std::optional<key_format>>& formats() const override { return formats_; }
  row_id_type row_ids() const override { return row_ids_of(times_.size); }

  void do_match(const context& on, const column& times, const key_parts& by,
                const asof_options& how, void* out) const override {
    with_row_id(row_ids(), [&](auto zero) {
      using row = decltype(zero);
      match(on, times, by, how, static_cast<row*>(out), static_cast<found_rows<row>*>(nullptr));
    });
  }

  std::unique_ptr<joined> do_match(const context& on, const column& times, const key_parts& by,
                                   const asof_options& how, join_kind kind) const override {
    return with_row_id(row_ids(), [&](auto zero) -> std::unique_ptr<joined> {
      using row = decltype(zero);
      const std::uint64_t rows = times.size * how.neighbours;
      found_rows<row> found;
      found.own_list = {on, rows * sizeof(row)};
      found.list = found.own_list.data();
      found.begins = {on, times.size};
      found.counts = {on, times.size};
      match(on, times, by, how, reinterpret_cast<row*>(found.own_list.data()), &found);
      index_info described;
      described.where = info_.where;
      described.entries = info_.entries;
      described.max_row_id = times_.size == 0 ? 0 : times_.size - 1;
      return std::make_unique<built_joined<row, Executor>>(on, described, kind, std::move(found));
    });
  }

  // Writes the rows of each probe and, if wanted, how many these are and where.
  template <class RowId>
  void match(const context& on, const column& times, const key_parts& by, const asof_options& how,
             RowId* out, found_rows<RowId>* found) const {
    if constexpr (Executor::walks_along && std::is_same_v<RowId, std::uint32_t>) {
      const asof_run<Executor>& all = *runs_.front().order;
      if (runs_.size() == 1 && how.neighbours == 1 && all.is_walked(on, times)) {
        core::take_closest<RowId> take = closest_of(times, how, out);
        take.near = tolerances_of(how);
        if (found != nullptr) {
          take.begins = found->begins.data();
          take.counts = found->counts.data();
        }
        return all.walk(on, times, by, how, take);
      }
    }
    for_each_slice(times.size, [&](std::uint64_t first, std::uint64_t size) {
      const column sliced = slice(times, first, size);
      asof_options of_some = how;
      if (how.tolerances) of_some.tolerances = slice(*how.tolerances, first, size);
      core::take_closest<RowId> take = closest_of(sliced, how, out + first * how.neighbours);
      take.near = tolerances_of(of_some);
      if (found != nullptr) {
        take.begins = found->begins.data() + first;
        take.counts = found->counts.data() + first;
        take.begin = first * how.neighbours;
      }
      const key_parts of_these = slice(by, first, size);
      if (runs_.size() == 1) return runs_.front().order->match(on, sliced, of_these, how, take);
      buffer<RowId> rows[2];
      for (const unsigned s : {0U, 1U}) {
        if (how.direction == (s == 0 ? asof_direction::forward : asof_direction::backward))
          continue;
        asof_options one = how;
        one.direction = s == 0 ? asof_direction::backward : asof_direction::forward;
        // Rows of the time of a probe are before it.
        if (s == 1 && how.direction == asof_direction::nearest) one.which = closeness::strict;
        rows[s] = closest_of_runs<RowId>(on, sliced, of_these, one);
        take.lists[s].rows = rows[s].data();
      }
      Executor::for_each(on, take, size);
    });
  }

  template <class RowId>
  core::take_closest<RowId> closest_of(const column& times, const asof_options& how,
                                       RowId* out) const {
    return {.probe_times = {{cells_of(times)}},
            .build_times = {{cells_of(times_)}},
            .build = {},
            .lists = {},
            .rule = core::closeness_rule::distance,
            .size = times.size,
            .neighbours = how.neighbours,
            .near = {},
            .out = out};
  }

  // The rows on one side of each probe, whatever run they are of and however far.
  template <class RowId>
  buffer<RowId> closest_of_runs(const context& on, const column& times, const key_parts& by,
                                const asof_options& how) const {
    buffer<RowId> closest;
    for (const run& one : runs_) {
      buffer<RowId> found = closest_of_run<RowId>(on, one, times, by, how);
      if (one.first == 0) {
        closest = std::move(found);
        continue;
      }
      buffer<RowId> closer(on, found.size());
      core::take_closest<RowId> take = closest_of(times, how, closer.data());
      take.rule = how.direction == asof_direction::backward ? core::closeness_rule::later
                                                            : core::closeness_rule::earlier;
      take.lists[0].rows = closest.data();
      take.lists[1].rows = found.data();
      take.lists[1].first = static_cast<RowId>(one.first);
      Executor::for_each(on, take, times.size);
      closest = std::move(closer);
    }
    return closest;
  }

  // Those of a run, by their places in it.
  template <class RowId>
  buffer<RowId> closest_of_run(const context& on, const run& one, const column& times,
                               const key_parts& by, const asof_options& how) const {
    buffer<RowId> found(on, times.size * how.neighbours);
    with_row_id(row_ids_of(one.times.size), [&]<class Own>(Own) {
      if constexpr (std::is_same_v<Own, RowId>) {
        one.order->match(on, times, by, how, closest_of(times, how, found.data()));
      } else if constexpr (sizeof(Own) < sizeof(RowId)) {
        buffer<Own> narrow(on, found.size());
        one.order->match(on, times, by, how, closest_of(times, how, narrow.data()));
        widen_row_ids(on, where_, narrow, nullptr, row_id_span(found));
      }
    });
    return found;
  }

  core::tolerances tolerances_of(const asof_options& how) const {
    core::tolerances near;
    const key_type type = times_.format.type;
    const auto rounded = [&](double number) {
      return type == key_type::float32 ? double{static_cast<float>(number)} : number;
    };
    const bool is_floating = type == key_type::float32 || type == key_type::float64;
    if (how.tolerances) near.each = {cells_of(*how.tolerances)};
    if (how.tolerance) {
      near.same = is_floating ? encode(rounded(how.tolerance->real())) : how.tolerance->whole();
    }
    if (!how.relative_tolerance) return near;
    near.is_share = true;
    near.share = rounded(*how.relative_tolerance);
    if (is_floating) return near;
    // A number of 53 bits, and how many of them are behind the point.
    constexpr int digits = 53;
    constexpr int most = 64 - digits;
    int exponent = 0;
    const double part = std::frexp(near.share, &exponent);
    if (!std::isfinite(part) || exponent - digits > most) {
      near.factor = ~std::uint64_t{0};
    } else {
      near.factor = static_cast<std::uint64_t>(std::ldexp(part, digits));
      near.shift = static_cast<unsigned>(std::max(0, digits - exponent));
      near.factor <<= static_cast<unsigned>(std::max(0, exponent - digits));
    }
    return near;
  }

  tracking_resource memory_;  // the first to come, the last to go
  backend where_;
  bool missing_equal_;
  column times_;             // of all rows
  buffer<std::byte> cells_;  // of these once some were appended, and room for more
  std::vector<std::optional<key_format>> formats_;
  std::vector<run> runs_;  // in the order of their rows
};

}  // namespace raydex
