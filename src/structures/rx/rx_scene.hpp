// SPDX-License-Identifier: Apache-2.0
// A scene over a sorted column, whatever the engine that traces it: which primitives it has, how
// they are divided into parts, and what the engine built of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/rx.hpp"
#include "raydex/rx.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/engine.hpp"
#include "src/structures/shared/scene_options.hpp"

namespace raydex {

// The grid that the options ask for. Throws `unsupported` where it has no place for the largest
// key.
inline core::key_grid rx_bits_grid(const rx_options& options, std::uint64_t largest) {
  core::key_grid grid;
  if (options.mode == rx_mode::extended) {
    grid = core::key_grid::extended_to(largest);
  } else if (options.mode == rx_mode::naive) {
    grid = {.x_bits = 23, .y_bits = 0, .z_bits = 0};
  } else {
    grid = {.x_bits = static_cast<std::uint8_t>(options.bits.x),
            .y_bits = static_cast<std::uint8_t>(options.bits.y),
            .z_bits = static_cast<std::uint8_t>(options.bits.z)};
  }
  check_places(largest, grid.largest(), "mode=3d with more bits");
  return grid;
}

inline void check_rx_places(const rx_options& options, std::uint64_t largest) {
  rx_bits_grid(options, largest);
}

// The same, no wider than its keys, and with its steps.
template <class Engine>
core::key_grid rx_grid(const rx_options& options, std::uint64_t largest) {
  core::key_grid grid = rx_bits_grid(options, largest);
  if (options.mode != rx_mode::grid) return grid;

  // Bits that no key has only move the scene away from 0, where floats are finest.
  const auto used = static_cast<unsigned>(std::bit_width(largest));
  const unsigned y_bits = std::min(used - std::min(used, options.bits.x), options.bits.y);
  const unsigned z_bits = used - std::min(used, options.bits.x + y_bits);
  rx_scale scale;
  if (options.scale) {
    scale = *options.scale;
  } else if (options.primitive != rx_primitive::sphere) {
    scale = Engine::best_scale(z_bits != 0);
    scale.y = std::min(scale.y, rx_scale::most - y_bits);
    scale.z = std::min(scale.z, rx_scale::most - z_bits);
  }
  const auto step = [](unsigned power) { return static_cast<float>(std::uint64_t{1} << power); };
  grid.y_bits = static_cast<std::uint8_t>(y_bits);
  grid.z_bits = static_cast<std::uint8_t>(z_bits);
  grid.y_step = step(scale.y);
  grid.z_step = step(scale.z);
  return grid;
}

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

  RAYDEX_HD void operator()(std::uint64_t part) const {
    begins[part] = static_cast<RowId>(part_begin(part, parts, scene.primitives));
    keys[part] = scene.primitives == 0 ? Key{0} : scene.key_of(begins[part]);
  }
};

template <class Key, class RowId, engine Engine>
class built_scene {
  using executor = typename Engine::executor;
  using tracer = typename Engine::template tracer<core::rx_scene<Key, RowId>>;

 public:
  // Lays the scene out; `build` comes next. The column must stay as long as it is traced, as must
  // `repairs`, which counts lookups that rays did not answer rightly.
  built_scene(const context& on, const key_column<Key>& column, const rx_options& options,
              std::uint64_t* repairs) {
    plan_.primitive = Engine::primitive_of(options.primitive);
    plan_.compact = options.compact.value_or(options.build == rx_build::trace);
    plan_.fast_build = options.build == rx_build::fast;
    core::rx_scene<Key, RowId>& scene = plan_.scene;
    scene.ranges_from_zero = options.ranges == rx_ranges::zero;
    scene.hits = options.hits;
    // Engines compute with floats, and may miss a primitive as wide as the gap between two of them.
    // The column is searched then.
    scene.trusts_misses = options.mode != rx_mode::extended;
    scene.repairs = repairs;
    scene.keys = column.keys;
    scene.entries = static_cast<RowId>(column.size);
    scene.grid = rx_grid<Engine>(options, column.largest);
    scene.primitives = static_cast<RowId>(
        options.duplicates == rx_duplicates::compress && column.size != 0 ? compress(on, column)
                                                                          : column.size);
    scene.first_entries = first_entries_.data();
    divide(on, options.parts);
  }

  // Has the engine build it. What the engine itself allocates is counted in `memory`.
  void build(const context& on, memory_resource& memory) {
    tracer_ = std::make_unique<tracer>(on, memory, plan_);
  }

  const core::rx_scene<Key, RowId>& scene() const { return plan_.scene; }

  // Runs the lookups of a job of this scene.
  template <class Job>
  void trace(const context& on, const Job& job) const {
    tracer_->trace(on, job);
  }

 private:
  // One primitive for equal keys. Returns how many keys differ; where all do, no table is kept.
  std::uint64_t compress(const context& on, const key_column<Key>& column) {
    const std::uint64_t size = column.size;
    buffer<std::uint64_t> equal(on, 1);
    executor::clear(on, equal.data());
    executor::for_each(on, find_equal_keys<Key>{column.keys, equal.data()}, size - 1);
    if (executor::read(on, equal.data()) == 0) return size;

    buffer<std::uint64_t> ordinals(on, size);
    executor::for_each(on, mark_first_of_key<Key>{column.keys, ordinals.data()}, size);
    executor::inclusive_sum(on, ordinals.data(), size);
    const std::uint64_t distinct = executor::read(on, ordinals.data() + size - 1);
    first_entries_ = {on, distinct + 1};
    executor::for_each(on, put_first_entry<RowId>{ordinals.data(), first_entries_.data(), size},
                       size + 1);
    return distinct;
  }

  // Divides the primitives into parts; 0: as many as serve the engine best.
  void divide(const context& on, unsigned wanted) {
    core::rx_scene<Key, RowId>& scene = plan_.scene;
    const std::uint64_t primitives = scene.primitives;
    const auto parts_of = [&](std::uint64_t each) { return (primitives + each - 1) / each; };
    const std::uint64_t fewest = std::max<std::uint64_t>(parts_of(Engine::most_primitives()), 1);
    const std::uint64_t parts = std::clamp(wanted != 0 ? wanted : parts_of(Engine::best_part()),
                                           fewest, std::max(fewest, primitives));
    part_begins_ = {on, parts};
    part_keys_ = {on, parts};
    executor::for_each(
        on, put_part_begins<Key, RowId>{scene, parts, part_begins_.data(), part_keys_.data()},
        parts);
    for (std::uint64_t part = 0; part <= parts; ++part)
      plan_.part_begins.push_back(part_begin(part, parts, primitives));
    scene.part_begins = part_begins_.data();
    scene.part_keys = part_keys_.data();
    scene.parts = static_cast<unsigned>(parts);
  }

  scene_plan<core::rx_scene<Key, RowId>> plan_;
  buffer<RowId> first_entries_;
  buffer<RowId> part_begins_;
  buffer<Key> part_keys_;
  std::unique_ptr<tracer> tracer_;
};

}  // namespace raydex
