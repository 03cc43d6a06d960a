// SPDX-License-Identifier: Apache-2.0
// What the engines' cgRX have in common: all but the sort and the tracing.
//
// Besides what traced_batches.hpp asks of it, an engine has `sort_column` and a `tracer<Scene>` as
// rx_scene.hpp says, `most_primitives()` of a part, `best_buckets()` of one, and
// `download(where, from, size)`, a vector of what is in the backend's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "answering.hpp"
#include "edited.hpp"
#include "key_column.hpp"
#include "ray_options.hpp"
#include "raydex/cgrx.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/sorted_array.hpp"
#include "scene_plan.hpp"
#include "sorted_column.hpp"
#include "traced_batches.hpp"

namespace raydex {

// Describes the parts of a scene.
template <class Key, class RowId>
struct put_cgrx_part {
  core::cgrx_scene<Key, RowId> scene;
  bool fit;
  core::cgrx_part<Key, RowId>* parts;

  RAYDEX_HD void operator()(std::uint64_t number) const {
    core::cgrx_part<Key, RowId> made{};
    const std::uint64_t begin = part_begin(number, scene.part_count, scene.buckets);
    const std::uint64_t next = part_begin(number + 1, scene.part_count, scene.buckets);
    made.first_bucket = static_cast<RowId>(begin);
    made.buckets = static_cast<RowId>(next - begin);
    made.first = scene.representative(made.first_bucket);
    made.last = scene.representative(made.first_bucket + made.buckets - 1);
    if (fit) {
      made.base = made.first;
      const auto range = static_cast<Key>(made.last - made.first);
      const unsigned bits = range == 0 ? 0 : core::floor_log2(range) + 1;
      made.shift =
          static_cast<std::uint8_t>(bits > scene.grid.x_bits ? bits - scene.grid.x_bits : 0);
    }
    const core::cell low = scene.cell_in(made, made.first);
    const core::cell high = scene.cell_in(made, made.last);
    made.planes = low.z != high.z;
    made.rows = made.planes || low.y != high.y;
    parts[number] = made;
  }
};

// Writes the representatives of a scene.
template <class Key, class RowId>
struct put_representative {
  core::cgrx_scene<Key, RowId> scene;
  Key* representatives;
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    representatives[bucket] = scene.representative(static_cast<RowId>(bucket));
  }
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
  using scene = core::cgrx_scene<Key, RowId>;
  using tracer = typename Engine::template tracer<scene>;

 public:
  built_cgrx(const index_info& info, const context& where_to, const column& keys,
             const std::optional<column>& row_ids, const cgrx_options& options)
      : built_cgrx::answering_as(where_to.memory), options_(options) {
    this->info_ = info;
    const context where{this->memory(), where_to.stream};
    repairs_ = {where, 1};
    executor::clear(where, repairs_.data());
    entries_ = Engine::template sort_column<Key, RowId>(where, keys, row_ids);
    buckets_ = place(where, entries_);
    describe();
  }

 private:
  friend typename built_cgrx::answering_as;

  // The scene, and what it was made of.
  struct placed_buckets {
    key_column<Key> column{};  // as it was then
    int sorted_bits = 0;
    buffer<core::cgrx_part<Key, RowId>> parts;
    scene_plan<scene> plan;
    std::unique_ptr<tracer> rays;
    buffer<Key> representatives;  // once entries were edited
    buffer<RowId> begins;
  };

  placed_buckets place(const context& where, const sorted_column<Key, RowId>& entries) {
    placed_buckets made;
    made.column = describe_keys<executor>(where, entries.keys.data(), entries.keys.size());
    made.sorted_bits = bits_to_sort<executor>(where, made.column);
    lay_out(where, made);
    made.rays = std::make_unique<tracer>(where, this->memory(), made.plan);
    // What comes before may be freed on another stream from here on.
    executor::synchronise(where);
    return made;
  }

  void lay_out(const context& where, placed_buckets& made) const {
    scene_plan<scene>& plan = made.plan;
    plan.compact = options_.compact.value_or(!options_.fast_build);
    plan.fast_build = options_.fast_build;
    scene& to = plan.scene;
    to.markers = options_.markers;
    to.linear_search = options_.linear_search;
    to.keys = made.column.keys;
    to.entries = static_cast<RowId>(made.column.size);
    to.bucket_size = static_cast<RowId>(options_.bucket);
    const std::uint64_t buckets = (made.column.size + options_.bucket - 1) / options_.bucket;
    to.buckets = static_cast<RowId>(buckets);
    to.repairs = const_cast<std::uint64_t*>(repairs_.data());
    plan.part_begins = {0};
    if (buckets == 0) return;

    const bool fit = options_.mapping == cgrx_mapping::fit;
    const auto divided_by = [&](std::uint64_t divisor) {
      return (buckets + divisor - 1) / divisor;
    };
    const std::uint64_t fewest = divided_by(Engine::most_primitives() / 3);
    const std::uint64_t count = std::clamp(
        options_.parts != 0 ? options_.parts : divided_by(Engine::best_buckets()), fewest, buckets);
    to.part_count = static_cast<unsigned>(count);
    to.grid = fit ? fitted_grid(divided_by(count)) : grid_of(made.column.largest);
    made.parts = {where, count};
    executor::for_each(where, put_cgrx_part<Key, RowId>{to, fit, made.parts.data()}, count);
    to.parts = made.parts.data();
    for (const auto& part : Engine::download(where, std::as_const(made.parts).data(), count))
      plan.part_begins.push_back(plan.part_begins.back() + scene::triangles(part));
  }

  // A row with 32 to 64 places for each bucket, as far as floats allow, of which the keys fill half
  // at least: neighbours are apart, and rays from one to the next are short.
  static core::key_grid fitted_grid(std::uint64_t buckets_of_part) {
    const unsigned bits = core::floor_log2(buckets_of_part) + 6;
    return {.x_bits = static_cast<std::uint8_t>(std::min(bits, 23U)), .y_bits = 0, .z_bits = 0};
  }
  core::key_grid grid_of(Key largest) const {
    const auto step = [](unsigned power) { return static_cast<float>(std::uint64_t{1} << power); };
    const core::key_grid grid = {.x_bits = static_cast<std::uint8_t>(options_.x_bits),
                                 .y_bits = static_cast<std::uint8_t>(options_.y_bits),
                                 .z_bits = static_cast<std::uint8_t>(options_.z_bits),
                                 .y_step = step(options_.scale.y),
                                 .z_step = step(options_.scale.z)};
    check_places(largest, grid.largest(), "mapping=fit, or more bits");
    return grid;
  }

  // The batch is merged into the column. The scene stays: buckets grow and shrink with their keys.
  void do_edit(stream_t stream, const edits& batch) override {
    const context where{this->memory(), stream};
    const auto sorted = sort_edits<Engine, Key, RowId>(where, batch);
    auto changed = edited<Engine>(where, entries_, sorted);
    if (!changed) return;
    changed->max_row_id = std::max(entries_.max_row_id, sorted.insert.max_row_id);
    if (buckets_.plan.scene.buckets == 0) {
      buckets_ = place(where, *changed);
    } else {
      keep_scene(where, *changed);
    }
    this->info_.n = this->info_.n - entries_.keys.size() + changed->keys.size();
    entries_ = std::move(*changed);
    describe();
  }

  // Has buckets hold what they are to hold of other entries; or places these anew, if the buckets
  // would be too uneven.
  void keep_scene(const context& where, const sorted_column<Key, RowId>& entries) {
    const scene& of = buckets_.plan.scene;
    const std::uint64_t size = entries.keys.size();
    buffer<Key> representatives;
    if (of.representatives == nullptr) {
      representatives = {where, of.buckets};
      executor::for_each(where, put_representative<Key, RowId>{of, representatives.data()},
                         of.buckets);
    }
    const Key* kept = of.representatives != nullptr ? of.representatives : representatives.data();
    buffer<RowId> begins(where, std::uint64_t{of.buckets} + 1);
    executor::for_each(
        where, put_bucket_begin<Key, RowId>{list_of(entries), kept, of.buckets, begins.data()},
        begins.size());
    if (is_uneven(where, entries.keys.data(), size, begins)) {
      buckets_ = place(where, entries);
      return;
    }
    executor::synchronise(where);
    if (representatives.size() != 0) buckets_.representatives = std::move(representatives);
    buckets_.begins = std::move(begins);
    scene& to = buckets_.plan.scene;
    to.keys = buckets_.column.keys = entries.keys.data();
    to.entries = static_cast<RowId>(size);
    to.representatives = buckets_.representatives.data();
    to.begins = buckets_.begins.data();
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
    buckets_ = place({this->memory(), stream}, entries_);
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
    trace_probes<Engine>(
        where, *buckets_.rays,
        traced_index<scene, RowId, Key>{buckets_.plan.scene, entries_.row_ids.data(),
                                        buckets_.column, buckets_.sorted_bits, options_.order},
        operation);
  }

  std::uint64_t do_repairs(stream_t stream) const override {
    // Nothing is allocated for it.
    return executor::read({const_cast<built_cgrx*>(this)->memory(), stream}, repairs_.data());
  }

  cgrx_options options_;
  sorted_column<Key, RowId> entries_;
  buffer<std::uint64_t> repairs_;
  placed_buckets buckets_;
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
