// SPDX-License-Identifier: Apache-2.0
// What the engines' RX have in common: all but the sort and the tracing.
//
// An engine has an `executor`; `sort_column` and `sort_pairs` as the backends have them; and a
// class template `tracer<Key, RowId>` that is made of a context, the resource that counts what the
// index holds, and a `scene_plan`, and has `trace(where, job)`, which runs all lookups of a job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "answering.hpp"
#include "raydex/core/rx.hpp"
#include "raydex/core/sorted_array.hpp"
#include "raydex/error.hpp"
#include "raydex/rx.hpp"
#include "sorted_column.hpp"

namespace raydex {

// A scene that an engine is to build: primitives of the keys of `scene`, in parts.
template <class Key, class RowId>
struct scene_plan {
  core::rx_scene<Key, RowId> scene;
  std::vector<std::uint64_t> part_begins;  // of each part, and of the one after the last
  core::primitive_kind primitive;
  bool compact;
  bool fast_build;
};

// Marks the entries whose key is not the one before it.
template <class Key>
struct mark_first_of_key {
  const Key* keys;
  std::uint64_t* marks;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    marks[i] = i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
  }
};

// From how many keys begin up to each entry, to where each of them begins.
template <class RowId>
struct put_first_entry {
  const std::uint64_t* ordinals;
  RowId* first_entries;
  std::uint64_t size;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (i == size) {
      first_entries[size == 0 ? 0 : ordinals[size - 1]] = static_cast<RowId>(size);
    } else if (i == 0 || ordinals[i] != ordinals[i - 1]) {
      first_entries[ordinals[i] - 1] = static_cast<RowId>(i);
    }
  }
};

// Numbers the parts' beginnings where lookups see them.
template <class RowId>
struct put_part_begins {
  std::uint64_t primitives;
  std::uint64_t parts;
  RowId* begins;
  RAYDEX_HD static std::uint64_t begin(std::uint64_t part, std::uint64_t parts,
                                       std::uint64_t primitives) {
    const std::uint64_t each = primitives / parts;
    const std::uint64_t more = primitives % parts;
    return part * each + (part < more ? part : more);
  }
  RAYDEX_HD void operator()(std::uint64_t part) const {
    begins[part] = static_cast<RowId>(begin(part, parts, primitives));
  }
};

// The lower end of a probe as its code, with its number; what matches nothing goes to the end.
template <class Key>
struct put_probe {
  core::probe_set<Key> probes;
  std::uint64_t begin;
  Key* keys;
  std::uint32_t* numbers;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    core::interval<Key> wanted;
    keys[i] = probes.read(begin + i, wanted) ? wanted.lower : static_cast<Key>(-1);
    numbers[i] = static_cast<std::uint32_t>(i);
  }
};

// Throws `unsupported` where the largest key has no place.
void check_places(std::uint64_t largest_key, std::uint64_t largest_place);

// Copies a number of any width.
template <class Key>
struct copy_number {
  const Key* from;
  std::uint64_t* to;
  RAYDEX_HD void operator()(std::uint64_t) const { *to = *from; }
};

template <class Key, class RowId, class Engine>
class built_rx final
    : public answering_as<built_rx<Key, RowId, Engine>, rx,
                          core::sorted_array_view<core::column_entries<Key, RowId>>,
                          typename Engine::executor> {
  using view = core::sorted_array_view<core::column_entries<Key, RowId>>;
  using executor = typename Engine::executor;

 public:
  built_rx(const index_info& info, const context& where_to, const column& keys,
           const std::optional<column>& row_ids, const rx_options& options)
      : built_rx::answering_as(where_to.memory), order_(options.order) {
    this->info_ = info;
    const context where{this->memory(), where_to.stream};
    entries_ = Engine::template sort_column<Key, RowId>(where, keys, row_ids);
    const std::uint64_t size = entries_.keys.size();
    this->info_.entries = size;
    this->info_.max_row_id = entries_.max_row_id;

    scene_plan<Key, RowId> plan;
    plan.primitive = Engine::primitive_of(options.primitive);
    plan.compact = options.compact;
    plan.fast_build = options.fast_build;
    core::rx_scene<Key, RowId>& scene = plan.scene;
    scene.grid = grid_of(options);
    scene.points = options.points;
    scene.ranges_from_zero = options.ranges_from_zero;
    scene.hits = options.hits;
    scene.keys = entries_.keys.data();
    scene.entries = static_cast<RowId>(size);
    check_place(where, scene.grid);
    std::uint64_t primitives = size;
    if (options.compress && size != 0) primitives = compress(where);
    scene.first_entries = first_entries_.data();
    scene.primitives = static_cast<RowId>(primitives);

    const std::uint64_t most = Engine::most_primitives();
    const std::uint64_t parts = std::clamp<std::uint64_t>(
        options.parts, (primitives + most - 1) / most, std::max<std::uint64_t>(primitives, 1));
    using put_begins = put_part_begins<RowId>;
    part_begins_ = {where, parts};
    executor::for_each(where, put_begins{primitives, parts, part_begins_.data()}, parts);
    for (std::uint64_t part = 0; part <= parts; ++part)
      plan.part_begins.push_back(put_begins::begin(part, parts, primitives));
    scene.part_begins = part_begins_.data();
    scene.parts = static_cast<unsigned>(parts);

    tracer_ = std::make_unique<tracer>(where, this->memory(), plan);
    scene_ = scene;
    this->measure();
  }

 private:
  using tracer = typename Engine::template tracer<Key, RowId>;
  friend typename built_rx::answering_as;

  static core::key_grid grid_of(const rx_options& options) {
    if (options.mode == rx_mode::extended) return {.stretched = true};
    if (options.mode == rx_mode::naive) return {.x_bits = 23, .y_bits = 0, .z_bits = 0};
    return {.x_bits = static_cast<std::uint8_t>(options.x_bits),
            .y_bits = static_cast<std::uint8_t>(options.y_bits),
            .z_bits = static_cast<std::uint8_t>(options.z_bits)};
  }

  // Throws if some key has no place in the grid.
  void check_place(const context& where, const core::key_grid& grid) const {
    const std::uint64_t size = entries_.keys.size();
    if (size == 0 || grid.largest() >= static_cast<Key>(-1)) return;
    buffer<std::uint64_t> largest(where, 1);
    executor::for_each(where, copy_number<Key>{entries_.keys.data() + size - 1, largest.data()}, 1);
    check_places(executor::read(where, largest.data()), grid.largest());
  }

  // One primitive for equal keys. Returns how many keys differ; where all do, no table is kept.
  std::uint64_t compress(const context& where) {
    const std::uint64_t size = entries_.keys.size();
    buffer<std::uint64_t> ordinals(where, size);
    executor::for_each(where, mark_first_of_key<Key>{entries_.keys.data(), ordinals.data()}, size);
    executor::inclusive_sum(where, ordinals.data(), size);
    const std::uint64_t distinct = executor::read(where, ordinals.data() + size - 1);
    if (distinct == size) return size;
    first_entries_ = {where, distinct + 1};
    executor::for_each(where, put_first_entry<RowId>{ordinals.data(), first_entries_.data(), size},
                       size + 1);
    return distinct;
  }

  view queried() const override {
    return {{entries_.keys.data(), entries_.row_ids.data()},
            static_cast<RowId>(entries_.keys.size())};
  }

  // Traces a batch part by part, and answers each.
  template <class Operation>
  void run(const context& where, const Operation& operation) const {
    const rx_order order = order_ == rx_order::automatic ? Engine::best_order : order_;
    const std::uint64_t most = most_at_once(order);
    const std::uint64_t each = std::min(operation.probes.size, most);
    buffer<RowId> firsts(where, each);
    buffer<RowId> counts(where, scene_.hits == core::ray_hits::any ? each : 0);
    const bool sorted = order != rx_order::batch;
    buffer<Key> keys(where, sorted ? 2 * each : 0);
    buffer<std::uint32_t> numbers(where, sorted ? 2 * each : 0);

    core::trace_job<Key, RowId> job{.scene = scene_, .probes = operation.probes};
    job.firsts = firsts.data();
    job.counts = counts.data();
    for (; job.begin < operation.probes.size; job.begin += job.size) {
      job.size = std::min(each, operation.probes.size - job.begin);
      if (sorted) {
        executor::for_each(where,
                           put_probe<Key>{operation.probes, job.begin, keys.data(), numbers.data()},
                           job.size);
        Engine::sort_pairs(where, keys.data(), keys.data() + each, numbers.data(),
                           numbers.data() + each, job.size);
        job.order = numbers.data() + each;
      }
      tracer_->trace(where, job);
      executor::run(where, batch_plan{},
                    core::answer_traced<Operation, Key, RowId>{
                        operation.view, {job.size}, operation, job, operation.out});
    }
  }

  static std::uint64_t most_at_once(rx_order order) {
    switch (order) {
      case rx_order::tiles:
        return std::uint64_t{1} << 21;
      case rx_order::sorted:
        return std::uint64_t{1} << 28;
      default:
        return (std::uint64_t{1} << 26) / (2 * sizeof(RowId));
    }
  }

  sorted_column<Key, RowId> entries_;
  buffer<RowId> first_entries_;
  buffer<RowId> part_begins_;
  std::unique_ptr<tracer> tracer_;
  core::rx_scene<Key, RowId> scene_;
  rx_order order_;
};

namespace cpu {
std::unique_ptr<rx> build(const index_info& info, const context& where_to, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options);
}
namespace optix {
std::unique_ptr<rx> build(const index_info& info, const context& where_to, const column& keys,
                          const std::optional<column>& row_ids, const rx_options& options);
}

}  // namespace raydex
