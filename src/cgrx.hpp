// SPDX-License-Identifier: Apache-2.0
// What the engines' cgRX over a sorted column have in common: all but the sort and the tracing.
// Besides what bucket_scene.hpp and traced_batches.hpp ask of it, an engine has what edited.hpp
// does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "answering.hpp"
#include "bucket_scene.hpp"
#include "edited.hpp"
#include "raydex/cgrx.hpp"
#include "raydex/core/cgrx.hpp"
#include "raydex/core/sorted_array.hpp"
#include "sorted_column.hpp"
#include "traced_batches.hpp"

namespace raydex {

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

template <class Key, class RowId, class Engine>
class built_cgrx final
    : public answering_as<built_cgrx<Key, RowId, Engine>, cgrx,
                          core::sorted_array_view<core::column_entries<Key, RowId>>,
                          typename Engine::executor> {
  using view = core::sorted_array_view<core::column_entries<Key, RowId>>;
  using executor = typename Engine::executor;
  using scene = bucket_scene<Key, RowId, Engine>;
  using scene_entries = core::entries_of_scene<core::cgrx_scene<Key, RowId>>;

 public:
  built_cgrx(const index_info& info, const context& where_to, const column& keys,
             const std::optional<column>& row_ids, const cgrx_options& options)
      : built_cgrx::answering_as(where_to.memory), options_(options) {
    this->info_ = info;
    const context where{this->memory(), where_to.stream};
    repairs_ = {where, 1};
    executor::clear(where, repairs_.data());
    entries_ = Engine::template sort_column<Key, RowId>(where, keys, row_ids);
    scene_ = place(where, entries_);
    describe();
  }

 private:
  friend typename built_cgrx::answering_as;

  scene place(const context& where, const sorted_column<Key, RowId>& entries) {
    return {where,    this->memory(), entries.keys.data(), entries.keys.size(),
            options_, repairs_.data()};
  }

  // The batch is merged into the column. The scene stays: buckets grow and shrink with their keys.
  void do_edit(stream_t stream, const edits& batch) override {
    const context where{this->memory(), stream};
    const auto sorted = sort_edits<Engine, Key, RowId>(where, batch);
    auto changed = edited<Engine>(where, entries_, sorted);
    if (!changed) return;
    changed->max_row_id = std::max(entries_.max_row_id, sorted.insert.max_row_id);
    if (scene_.buckets() == 0) {
      scene_ = place(where, *changed);
    } else {
      keep_scene(where, *changed, sorted);
    }
    this->info_.n = this->info_.n - entries_.keys.size() + changed->keys.size();
    entries_ = std::move(*changed);
    describe();
  }

  // Has buckets hold what they are to hold of other entries; or places these anew, if the buckets
  // would be too uneven.
  void keep_scene(const context& where, const sorted_column<Key, RowId>& entries,
                  const sorted_edits<Key, RowId>& batch) {
    const Key* keys = entries.keys.data();
    const std::uint64_t size = entries.keys.size();
    const std::uint64_t buckets = scene_.buckets();
    buffer<Key> representatives = scene_.copy_representatives(where);
    const Key* kept =
        representatives.size() != 0 ? representatives.data() : scene_.scene().representatives;
    buffer<RowId> begins(where, buckets + 1);
    if (batch.erase.keys.size() == 0) {
      executor::for_each(
          where, put_grown_begin<Key, RowId>{scene_.scene(), list_of(batch.insert), begins.data()},
          begins.size());
    } else {
      executor::for_each(
          where, put_bucket_begin<Key, RowId>{list_of(entries), kept, buckets, begins.data()},
          begins.size());
    }
    if (is_uneven(where, keys, size, begins)) {
      scene_ = place(where, entries);
      return;
    }
    executor::synchronise(where);
    scene_.keep_representatives(std::move(representatives));
    scene_.follow(keys, size, std::move(begins));
  }

  bool is_uneven(const context& where, const Key* keys, std::uint64_t size,
                 const buffer<RowId>& begins) const {
    if (options_.rebuild_at == 0) return false;
    const std::uint64_t buckets = begins.size() - 1;
    if (size / options_.bucket < buckets / options_.rebuild_at) return true;
    buffer<std::uint64_t> found(where, 1);
    executor::clear(where, found.data());
    executor::for_each(where,
                       find_large_bucket<Key, RowId>{
                           keys, begins.data(),
                           std::uint64_t{options_.bucket} * options_.rebuild_at, found.data()},
                       buckets);
    return executor::read(where, found.data()) != 0;
  }

  void do_rebuild(stream_t stream) override {
    scene_ = place({this->memory(), stream}, entries_);
    this->measure();
  }

  void describe() {
    this->info_.entries = entries_.keys.size();
    this->info_.max_row_id = entries_.max_row_id;
    this->measure();
  }

  view queried() const override {
    return {{entries_.keys.data(), entries_.row_ids.data()},
            static_cast<RowId>(entries_.keys.size())};
  }

  template <class Operation>
  void run(const context& where, const Operation& operation) const {
    const core::cgrx_scene<Key, RowId>& of = scene_.scene();
    trace_probes<Engine>(where, scene_.rays(),
                         traced_index<core::cgrx_scene<Key, RowId>, Key, scene_entries>{
                             of,
                             {of, entries_.row_ids.data()},
                             scene_.column(),
                             scene_.sorted_bits(),
                             options_.order},
                         operation);
  }

  std::uint64_t do_repairs(stream_t stream) const override {
    // Nothing is allocated for it.
    return executor::read({const_cast<built_cgrx*>(this)->memory(), stream}, repairs_.data());
  }

  cgrx_options options_;
  sorted_column<Key, RowId> entries_;
  buffer<std::uint64_t> repairs_;
  scene scene_;
};

namespace cpu {
std::unique_ptr<cgrx> build(const index_info& info, const context& where_to, const column& keys,
                            const std::optional<column>& row_ids, const cgrx_options& options);
}
namespace optix {
std::unique_ptr<cgrx> build(const index_info& info, const context& where_to, const column& keys,
                            const std::optional<column>& row_ids, const cgrx_options& options);
}

}  // namespace raydex
