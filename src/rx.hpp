// SPDX-License-Identifier: Apache-2.0
// What the engines' RX have in common: all but the sort and the tracing.
//
// An engine has an `executor`; `sort_column` as the backends have it; and
// - `sort_probes(where, keys, sorted_keys, numbers, sorted_numbers, size, first_bit, last_bit)`,
//   which sorts by these bits of the keys at least;
// - `scatter(where, numbers, rows, out, size)`: out[numbers[i]] = rows[i];
// - `primitive_of(choice)`, `most_primitives()` of a part, `best_part()`, their best number, and
//   `best_order`;
// - a class template `tracer<Key, RowId>` that is made of a context, the resource that counts what
//   the index holds, and a `scene_plan`, and has `trace(where, job)`, which runs a job's lookups.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
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

// Says whether some key is equal to the one after it.
template <class Key>
struct find_equal_keys {
  const Key* keys;
  std::uint64_t* found;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (keys[i] != keys[i + 1]) return;
#if defined(__CUDA_ARCH__)
    *found = 1;  // whoever writes it, it is the same
#else
    std::atomic_ref(*found).store(1, std::memory_order_relaxed);
#endif
  }
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

// From how many keys begin up to each entry, to where each of them begins; there are entries.
template <class RowId>
struct put_first_entry {
  const std::uint64_t* ordinals;
  RowId* first_entries;
  std::uint64_t size;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (i == size) {
      first_entries[ordinals[size - 1]] = static_cast<RowId>(size);
    } else if (i == 0 || ordinals[i] != ordinals[i - 1]) {
      first_entries[ordinals[i] - 1] = static_cast<RowId>(i);
    }
  }
};

// Writes where parts begin, and with which keys.
template <class Key, class RowId>
struct put_part_begins {
  core::rx_scene<Key, RowId> scene;
  std::uint64_t parts;
  RowId* begins;
  Key* keys;

  // Parts are as equal as they can be.
  RAYDEX_HD static std::uint64_t begin(std::uint64_t part, std::uint64_t parts,
                                       std::uint64_t primitives) {
    const std::uint64_t more = primitives % parts;
    return part * (primitives / parts) + (part < more ? part : more);
  }
  RAYDEX_HD void operator()(std::uint64_t part) const {
    begins[part] = static_cast<RowId>(begin(part, parts, scene.primitives));
    keys[part] = scene.primitives == 0 ? Key{0} : scene.key_of(begins[part]);
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

// Writes rows where they belong.
template <class RowId>
struct put_row {
  const std::uint32_t* numbers;
  const RowId* rows;
  RowId* out;
  RAYDEX_HD void operator()(std::uint64_t i) const { out[numbers[i]] = rows[i]; }
};

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
    plan.compact = options.compact.value_or(!options.fast_build);
    plan.fast_build = options.fast_build;
    core::rx_scene<Key, RowId>& scene = plan.scene;
    scene.points = options.points;
    scene.ranges_from_zero = options.ranges_from_zero;
    scene.hits = options.hits;
    scene.trusts_misses = trusts_misses(options);
    scene.keys = entries_.keys.data();
    scene.entries = static_cast<RowId>(size);
    const Key smallest = size == 0 ? Key{0} : key_at(where, 0);
    const Key largest = size == 0 ? Key{0} : key_at(where, size - 1);
    scene.grid = grid_of(options, largest);
    check_places(largest, scene.grid.largest());
    last_bit_ = static_cast<int>(std::bit_width(static_cast<Key>(smallest ^ largest)));
    scene.primitives = static_cast<RowId>(options.compress && size != 0 ? compress(where) : size);
    scene.first_entries = first_entries_.data();
    divide(where, options.parts, plan);
    tracer_ = std::make_unique<tracer>(where, this->memory(), plan);
    scene_ = scene;
    this->measure();
  }

 private:
  using tracer = typename Engine::template tracer<Key, RowId>;
  friend typename built_rx::answering_as;

  // Bits of keys that probes are sorted by, of those in which keys differ: enough to bring together
  // what meets the same part of the scene.
  static constexpr int sorted_bits = 24;

  static core::key_grid grid_of(const rx_options& options, Key largest) {
    if (options.mode == rx_mode::extended) return core::key_grid::stretch(largest);
    if (options.mode == rx_mode::naive) return {.x_bits = 23, .y_bits = 0, .z_bits = 0};
    return {.x_bits = static_cast<std::uint8_t>(options.x_bits),
            .y_bits = static_cast<std::uint8_t>(options.y_bits),
            .z_bits = static_cast<std::uint8_t>(options.z_bits)};
  }

  // Engines compute with floats: along a ray from far away they may miss what is there, and so they
  // may with a primitive as wide as the gap between two floats. The column is asked then.
  static bool trusts_misses(const rx_options& options) {
    return options.mode != rx_mode::extended && options.points != core::point_ray::zero;
  }

  Key key_at(const context& where, std::uint64_t entry) const {
    buffer<std::uint64_t> copy(where, 1);
    executor::for_each(where, copy_number<Key>{entries_.keys.data() + entry, copy.data()}, 1);
    return static_cast<Key>(executor::read(where, copy.data()));
  }

  // One primitive for equal keys. Returns how many keys differ; where all do, no table is kept.
  std::uint64_t compress(const context& where) {
    const std::uint64_t size = entries_.keys.size();
    const Key* keys = entries_.keys.data();
    buffer<std::uint64_t> equal(where, 1);
    executor::clear(where, equal.data());
    executor::for_each(where, find_equal_keys<Key>{keys, equal.data()}, size - 1);
    if (executor::read(where, equal.data()) == 0) return size;

    buffer<std::uint64_t> ordinals(where, size);
    executor::for_each(where, mark_first_of_key<Key>{keys, ordinals.data()}, size);
    executor::inclusive_sum(where, ordinals.data(), size);
    const std::uint64_t distinct = executor::read(where, ordinals.data() + size - 1);
    first_entries_ = {where, distinct + 1};
    executor::for_each(where, put_first_entry<RowId>{ordinals.data(), first_entries_.data(), size},
                       size + 1);
    return distinct;
  }

  // Divides the primitives of a plan's scene into parts; 0: as many as serve the engine best.
  void divide(const context& where, unsigned wanted, scene_plan<Key, RowId>& plan) {
    const std::uint64_t primitives = plan.scene.primitives;
    const auto parts_of = [&](std::uint64_t each) { return (primitives + each - 1) / each; };
    const std::uint64_t fewest = std::max<std::uint64_t>(parts_of(Engine::most_primitives()), 1);
    const std::uint64_t parts = std::clamp(wanted != 0 ? wanted : parts_of(Engine::best_part()),
                                           fewest, std::max(fewest, primitives));
    part_begins_ = {where, parts};
    part_keys_ = {where, parts};
    using put_begins = put_part_begins<Key, RowId>;
    executor::for_each(where, put_begins{plan.scene, parts, part_begins_.data(), part_keys_.data()},
                       parts);
    for (std::uint64_t part = 0; part <= parts; ++part)
      plan.part_begins.push_back(put_begins::begin(part, parts, primitives));
    plan.scene.part_begins = part_begins_.data();
    plan.scene.part_keys = part_keys_.data();
    plan.scene.parts = static_cast<unsigned>(parts);
  }

  view queried() const override {
    return {{entries_.keys.data(), entries_.row_ids.data()},
            static_cast<RowId>(entries_.keys.size())};
  }

  // Traces a batch, a stretch of it at a time, and answers what was traced.
  template <class Operation>
  void run(const context& where, const Operation& operation) const {
    const rx_order order = order_ == rx_order::automatic ? Engine::best_order : order_;
    const core::probe_set<Key>& probes = operation.probes;
    const std::uint64_t each = std::min(probes.size, most_at_once(order));
    const bool sorted = order != rx_order::batch;
    constexpr bool rows_only = requires {
      Operation::first_match_only;
    };
    buffer<RowId> firsts(where, rows_only && !sorted ? 0 : each);
    buffer<RowId> counts(where, !rows_only && scene_.hits == core::ray_hits::any ? each : 0);
    buffer<Key> keys(where, sorted ? 2 * each : 0);
    buffer<std::uint32_t> numbers(where, sorted ? 2 * each : 0);

    core::trace_job<Key, RowId> job{.scene = scene_, .probes = probes};
    job.firsts = firsts.data();
    job.counts = counts.data();
    for (; job.begin < probes.size; job.begin += job.size) {
      job.size = std::min(each, probes.size - job.begin);
      if (sorted) {
        executor::for_each(where, put_probe<Key>{probes, job.begin, keys.data(), numbers.data()},
                           job.size);
        Engine::sort_probes(where, keys.data(), keys.data() + each, numbers.data(),
                            numbers.data() + each, job.size, std::max(last_bit_ - sorted_bits, 0),
                            last_bit_);
        job.order = numbers.data() + each;
        // Those of missing probes are no keys.
        if (probes.is_points && probes.lower.validity == nullptr) job.points = keys.data() + each;
      }
      if constexpr (rows_only) {
        job.row_ids = entries_.row_ids.data();
        job.rows = sorted ? firsts.data() : operation.out + job.begin;
        tracer_->trace(where, job);
        if (sorted) {
          Engine::scatter(where, job.order, job.rows, operation.out + job.begin, job.size);
        }
      } else {
        tracer_->trace(where, job);
        executor::run(where, batch_plan{},
                      core::answer_traced<Operation, Key, RowId>{
                          operation.view, {job.size}, operation, job, operation.out});
      }
    }
  }

  // In the order of the batch there is no need for more than 64 MiB of scratch.
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
  buffer<Key> part_keys_;
  std::unique_ptr<tracer> tracer_;
  core::rx_scene<Key, RowId> scene_;
  rx_order order_;
  int last_bit_ = 0;  // the bits of keys above are all equal
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
