// SPDX-License-Identifier: Apache-2.0
// What the engines' RX have in common: all but the sort and the tracing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/core/rays/rx.hpp"
#include "raydex/error.hpp"
#include "raydex/rx.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/kept_entries.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/built_ray_index.hpp"
#include "src/operations/rays/traced_batches.hpp"
#include "src/structures/rx/rx_scene.hpp"

namespace raydex {

// Nothing was found yet.
template <class RowId>
struct put_none {
  RowId* firsts;
  RAYDEX_HD void operator()(std::uint64_t i) const { firsts[i] = core::traced<RowId>::none; }
};

// Gives equal points the answer of the first of them.
template <class Key, class RowId>
struct tell_equal_points {
  const Key* points;
  std::uint64_t size;
  const RowId* of_first;
  RowId* firsts;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    RowId first[1] = {static_cast<RowId>(i)};
    if (i > 0 && points[i - 1] == points[i]) {
      const Key wanted[1] = {points[i]};
      core::lower_bounds([this](RowId at) { return points[at]; }, static_cast<RowId>(size), wanted,
                         first);
    }
    firsts[i] = of_first[first[0]];
  }
};

template <class Key, class RowId, engine Engine>
class built_rx final
    : public built_ray_index<built_rx<Key, RowId, Engine>, rx,
                             core::sorted_array_view<core::column_entries<Key, RowId>>,
                             typename Engine::executor> {
  using view = core::sorted_array_view<core::column_entries<Key, RowId>>;
  using executor = typename Engine::executor;
  using scene = built_scene<Key, RowId, Engine>;
  using rx_scene = core::rx_scene<Key, RowId>;
  using scene_entries = core::entries_of_scene<rx_scene>;

 public:
  built_rx(const index_info& info, const context& on, const column& keys,
           const std::optional<column>& row_ids, const rx_options& options)
      : built_rx::built_ray_index(on), options_(options) {
    this->info_ = info;
    fill(on.stream, keys, row_ids);
  }

 private:
  friend typename built_rx::built_index_by;

  void do_update(stream_t stream, const column& keys,
                 const std::optional<column>& row_ids) override {
    fill(stream, keys, row_ids);
  }

  void fill(stream_t stream, const column& keys, const std::optional<column>& row_ids) {
    const context own{this->memory(), stream};
    hold(own, executor::template sort_column<Key, RowId>(own, keys, row_ids), keys.size);
  }

  void do_edit(stream_t stream, const edits& batch) override {
    const context own{this->memory(), stream};
    auto changed = with(own, batch);
    if (!changed) return;
    const std::uint64_t rows = this->info_.n - entries_.keys.size() + changed->keys.size();
    hold(own, std::move(*changed), rows);
  }

  void do_keep(const context& own, kept_memory& file) override {
    if (!file.loads()) return save_sorted<executor>(own, file, entries_);
    const index_info& info = this->info_;
    hold(own, load_sorted<executor, Key, RowId>(own, file, info.entries, info.max_row_id), info.n);
  }

  // The entries with a batch applied; nothing if it changes nothing.
  std::optional<sorted_column<Key, RowId>> with(const context& on, const edits& batch) const {
    const auto changes = executor::template sort_edits<Key, RowId>(on, batch);
    auto changed = executor::edited(on, strided(list_of(entries_)), changes);
    if (changed) changed->max_row_id = std::max(entries_.max_row_id, changes.insert.max_row_id);
    return changed;
  }

  // Takes entries, of so many rows, in place of those that it holds, if there are any.
  void hold(const context& own, sorted_column<Key, RowId>&& entries, std::uint64_t rows) {
    const key_column<Key> column =
        describe_keys<executor>(own, std::as_const(entries.keys).data(), entries.keys.size());
    const int bits = bits_to_sort<executor>(own, column);
    check_rx_places(options_, column.largest);
    std::optional<scene> made;
    if (options_.inverse == rx_inverse::off) {
      made.emplace(own, column, options_, this->repairs());
      made->build(own, this->memory());
    }
    scene_ = std::move(made);
    sorted_bits_ = bits;
    entries_ = std::move(entries);
    column_ = column;
    this->info_.n = rows;
    this->info_.entries = column.size;
    this->info_.max_row_id = entries_.max_row_id;
    this->measure();
  }

  view queried() const override {
    return {{entries_.keys.data(), entries_.row_ids.data()},
            static_cast<RowId>(entries_.keys.size())};
  }

  template <class Operation>
  void run(const context& on, const Operation& operation) const {
    const core::probe_set<Key>& probes = operation.probes;
    if (scene_) {
      trace_probes<Engine>(on, *scene_, traced_by(*scene_), operation);
    } else if (probes.is_points && column_.size != 0 &&
               (options_.inverse == rx_inverse::on || probes.size < column_.size)) {
      trace_keys(on, operation);
    } else {
      scene made(on, column_, options_, this->repairs());
      made.build(on, on.memory);
      trace_probes<Engine>(on, made, traced_by(made), operation);
    }
  }

  traced_index<rx_scene, Key, scene_entries> traced_by(const scene& by) const {
    return {
        by.scene(), {by.scene(), entries_.row_ids.data()}, column_, sorted_bits_, options_.order};
  }

  // Has the keys look for the points of a batch.
  template <class Operation>
  void trace_keys(const context& on, const Operation& operation) const {
    const core::probe_set<Key>& probes = operation.probes;
    core::trace_job<rx_scene> job;
    job.probes = probes;
    // What was found is settled as if each entry had a primitive.
    job.scene.keys = column_.keys;
    job.scene.entries = job.scene.primitives = static_cast<RowId>(column_.size);
    job.scene.repairs = this->repairs();
    const scene_entries entries{job.scene, entries_.row_ids.data()};
    for (; job.begin < probes.size; job.begin += job.size) {
      job.size = std::min(most_at_once, probes.size - job.begin);
      const sorted_probes<Engine, Key> slice(on, probes, job.begin, job.size, column_);
      const Key* points = slice.keys.current.data();
      buffer<RowId> of_first(on, job.size);
      executor::for_each(on, put_none<RowId>{of_first.data()}, job.size);
      {
        scene made(on, {points, job.size, column_.smallest, column_.largest}, options_,
                   this->repairs());
        made.build(on, on.memory);
        core::inverse_job<rx_scene> keys;
        keys.points = made.scene();
        keys.keys = column_.keys;
        keys.firsts = of_first.data();
        for (; keys.begin < column_.size; keys.begin += keys.size) {
          keys.size = std::min(most_at_once, column_.size - keys.begin);
          made.trace(on, keys);
        }
      }
      buffer<RowId> firsts(on, job.size);
      executor::for_each(
          on, tell_equal_points<Key, RowId>{points, job.size, of_first.data(), firsts.data()},
          job.size);
      job.order = slice.numbers.current.data();
      job.firsts = firsts.data();
      if constexpr (requires { Operation::first_match_only; }) {
        job.rows = operation.out;
        executor::for_each(on, put_found_row<rx_scene, scene_entries>{job, entries}, job.size);
      } else {
        answer_traced<Engine>(on, operation, job, entries);
      }
    }
  }

  rx_options options_;
  sorted_column<Key, RowId> entries_;
  key_column<Key> column_{};  // `entries_`, as scenes see it
  int sorted_bits_ = 0;
  std::optional<scene> scene_;  // none where each batch builds its own
};

template <class Engine>
std::unique_ptr<rx> make_rx(const index_info& info, const context& on, const column& keys,
                            const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_rx<Key, RowId, Engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
