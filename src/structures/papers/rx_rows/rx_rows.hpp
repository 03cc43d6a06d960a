// SPDX-License-Identifier: Apache-2.0
// RX with primitives in the order of the rows, whatever the engine that traces it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "raydex/core/atomic.hpp"
#include "raydex/core/rays/rx_rows.hpp"
#include "raydex/error.hpp"
#include "raydex/rx.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/engine.hpp"
#include "src/operations/rays/traced_batches.hpp"
#include "src/structures/rx/rx_scene.hpp"

namespace raydex {

// Finds the smallest and the largest of the keys that one item looks at, every `stride`-th one; of
// the latter the complement, which is the smallest as well.
template <class Key>
struct find_key_ends {
  static constexpr std::uint64_t stride = std::uint64_t{1} << 16;

  const Key* keys;
  std::uint64_t size;
  std::uint64_t* smallest;
  std::uint64_t* complement;
  RAYDEX_HD void operator()(std::uint64_t first) const {
    Key low = keys[first];
    Key high = low;
    for (std::uint64_t i = first; i < size; i += stride) {
      low = keys[i] < low ? keys[i] : low;
      high = high < keys[i] ? keys[i] : high;
    }
    core::keep_smallest(smallest, low);
    core::keep_smallest(complement, ~std::uint64_t{high});
  }
};

// Counts ranges that take more rays than a lookup may.
template <class Key, class RowId>
struct count_wide_ranges {
  core::rx_row_scene<Key, RowId> scene;
  core::probe_set<Key> probes;
  std::uint64_t* count;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    core::interval<Key> wanted;
    if (probes.read(i, wanted) && scene.clip(wanted) &&
        scene.further_rays(wanted) >= scene.most_rays)
      core::add_atomically(count, 1);
  }
};

// Throws `unsupported`.
[[noreturn]] inline void refuse_by_rows(const std::string& call, const char* why) {
  throw unsupported(call + ": rx with primitives=rows " + why + "; primitives=sorted does it");
}

template <class Key, class RowId, engine Engine>
class built_row_rx final : public rx {
  using executor = typename Engine::executor;
  using scene = core::rx_row_scene<Key, RowId>;
  using tracer = typename Engine::template tracer<scene>;
  using job = core::row_job<Key, RowId>;

 public:
  built_row_rx(const index_info& info, const context& on, const column& keys,
               const std::optional<column>& row_ids, const rx_options& options)
      : rx(on.memory), options_(options) {
    info_ = info;
    fill(on.stream, keys, row_ids);
  }

 private:
  void do_update(stream_t stream, const column& keys,
                 const std::optional<column>& row_ids) override {
    fill(stream, keys, row_ids);
  }

  void do_edit(stream_t /*stream*/, const edits& /*batch*/) override {
    refuse_by_rows("edit", "keeps no keys to merge it with");
  }

  // Takes a column in place of what it holds.
  void fill(stream_t stream, const column& keys, const std::optional<column>& row_ids) {
    const context own{memory(), stream};
    auto entries = Engine::template take_column<Key, RowId>(own, keys, row_ids);
    const scene_plan<scene> plan = plan_of(own, entries.keys);
    tracer_ = std::make_unique<tracer>(own, memory(), plan);
    scene_ = plan.scene;
    scene_.keys = nullptr;
    row_ids_ = std::move(entries.row_ids);
    info_.n = keys.size;
    info_.entries = scene_.primitives;
    info_.max_row_id = entries.max_row_id;
    entries.keys = {};
    measure();
  }

  scene_plan<scene> plan_of(const context& own, const buffer<Key>& keys) const {
    scene_plan<scene> plan;
    plan.primitive = options_.primitive == rx_primitive::sphere ? core::primitive_kind::sphere
                                                                : core::primitive_kind::triangle;
    plan.compact = options_.compact.value_or(options_.build == rx_build::trace);
    plan.fast_build = options_.build == rx_build::fast;
    const std::uint64_t size = keys.size();
    if (size != 0) find_ends(own, keys, plan.scene);
    plan.scene.grid = rx_grid<Engine>(options_, plan.scene.largest);
    plan.scene.keys = keys.data();
    plan.scene.primitives = static_cast<RowId>(size);

    // A lookup is traced in each part: there are as few as can be, if nobody asks for more.
    const std::uint64_t wanted = std::max(options_.parts, 1U);
    const std::uint64_t each =
        std::clamp<std::uint64_t>((size + wanted - 1) / wanted, 1, Engine::most_primitives());
    plan.scene.part_size = static_cast<RowId>(each);
    plan.scene.parts = static_cast<unsigned>(std::max<std::uint64_t>((size + each - 1) / each, 1));
    for (std::uint64_t part = 0; part <= plan.scene.parts; ++part)
      plan.part_begins.push_back(std::min(part * each, size));
    return plan;
  }

  // Synchronises.
  static void find_ends(const context& own, const buffer<Key>& keys, scene& held) {
    buffer<std::uint64_t> ends(own, 2);
    for (std::uint64_t* const end : {ends.data(), ends.data() + 1})
      executor::set(own, end, ~std::uint64_t{0});
    const find_key_ends<Key> find{keys.data(), keys.size(), ends.data(), ends.data() + 1};
    executor::for_each_alone(own, find, std::min(keys.size(), find.stride));
    held.smallest = static_cast<Key>(executor::read(own, ends.data()));
    held.largest = static_cast<Key>(~executor::read(own, ends.data() + 1));
  }

  // ---- queries

  void do_first(const context& on, const probes& batch, void* out) const override {
    trace(on, batch, core::row_question::first, {}, out);
  }

  void do_count(const context& on, const probes& batch, std::uint64_t* out) const override {
    trace(on, batch, core::row_question::count, {}, out);
  }

  void do_sum(const context& on, const probes& batch, const sum_request& request) const override {
    const key_type type = request.values.format.type;
    const bool floating =
        request.values.data != nullptr && (type == key_type::float32 || type == key_type::float64);
    trace(on, batch, floating ? core::row_question::floating_sum : core::row_question::integer_sum,
          {cells_of(request.values)}, request.out);
  }

  void do_offsets(const context& on, const probes& batch, std::uint64_t* out) const override {
    if (batch.size() != 0) do_count(on, batch, out + 1);
    executor::clear(on, out);
    if (batch.size() != 0) executor::inclusive_sum(on, out + 1, batch.size());
  }

  // Rays meet keys in no order.
  void do_rows(const context& /*on*/, const probes& /*batch*/, const std::uint64_t* /*offsets*/,
               void* /*out*/) const override {
    refuse_by_rows("rows", "does not know the order of its keys");
  }
  matches do_matches(const context& on, const probes& batch) const override {
    do_rows(on, batch, nullptr, nullptr);
    return {};
  }

  std::uint64_t do_read(const context& on, const std::uint64_t* number) const override {
    return executor::read(on, number);
  }

  void trace(const context& on, const probes& batch, core::row_question question,
             const core::value_column& values, void* out) const {
    job all{scene_, probes_of<Key>(batch), question, row_ids_.data(), values, out};
    check_rays(on, all.probes);
    for (; all.begin < all.probes.size; all.begin += all.size) {
      all.size = std::min(most_at_once, all.probes.size - all.begin);
      tracer_->trace(on, all);
    }
  }

  // Refuses ranges that take too many rays; synchronises where there may be some.
  void check_rays(const context& on, const core::probe_set<Key>& probes) const {
    if (probes.is_points ||
        scene_.further_rays({scene_.smallest, scene_.largest}) < scene::most_rays)
      return;
    buffer<std::uint64_t> wide(on, 1);
    executor::clear(on, wide.data());
    executor::for_each(on, count_wide_ranges<Key, RowId>{scene_, probes, wide.data()}, probes.size);
    if (executor::read(on, wide.data()) != 0)
      refuse_by_rows("probes", "takes a ray for each row of its scene, and 65536 of them at most");
  }

  rx_options options_;
  scene scene_;
  buffer<RowId> row_ids_;  // of each primitive; none where these are their numbers
  std::unique_ptr<tracer> tracer_;
};

template <class Engine>
std::unique_ptr<rx> make_rx_rows(const index_info& info, const context& on, const column& keys,
                                 const std::optional<column>& row_ids, const rx_options& options) {
  return dispatch(info.key, [&]<class Key, class RowId>() -> std::unique_ptr<rx> {
    return std::make_unique<built_row_rx<Key, RowId, Engine>>(info, on, keys, row_ids, options);
  });
}

}  // namespace raydex
