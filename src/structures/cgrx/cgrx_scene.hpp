// SPDX-License-Identifier: Apache-2.0
// The scene of the representatives of buckets, whatever the engine that traces it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "raydex/cgrx.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/rays/cgrx.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/engine.hpp"
#include "src/operations/rays/traced_batches.hpp"
#include "src/structures/shared/scene_options.hpp"

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

// Marks the slots of a part that hold a triangle.
template <class Key, class RowId>
struct mark_used_slot {
  core::cgrx_scene<Key, RowId> scene;
  unsigned part;
  std::uint64_t* marks;
  RAYDEX_HD void operator()(std::uint64_t slot) const {
    marks[slot] = scene.triangle(scene.parts[part], slot).exists ? 1 : 0;
  }
};

// From how many slots are used up to each one of a part, to the numbers of those that are.
template <class RowId>
struct put_used_slot {
  const std::uint64_t* ordinals;
  std::uint64_t begin;  // of the part
  std::uint64_t used;   // before it
  RowId* slots;
  RAYDEX_HD void operator()(std::uint64_t slot) const {
    const std::uint64_t before = slot == 0 ? used : ordinals[begin + slot - 1];
    if (ordinals[begin + slot] != before) slots[before] = static_cast<RowId>(slot);
  }
};

template <class Key, class RowId, engine Engine>
class bucket_scene {
  using executor = typename Engine::executor;
  using scene_type = core::cgrx_scene<Key, RowId>;
  using tracer = typename Engine::template tracer<scene_type>;

 public:
  bucket_scene() = default;
  // Places the representatives of a sorted column, which must stay where it is unless the scene is
  // told where to read instead. What the engine itself allocates is counted in `memory`; `repairs`
  // counts lookups that were led astray. Synchronises.
  bucket_scene(const context& on, memory_resource& memory, const Key* keys, std::uint64_t size,
               const cgrx_options& options, std::uint64_t* repairs)
      : column_(describe_keys<executor>(on, keys, size)),
        sorted_bits_(bits_to_sort<executor>(on, column_)) {
    lay_out(on, options, repairs);
    rays_ = std::make_unique<tracer>(on, memory, plan_);
    // What was there before may be freed on another stream from here on.
    executor::synchronise(on);
  }

  std::uint64_t buckets() const { return plan_.scene.buckets; }
  const core::cgrx_scene<Key, RowId>& scene() const { return plan_.scene; }
  // What keys looked like when the scene was made.
  const key_column<Key>& column() const { return column_; }
  int sorted_bits() const { return sorted_bits_; }
  const tracer& rays() const { return *rays_; }

  // The representatives in an array of their own; none where the scene has one already.
  buffer<Key> copy_representatives(const context& on) const {
    if (plan_.scene.representatives != nullptr) return {};
    buffer<Key> copy(on, buckets());
    executor::for_each(on, put_representative<Key, RowId>{plan_.scene, copy.data()}, buckets());
    return copy;
  }
  // From now on representatives are those of an array, if the scene has none already: their buckets
  // hold other entries than the scene was made of.
  void keep_representatives(buffer<Key> representatives) {
    if (representatives.size() != 0) representatives_ = std::move(representatives);
    plan_.scene.representatives = representatives_.data();
  }
  // The keys lie elsewhere from now on.
  void read(const core::strided<Key>& keys) {
    plan_.scene.keys = keys;
    column_.keys = nullptr;
  }
  // Buckets are those of other entries from now on, each begins where `begins` says.
  void follow(const core::strided<Key>& keys, std::uint64_t size, buffer<RowId> begins) {
    begins_ = std::move(begins);
    plan_.scene.begins = begins_.data();
    plan_.scene.entries = static_cast<RowId>(size);
    read(keys);
  }

 private:
  void lay_out(const context& on, const cgrx_options& options, std::uint64_t* repairs) {
    plan_.compact = options.compact.value_or(options.build == rx_build::trace);
    plan_.fast_build = options.build == rx_build::fast;
    scene_type& to = plan_.scene;
    const bool fit = options.mapping == cgrx_mapping::fit;
    to.kind =
        options.scene.value_or(fit ? core::bucket_scene::spans : core::bucket_scene::optimised);
    // A guess is worth its arithmetic where halves would be looked at in other lines.
    constexpr unsigned many = 64;
    to.search = options.search.value_or(options.bucket < many ? core::bucket_search::binary
                                                              : core::bucket_search::interpolated);
    to.keys = {column_.keys};
    to.entries = static_cast<RowId>(column_.size);
    to.bucket_size = static_cast<RowId>(options.bucket);
    const std::uint64_t buckets = (column_.size + options.bucket - 1) / options.bucket;
    to.buckets = static_cast<RowId>(buckets);
    to.repairs = repairs;
    plan_.part_begins = {0};
    if (buckets == 0) return;

    const auto divided_by = [&](std::uint64_t divisor) {
      return (buckets + divisor - 1) / divisor;
    };
    const std::uint64_t fewest = divided_by(Engine::most_primitives() / 3);
    const std::uint64_t count = std::clamp(
        options.parts != 0 ? options.parts : Engine::best_parts(buckets), fewest, buckets);
    to.part_count = static_cast<unsigned>(count);
    to.grid = fit ? fitted_grid(divided_by(count)) : grid_of(options);
    parts_ = {on, count};
    executor::for_each(on, put_cgrx_part<Key, RowId>{to, fit, parts_.data()}, count);
    to.parts = parts_.data();
    std::vector<core::cgrx_part<Key, RowId>> described(count);
    executor::copy_out(on, described.data(), parts_.data(), parts_.bytes());
    for (const auto& part : described)
      plan_.part_begins.push_back(plan_.part_begins.back() + scene_type::slots_of(part));
    // Neither has every bucket a marker, nor each of them a representative of its own.
    const auto in_rows = [](const auto& part) { return part.rows; };
    if (to.kind != core::bucket_scene::spans && std::ranges::any_of(described, in_rows))
      leave_out_empty_slots(on, described);
  }

  // Has triangles be of the slots that hold one.
  void leave_out_empty_slots(const context& on,
                             std::vector<core::cgrx_part<Key, RowId>>& described) {
    scene_type& to = plan_.scene;
    std::vector<std::uint64_t>& begins = plan_.part_begins;
    buffer<std::uint64_t> ordinals(on, begins.back());
    for (std::size_t part = 0; part < described.size(); ++part) {
      executor::for_each(on,
                         mark_used_slot<Key, RowId>{to, static_cast<unsigned>(part),
                                                    ordinals.data() + begins[part]},
                         begins[part + 1] - begins[part]);
    }
    executor::inclusive_sum(on, ordinals.data(), ordinals.size());
    slots_ = {on, executor::read(on, ordinals.data() + ordinals.size() - 1)};
    std::uint64_t used = 0;
    for (std::size_t part = 0; part < described.size(); ++part) {
      const std::uint64_t begin = begins[part];
      const std::uint64_t end = begins[part + 1];
      executor::for_each(on, put_used_slot<RowId>{ordinals.data(), begin, used, slots_.data()},
                         end - begin);
      begins[part] = described[part].first_triangle = used;
      executor::set(on, parts_.data() + part, described[part]);
      used = executor::read(on, ordinals.data() + end - 1);
    }
    begins.back() = used;
    to.slots = slots_.data();
  }

  // A row with 32 to 64 places for each bucket, as far as floats allow; the keys fill half
  // at least: neighbours are apart, and rays from one to the next are short.
  static core::key_grid fitted_grid(std::uint64_t buckets_of_part) {
    const unsigned bits = core::floor_log2(buckets_of_part) + 6;
    return {.x_bits = static_cast<std::uint8_t>(std::min(bits, 23U)), .y_bits = 0, .z_bits = 0};
  }
  core::key_grid grid_of(const cgrx_options& options) const {
    const auto step = [](unsigned power) { return static_cast<float>(std::uint64_t{1} << power); };
    const rx_scale usual{.y = std::min(15U, rx_scale::most - options.bits.y),
                         .z = std::min(21U, rx_scale::most - options.bits.z)};
    const rx_scale scale = options.scale.value_or(usual);
    const core::key_grid grid = {.x_bits = static_cast<std::uint8_t>(options.bits.x),
                                 .y_bits = static_cast<std::uint8_t>(options.bits.y),
                                 .z_bits = static_cast<std::uint8_t>(options.bits.z),
                                 .y_step = step(scale.y),
                                 .z_step = step(scale.z)};
    check_places(column_.largest, grid.largest(), "mapping=fit, or more bits");
    return grid;
  }

  key_column<Key> column_{};
  int sorted_bits_ = 0;
  buffer<core::cgrx_part<Key, RowId>> parts_;
  buffer<RowId> slots_;
  buffer<Key> representatives_;
  buffer<RowId> begins_;
  scene_plan<scene_type> plan_;
  std::unique_ptr<tracer> rays_;
};

}  // namespace raydex
