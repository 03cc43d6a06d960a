// SPDX-License-Identifier: Apache-2.0
// What the engines' cgRX over a sorted column have in common: all but the sort and the tracing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "raydex/cgrx.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/core/rays/cgrx.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/lookups/kept_entries.hpp"
#include "src/operations/lookups/ordered_entries.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/built_ray_index.hpp"
#include "src/operations/rays/traced_batches.hpp"
#include "src/structures/cgrx/cgrx_nodes.hpp"
#include "src/structures/cgrx/cgrx_scene.hpp"

namespace raydex {

// Owns entries, and says where they are: in the sorted column that it took over, or in rows.
template <class Key, class RowId, class Executor>
class bucket_entries {
  using sorted = sorted_column<Key, RowId>;
  // The narrower number of an entry is widened.
  using aligned = std::conditional_t<(sizeof(Key) > sizeof(RowId)), Key, RowId>;

 public:
  bucket_entries() = default;
  // Takes a sorted column over. Rows are copied from it; it is there until `drop_column`.
  bucket_entries(const context& on, sorted&& column, cgrx_layout layout)
      : column_(std::move(column)),
        size_(column_.keys.size()),
        entries_{{column_.keys.data()}, {column_.row_ids.data()}} {
    if (size_ == 0) return;
    if (layout == cgrx_layout::aligned) copy_to_rows<aligned, aligned>(on);
    if (layout == cgrx_layout::packed) copy_to_rows<Key, RowId>(on);
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t max_row_id() const { return column_.max_row_id; }
  const core::strided_entries<Key, RowId>& entries() const { return entries_; }
  core::strided_list<Key, RowId> list() const { return {entries_.keys, entries_.row_ids, size_}; }
  // The sorted column that it took over.
  const sorted& column() const { return column_; }
  // The same, for as long as `copy` stays: where entries are in rows, they are copied to there.
  const sorted& column(const context& on, sorted& copy) const {
    if (rows_.size() == 0) return column_;
    copy = {{on, size_}, {on, size_}, column_.max_row_id};
    const put_columns<Key, RowId> put{copy.keys.data(), copy.row_ids.data()};
    Executor::for_each(on,
                       copy_entries<core::strided_entries<Key, RowId>, put_columns<Key, RowId>>{
                           entries_, size_, put},
                       size_);
    return copy;
  }
  // Frees the sorted column where entries are in rows.
  void drop_column() {
    if (rows_.size() == 0) return;
    column_.keys = {};
    column_.row_ids = {};
  }

 private:
  template <class RowKey, class RowOfKey>
  void copy_to_rows(const context& on) {
    using put = put_rows<RowKey, RowOfKey>;
    constexpr auto words = core::row_entries<RowKey, RowOfKey>::words_per_entry;
    rows_ = {on, size_ * words};
    const core::column_entries<Key, RowId> from{column_.keys.data(), column_.row_ids.data()};
    Executor::for_each(
        on, copy_entries<core::column_entries<Key, RowId>, put>{from, size_, {rows_.data()}},
        size_);
    const std::uint32_t* const first = rows_.data();
    entries_ = {{first, 4 * words}, {first + sizeof(RowKey) / 4, 4 * words}};
  }

  sorted column_;
  buffer<std::uint32_t> rows_;
  std::uint64_t size_ = 0;
  core::strided_entries<Key, RowId> entries_;
};

// Writes where buckets begin in a column whose entries are not those that the scene was made of:
// after the representative of the one before.
template <class Key, class RowId>
struct put_bucket_begin {
  core::entry_list<Key, RowId> column;
  const Key* representatives;
  std::uint64_t buckets;
  RowId* begins;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    std::uint64_t begin = bucket == 0 ? 0 : column.size;
    if (bucket != 0 && bucket != buckets) begin = column.not_above(representatives[bucket - 1]);
    begins[bucket] = static_cast<RowId>(begin);
  }
};

// The same after insertions alone, from where they began before: a search in what was inserted.
template <class Key, class RowId>
struct put_grown_begin {
  core::cgrx_scene<Key, RowId> before;
  core::entry_list<Key, RowId> inserted;
  RowId* begins;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    std::uint64_t begin = 0;
    if (bucket == before.buckets) {
      begin = before.entries + inserted.size;
    } else if (bucket != 0) {
      begin = before.bucket_begin(static_cast<RowId>(bucket)) +
              inserted.not_above(before.representative(static_cast<RowId>(bucket - 1)));
    }
    begins[bucket] = static_cast<RowId>(begin);
  }
};

// Finds buckets of more than so many entries, unless most of these have the same key.
template <class Key, class RowId>
struct find_large_bucket {
  const Key* keys;
  const RowId* begins;
  std::uint64_t most;
  std::uint64_t* found;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    const RowId begin = begins[bucket];
    const RowId size = begins[bucket + 1] - begin;
    if (size > most && keys[begin + size / 4] != keys[begin + (size - size / 4 - 1)])
      core::add_atomically(found, 1);
  }
};

template <class Key, class RowId, engine Engine>
class built_cgrx final
    : public built_ray_index<built_cgrx<Key, RowId, Engine>, cgrx,
                             core::sorted_array_view<core::strided_entries<Key, RowId>>,
                             typename Engine::executor> {
  using view = core::sorted_array_view<core::strided_entries<Key, RowId>>;
  using executor = typename Engine::executor;
  using sorted = sorted_column<Key, RowId>;
  using held_entries = bucket_entries<Key, RowId, executor>;
  using scene = bucket_scene<Key, RowId, Engine>;
  using scene_entries = core::entries_of_scene<core::cgrx_scene<Key, RowId>>;

 public:
  built_cgrx(const index_info& info, const context& on, const column& keys,
             const std::optional<column>& row_ids, const cgrx_options& options)
      : built_cgrx::built_ray_index(on, {.scan = options.scan}), options_(options) {
    this->info_ = info;
    const context own{this->memory(), on.stream};
    held_entries entries(own, executor::template sort_column<Key, RowId>(own, keys, row_ids),
                         options_.layout);
    scene_ = place(own, entries.column(), entries);
    hold(std::move(entries));
  }

 private:
  friend typename built_cgrx::built_index_by;

  // The scene of a column, which is read where these entries are.
  scene place(const context& on, const sorted& column, const held_entries& entries) {
    scene made(on, this->memory(), column.keys.data(), column.keys.size(), options_,
               this->repairs());
    made.read(entries.entries().keys);
    return made;
  }

  // The batch is merged into the column. The scene stays: buckets grow and shrink with their keys.
  void do_edit(stream_t stream, const edits& batch) override {
    const context own{this->memory(), stream};
    auto entries = merge(own, batch);
    if (!entries) return;
    this->info_.n = this->info_.n - entries_.size() + entries->size();
    hold(std::move(*entries));
  }

  // The entries with a batch applied, which the scene stands for from then on; nothing if the batch
  // changes nothing.
  std::optional<held_entries> merge(const context& on, const edits& batch) {
    const auto changes = executor::template sort_edits<Key, RowId>(on, batch);
    auto changed = executor::edited(on, entries_.list(), changes);
    if (!changed) return std::nullopt;
    changed->max_row_id = std::max(entries_.max_row_id(), changes.insert.max_row_id);
    held_entries entries(on, std::move(*changed), options_.layout);
    if (scene_.buckets() == 0) {
      scene_ = place(on, entries.column(), entries);
    } else {
      keep_scene(on, entries, changes);
    }
    return entries;
  }

  // Has buckets hold what they are to hold of other entries; or places these anew, if the buckets
  // would be too uneven.
  void keep_scene(const context& on, const held_entries& entries,
                  const sorted_edits<Key, RowId>& batch) {
    const std::uint64_t buckets = scene_.buckets();
    buffer<Key> representatives = scene_.copy_representatives(on);
    const Key* kept =
        representatives.size() != 0 ? representatives.data() : scene_.scene().representatives;
    buffer<RowId> begins(on, buckets + 1);
    if (batch.erase.keys.size() == 0) {
      executor::for_each(
          on, put_grown_begin<Key, RowId>{scene_.scene(), list_of(batch.insert), begins.data()},
          begins.size());
    } else {
      executor::for_each(
          on, put_bucket_begin<Key, RowId>{list_of(entries.column()), kept, buckets, begins.data()},
          begins.size());
    }
    if (is_uneven(on, entries.column().keys.data(), entries.size(), begins)) {
      scene_ = place(on, entries.column(), entries);
      return;
    }
    executor::synchronise(on);
    scene_.keep_representatives(std::move(representatives));
    scene_.follow(entries.entries().keys, entries.size(), std::move(begins));
  }

  bool is_uneven(const context& on, const Key* keys, std::uint64_t size,
                 const buffer<RowId>& begins) const {
    if (options_.rebuild == 0) return false;
    const std::uint64_t buckets = begins.size() - 1;
    if (2 * size < buckets * options_.bucket - options_.bucket) return true;
    buffer<std::uint64_t> found(on, 1);
    executor::clear(on, found.data());
    executor::for_each(
        on,
        find_large_bucket<Key, RowId>{
            keys, begins.data(), std::uint64_t{options_.bucket} * options_.rebuild, found.data()},
        buckets);
    return executor::read(on, found.data()) != 0;
  }

  void do_keep(const context& own, kept_memory& file) override {
    if (!file.loads()) {
      sorted copy;
      return save_sorted<executor>(own, file, entries_.column(own, copy));
    }
    const index_info& info = this->info_;
    held_entries entries(
        own, load_sorted<executor, Key, RowId>(own, file, info.entries, info.max_row_id),
        options_.layout);
    scene_ = place(own, entries.column(), entries);
    hold(std::move(entries));
  }

  void do_rebuild(stream_t stream) override {
    const context own{this->memory(), stream};
    sorted copy;
    scene_ = place(own, entries_.column(own, copy), entries_);
    copy = {};
    this->measure();
  }

  void hold(held_entries&& entries) {
    entries_ = std::move(entries);
    entries_.drop_column();
    this->info_.entries = entries_.size();
    this->info_.max_row_id = entries_.max_row_id();
    this->measure();
  }

  view queried() const override {
    return {entries_.entries(), static_cast<RowId>(entries_.size())};
  }

  template <class Operation>
  void run(const context& on, const Operation& operation) const {
    const core::cgrx_scene<Key, RowId>& traced = scene_.scene();
    trace_probes<Engine>(on, scene_.rays(),
                         traced_index<core::cgrx_scene<Key, RowId>, Key, scene_entries>{
                             traced,
                             {traced, entries_.entries().row_ids},
                             scene_.column(),
                             scene_.sorted_bits(),
                             options_.order,
                             this->plan()},
                         operation);
  }

  cgrx_options options_;
  held_entries entries_;
  scene scene_;
};

template <class Engine>
std::unique_ptr<cgrx> make_cgrx(const index_info& info, const context& on, const column& keys,
                                const std::optional<column>& row_ids, const cgrx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<cgrx> {
    if (options.node != 0)
      return std::make_unique<built_node_cgrx<Key, RowId, Engine>>(info, on, keys, row_ids,
                                                                   options);
    return std::make_unique<built_cgrx<Key, RowId, Engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
