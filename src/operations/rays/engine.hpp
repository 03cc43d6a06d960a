// SPDX-License-Identifier: Apache-2.0
// What traces rays.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "raydex/core/config.hpp"
#include "raydex/core/rays/key_scene.hpp"
#include "raydex/core/rays/rx.hpp"
#include "raydex/core/rays/traced.hpp"
#include "raydex/rx.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// What an engine is to build for a scene of core.
// Part p has the primitives that `scene` numbers from 0, from place `part_begins[p]` on among all.
template <class Scene>
struct scene_plan {
  Scene scene{};
  std::vector<std::uint64_t> part_begins{};  // of each part, and of the one after the last
  core::primitive_kind primitive = core::primitive_kind::triangle;
  bool compact = false;
  bool fast_build = true;
};

// Where a part begins, of parts as equal as they can be.
RAYDEX_HD inline std::uint64_t part_begin(std::uint64_t part, std::uint64_t parts,
                                          std::uint64_t all) {
  const std::uint64_t more = all % parts;
  return part * (all / parts) + (part < more ? part : more);
}

// Made of a context, the resource that counts what the engine itself allocates, and a plan.
template <class T, class Scene>
concept scene_tracer = std::constructible_from < T,
        const context&, memory_resource&, const scene_plan<Scene>
& > &&requires(T& tracer, const context& on, const core::trace_job<Scene>& job) {
  // Runs the lookups of a job.
  tracer.trace(on, job);
};

// All functions are static.
template <class E>
concept engine = executor<typename E::executor> &&
    scene_tracer<typename E::template tracer<core::rx_scene<std::uint32_t, std::uint32_t>>,
                 core::rx_scene<std::uint32_t, std::uint32_t>> &&
    requires(const context& on, std::uint64_t size, bool planes, int bit,
             double_buffer<std::uint64_t>& codes, double_buffer<std::uint32_t>& numbers,
             const column& keys, const std::optional<column>& row_ids, const std::uint32_t* rows,
             std::uint32_t* out) {
  // In which order so many probes are traced best.
  { E::best_order(size) } -> std::same_as<rx_order>;
  // What a primitive that was chosen, or left to the engine, is made as.
  { E::primitive_of(rx_primitive{}) } -> std::same_as<core::primitive_kind>;
  // Primitives of a part: the most that it may have, and how many of keys serve best.
  { E::most_primitives() } -> std::same_as<std::uint64_t>;
  { E::best_part() } -> std::same_as<std::uint64_t>;
  // Parts that serve best for so many buckets.
  { E::best_parts(size) } -> std::same_as<std::uint64_t>;
  // How far rows and planes of keys are best apart, with or without planes.
  { E::best_scale(planes) } -> std::same_as<rx_scale>;
  // Sorts by the bits [first, last) of the codes at least.
  E::sort_probes(on, codes, numbers, bit, bit);
  // The keys of a column, in its order.
  {
    E::template take_column<std::uint64_t, std::uint32_t>(on, keys, row_ids)
    } -> std::same_as<unsorted_column<std::uint64_t, std::uint32_t>>;
  // Writes out[numbers[i]] = rows[i].
  E::scatter(on, rows, rows, out, size);
};

}  // namespace raydex
