// SPDX-License-Identifier: Apache-2.0
// What the engines' RX have in common: all but the sort and the tracing.
//
// Besides what rx_scene.hpp asks of it, an engine has `sort_column` as the backends have it,
// `best_order(probes)` of a batch, and
// - `sort_probes(where, keys, numbers, first_bit, last_bit)`, which sorts two double buffers by
//   these bits of the keys at least;
// - `scatter(where, numbers, rows, out, size)`: out[numbers[i]] = rows[i].
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "answering.hpp"
#include "double_buffer.hpp"
#include "raydex/core/rx.hpp"
#include "raydex/core/sorted_array.hpp"
#include "raydex/error.hpp"
#include "raydex/rx.hpp"
#include "rx_scene.hpp"
#include "sorted_column.hpp"

namespace raydex {

// The lower end of a probe as its code, moved to the nearest within [smallest, largest], with its
// number. What matches nothing goes to the end.
template <class Key>
struct put_probe {
  core::probe_set<Key> probes;
  std::uint64_t begin;
  Key smallest;
  Key largest;
  Key* keys;
  std::uint32_t* numbers;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    core::interval<Key> wanted;
    Key key = probes.read(begin + i, wanted) ? wanted.lower : largest;
    key = key < smallest ? smallest : key;
    keys[i] = largest < key ? largest : key;
    numbers[i] = static_cast<std::uint32_t>(i);
  }
};

// Marks sampled keys that their higher bits do not tell from other keys a way ahead.
template <class Key>
struct mark_like_keys {
  static constexpr std::uint64_t way = 128;

  const Key* keys;
  std::uint64_t stride;
  int shift;
  std::uint64_t* marks;
  RAYDEX_HD void operator()(std::uint64_t sample) const {
    const std::uint64_t i = sample * stride;
    const Key difference = keys[i] ^ keys[i + way];
    marks[sample] = difference != 0 && difference >> shift == 0 ? 1 : 0;
  }
};

// Writes rows where they belong.
template <class RowId>
struct put_row {
  const std::uint32_t* numbers;
  const RowId* rows;
  RowId* out;
  RAYDEX_HD void operator()(std::uint64_t i) const { out[numbers[i]] = rows[i]; }
};

// Writes the smallest row id of lookups that were traced the other way round.
template <class Key, class RowId>
struct put_found_row {
  core::trace_job<Key, RowId> job;
  RAYDEX_HD void operator()(std::uint64_t lookup) const {
    core::interval<Key> wanted;
    const std::uint64_t probe = job.probe(lookup);
    const bool exists = job.probes.read(probe, wanted);
    job.rows[probe] = job.row(job.found(lookup), wanted, exists);
  }
};

// Copies a number of any width.
template <class Key>
struct copy_number {
  const Key* from;
  std::uint64_t* to;
  RAYDEX_HD void operator()(std::uint64_t) const { *to = *from; }
};

// Nothing was found yet.
template <class RowId>
struct put_none {
  RowId* firsts;
  RAYDEX_HD void operator()(std::uint64_t i) const { firsts[i] = core::traced<RowId>::none; }
};

// Tells equal points what the first of them was told.
template <class Key, class RowId>
struct tell_equal_points {
  const Key* points;
  std::uint64_t size;
  const RowId* of_first;
  RowId* firsts;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    RowId first[1] = {static_cast<RowId>(i)};
    if (i > 0 && points[i - 1] == points[i]) {
      const Key wanted[1] = {points[i]};
      core::lower_bounds([this](RowId at) { return points[at]; }, static_cast<RowId>(size), wanted,
                         first);
    }
    firsts[i] = of_first[first[0]];
  }
};

template <class Key, class RowId, class Engine>
class built_rx final
    : public answering_as<built_rx<Key, RowId, Engine>, rx,
                          core::sorted_array_view<core::column_entries<Key, RowId>>,
                          typename Engine::executor> {
  using view = core::sorted_array_view<core::column_entries<Key, RowId>>;
  using executor = typename Engine::executor;
  using scene = built_scene<Key, RowId, Engine>;

 public:
  built_rx(const index_info& info, const context& where_to, const column& keys,
           const std::optional<column>& row_ids, const rx_options& options)
      : built_rx::answering_as(where_to.memory), options_(options) {
    this->info_ = info;
    fill(where_to.stream, keys, row_ids);
  }

 private:
  friend typename built_rx::answering_as;

  // Lookups that are traced at once.
  static constexpr std::uint64_t most_at_once = std::uint64_t{1} << 28;
  // Bytes of scratch in other orders than `sorted`: 64 MB with what a sort needs besides.
  static constexpr std::uint64_t most_scratch = std::uint64_t{60} << 20;

  void do_update(stream_t stream, const column& keys,
                 const std::optional<column>& row_ids) override {
    fill(stream, keys, row_ids);
  }

  // Takes a column in place of the one that it holds, if there is one.
  void fill(stream_t stream, const column& keys, const std::optional<column>& row_ids) {
    const context where{this->memory(), stream};
    sorted_column<Key, RowId> entries =
        Engine::template sort_column<Key, RowId>(where, keys, row_ids);
    const std::uint64_t size = entries.keys.size();
    const auto key_at = [&](std::uint64_t entry) {
      buffer<std::uint64_t> copy(where, 1);
      executor::for_each(where, copy_number<Key>{entries.keys.data() + entry, copy.data()}, 1);
      return static_cast<Key>(executor::read(where, copy.data()));
    };
    const key_column<Key> column = {entries.keys.data(), size, size == 0 ? Key{0} : key_at(0),
                                    size == 0 ? Key{0} : key_at(size - 1)};
    const int bits = bits_to_sort(where, column);
    std::optional<scene> made;
    if (options_.inverse == rx_inverse::off) {
      made.emplace(where, column, options_);
      if (scene_ && made->can_take_over(*scene_)) {
        made->take_over(where, *scene_);
      } else {
        made->build(where, this->memory());
      }
    }
    scene_ = std::move(made);
    sorted_bits_ = bits;
    entries_ = std::move(entries);
    column_ = column;
    this->info_.n = keys.size;
    this->info_.entries = size;
    this->info_.max_row_id = entries_.max_row_id;
    this->measure();
  }

  // By how many of the highest bits in which keys differ probes are sorted: enough to bring those
  // together that meet the same neighbourhood of the scene, for nearly all keys.
  static int bits_to_sort(const context& where, const key_column<Key>& column) {
    constexpr std::uint64_t samples = 4096;
    constexpr std::uint64_t way = mark_like_keys<Key>::way;
    constexpr int least = 24;  // three passes of a radix sort
    constexpr int pass = 8;
    const int differing = differing_bits(column);
    if (column.size <= way || differing <= least) return least;
    const std::uint64_t size = std::min(samples, column.size - way);
    buffer<std::uint64_t> marks(where, size);
    int bits = least;
    for (; bits < differing; bits += pass) {
      executor::for_each(where,
                         mark_like_keys<Key>{column.keys, (column.size - way) / size,
                                             differing - bits, marks.data()},
                         size);
      executor::inclusive_sum(where, marks.data(), size);
      if (executor::read(where, marks.data() + size - 1) <= size / 16) break;
    }
    return bits;
  }
  static int differing_bits(const key_column<Key>& column) {
    return static_cast<int>(std::bit_width(static_cast<Key>(column.smallest ^ column.largest)));
  }

  view queried() const override {
    return {{entries_.keys.data(), entries_.row_ids.data()},
            static_cast<RowId>(entries_.keys.size())};
  }

  template <class Operation>
  void run(const context& where, const Operation& operation) const {
    const core::probe_set<Key>& probes = operation.probes;
    if (scene_) {
      trace_probes(where, *scene_, operation);
    } else if (probes.is_points && column_.size != 0 &&
               (options_.inverse == rx_inverse::on || probes.size < column_.size)) {
      trace_keys(where, operation);
    } else {
      tracking_resource counted(where.memory);
      scene made(where, column_, options_);
      made.build(where, counted);
      trace_probes(where, made, operation);
    }
  }

  // The points of a stretch of a batch, or the lower ends of its ranges, sorted by the highest bits
  // of those in which the keys of the index differ: what lies outside of these meets nothing,
  // wherever it is sorted to.
  struct sorted_probes {
    double_buffer<Key> keys;
    double_buffer<std::uint32_t> numbers;

    sorted_probes(const context& where, const core::probe_set<Key>& probes, std::uint64_t begin,
                  std::uint64_t size, const key_column<Key>& index, int bits)
        : sorted_probes(where, {probes, begin, 0, static_cast<Key>(-1), nullptr, nullptr}, size,
                        index, bits) {}
    // With the points outside moved to the smallest or the largest key, sorted by all bits.
    sorted_probes(const context& where, const core::probe_set<Key>& probes, std::uint64_t begin,
                  std::uint64_t size, const key_column<Key>& index)
        : sorted_probes(where, {probes, begin, index.smallest, index.largest, nullptr, nullptr},
                        size, index, 64) {}
    static constexpr std::uint64_t bytes = 2 * sizeof(Key) + 2 * sizeof(std::uint32_t);

   private:
    sorted_probes(const context& where, put_probe<Key> put, std::uint64_t size,
                  const key_column<Key>& index, int bits)
        : keys(where, size), numbers(where, size) {
      put.keys = keys.current.data();
      put.numbers = numbers.current.data();
      executor::for_each(where, put, size);
      const int differing = differing_bits(index);
      Engine::sort_probes(where, keys, numbers, std::max(differing - bits, 0), differing);
    }
  };

  // Traces a batch, a stretch of it at a time, and answers what was traced.
  template <class Operation>
  void trace_probes(const context& where, const scene& traced, const Operation& operation) const {
    const core::probe_set<Key>& probes = operation.probes;
    const rx_order order =
        options_.order == rx_order::automatic ? Engine::best_order(probes.size) : options_.order;
    const bool sorted = order != rx_order::batch;
    const bool counted = traced.scene().hits == core::ray_hits::any;
    constexpr bool rows_only = requires {
      Operation::first_match_only;
    };
    // Rows of a tile are written where they belong at once: that is within the caches.
    const bool keeps_firsts = !rows_only || order == rx_order::sorted;
    const std::uint64_t scratch = (sorted ? sorted_probes::bytes : 0) +
                                  (keeps_firsts ? sizeof(RowId) : 0) +
                                  (!rows_only && counted ? sizeof(RowId) : 0);
    std::uint64_t each = most_at_once;
    if (order != rx_order::sorted && scratch != 0) each = std::min(each, most_scratch / scratch);
    each = std::min(each, probes.size);

    core::trace_job<Key, RowId> job{.scene = traced.scene(), .probes = probes};
    job.row_ids = entries_.row_ids.data();
    for (; job.begin < probes.size; job.begin += job.size) {
      job.size = std::min(each, probes.size - job.begin);
      buffer<RowId> firsts(where, keeps_firsts ? job.size : 0);
      buffer<RowId> counts(where, !rows_only && counted ? job.size : 0);
      job.firsts = firsts.data();
      job.counts = counts.data();
      std::optional<sorted_probes> stretch;
      if (sorted) {
        stretch.emplace(where, probes, job.begin, job.size, column_, sorted_bits_);
        job.order = stretch->numbers.current.data();
        // Those of missing probes are no keys.
        if (probes.is_points && probes.lower.validity == nullptr)
          job.points = stretch->keys.current.data();
      }
      if constexpr (rows_only) {
        job.rows_by_probe = !keeps_firsts;
        job.rows = keeps_firsts ? firsts.data() : operation.out;
        traced.trace(where, job);
        if (keeps_firsts) {
          Engine::scatter(where, job.order, job.rows, operation.out + job.begin, job.size);
        }
      } else {
        traced.trace(where, job);
        answer(where, operation, job);
      }
    }
  }

  // Has the keys look for the points of a batch.
  template <class Operation>
  void trace_keys(const context& where, const Operation& operation) const {
    const core::probe_set<Key>& probes = operation.probes;
    tracking_resource counted(where.memory);
    core::trace_job<Key, RowId> job;
    job.probes = probes;
    // What was found is settled as if each entry had a primitive.
    job.scene.keys = column_.keys;
    job.scene.entries = job.scene.primitives = static_cast<RowId>(column_.size);
    job.row_ids = entries_.row_ids.data();
    for (; job.begin < probes.size; job.begin += job.size) {
      job.size = std::min(most_at_once, probes.size - job.begin);
      const sorted_probes stretch(where, probes, job.begin, job.size, column_);
      const Key* points = stretch.keys.current.data();
      buffer<RowId> of_first(where, job.size);
      executor::for_each(where, put_none<RowId>{of_first.data()}, job.size);
      {
        scene made(where, {points, job.size, column_.smallest, column_.largest}, options_);
        made.build(where, counted);
        core::inverse_job<Key, RowId> keys{.points = made.scene(), .keys = column_.keys};
        keys.firsts = of_first.data();
        for (; keys.begin < column_.size; keys.begin += keys.size) {
          keys.size = std::min(most_at_once, column_.size - keys.begin);
          made.trace(where, keys);
        }
      }
      buffer<RowId> firsts(where, job.size);
      executor::for_each(
          where, tell_equal_points<Key, RowId>{points, job.size, of_first.data(), firsts.data()},
          job.size);
      job.order = stretch.numbers.current.data();
      job.firsts = firsts.data();
      if constexpr (requires { Operation::first_match_only; }) {
        job.rows = operation.out;
        executor::for_each(where, put_found_row<Key, RowId>{job}, job.size);
      } else {
        answer(where, operation, job);
      }
    }
  }

  template <class Operation>
  void answer(const context& where, const Operation& operation,
              const core::trace_job<Key, RowId>& job) const {
    executor::run(where, batch_plan{},
                  core::answer_traced<Operation, Key, RowId>{
                      operation.view, {job.size}, operation, job, operation.out});
  }

  rx_options options_;
  sorted_column<Key, RowId> entries_;
  key_column<Key> column_{};  // `entries_`, as scenes see it
  int sorted_bits_ = 0;
  std::optional<scene> scene_;  // none where each batch builds its own
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
