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
      : built_cgrx::answering_as(where_to.memory), order_(options.order) {
    this->info_ = info;
    const context where{this->memory(), where_to.stream};
    entries_ = Engine::template sort_column<Key, RowId>(where, keys, row_ids);
    column_ =
        describe_keys<executor>(where, std::as_const(entries_.keys).data(), entries_.keys.size());
    sorted_bits_ = bits_to_sort<executor>(where, column_);
    this->info_.entries = column_.size;
    this->info_.max_row_id = entries_.max_row_id;
    repairs_ = {where, 1};
    executor::clear(where, repairs_.data());
    lay_out(where, options);
    tracer_ = std::make_unique<tracer>(where, this->memory(), plan_);
    this->measure();
  }

 private:
  friend typename built_cgrx::answering_as;

  void lay_out(const context& where, const cgrx_options& options) {
    plan_.compact = options.compact.value_or(!options.fast_build);
    plan_.fast_build = options.fast_build;
    scene& to = plan_.scene;
    to.markers = options.markers;
    to.linear_search = options.linear_search;
    to.keys = column_.keys;
    to.entries = static_cast<RowId>(column_.size);
    to.bucket_size = static_cast<RowId>(options.bucket);
    const std::uint64_t buckets = (column_.size + options.bucket - 1) / options.bucket;
    to.buckets = static_cast<RowId>(buckets);
    to.repairs = repairs_.data();
    plan_.part_begins = {0};
    if (buckets == 0) return;

    const bool fit = options.mapping == cgrx_mapping::fit;
    const auto divided_by = [&](std::uint64_t divisor) {
      return (buckets + divisor - 1) / divisor;
    };
    const std::uint64_t fewest = divided_by(Engine::most_primitives() / 3);
    const std::uint64_t count = std::clamp(
        options.parts != 0 ? options.parts : divided_by(Engine::best_buckets()), fewest, buckets);
    to.part_count = static_cast<unsigned>(count);
    to.grid = fit ? fitted_grid(divided_by(count)) : grid_of(options);
    parts_ = {where, count};
    executor::for_each(where, put_cgrx_part<Key, RowId>{to, fit, parts_.data()}, count);
    to.parts = parts_.data();
    for (const auto& part : Engine::download(where, std::as_const(parts_).data(), count))
      plan_.part_begins.push_back(plan_.part_begins.back() + scene::triangles(part));
  }

  // A row with 32 to 64 places for each bucket, as far as floats allow, of which the keys fill half
  // at least: neighbours are apart, and rays from one to the next are short.
  static core::key_grid fitted_grid(std::uint64_t buckets_of_part) {
    const unsigned bits = core::floor_log2(buckets_of_part) + 6;
    return {.x_bits = static_cast<std::uint8_t>(std::min(bits, 23U)), .y_bits = 0, .z_bits = 0};
  }
  core::key_grid grid_of(const cgrx_options& options) const {
    const auto step = [](unsigned power) { return static_cast<float>(std::uint64_t{1} << power); };
    const core::key_grid grid = {.x_bits = static_cast<std::uint8_t>(options.x_bits),
                                 .y_bits = static_cast<std::uint8_t>(options.y_bits),
                                 .z_bits = static_cast<std::uint8_t>(options.z_bits),
                                 .y_step = step(options.scale.y),
                                 .z_step = step(options.scale.z)};
    check_places(column_.largest, grid.largest(), "mapping=fit, or more bits");
    return grid;
  }

  view queried() const override {
    return {{entries_.keys.data(), entries_.row_ids.data()},
            static_cast<RowId>(entries_.keys.size())};
  }

  template <class Operation>
  void run(const context& where, const Operation& operation) const {
    trace_probes<Engine>(where, *tracer_,
                         traced_index<scene, RowId, Key>{plan_.scene, entries_.row_ids.data(),
                                                         column_, sorted_bits_, order_},
                         operation);
  }

  std::uint64_t do_repairs(stream_t stream) const override {
    // Nothing is allocated for it.
    return executor::read({const_cast<built_cgrx*>(this)->memory(), stream}, repairs_.data());
  }

  sorted_column<Key, RowId> entries_;
  key_column<Key> column_{};  // `entries_`, as the scene sees it
  int sorted_bits_ = 0;
  rx_order order_;
  buffer<core::cgrx_part<Key, RowId>> parts_;
  buffer<std::uint64_t> repairs_;
  scene_plan<scene> plan_;
  std::unique_ptr<tracer> tracer_;
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
