// SPDX-License-Identifier: Apache-2.0
// Batches whose lookups are rays: the orders in which they are traced, and what is done with what
// was traced.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/core/rays/traced.hpp"
#include "raydex/index.hpp"
#include "raydex/rx.hpp"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/operations/lookups/sorted_column.hpp"
#include "src/operations/rays/engine.hpp"

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

// Writes the smallest row ids of points whose lookups were traced, each at its probe or, as the job
// has it, at its lookup.
template <class Scene, class Entries>
struct put_found_row {
  using row_id = typename Scene::position_type;
  using position = typename Entries::position_type;

  core::trace_job<Scene> job;
  Entries entries;
  RAYDEX_HD void operator()(std::uint64_t lookup) const {
    core::interval<typename Scene::key_type> wanted;
    position begin = 0;
    position end = 0;
    if (job.read(lookup, wanted)) entries.settle(job.found(lookup), wanted, true, true, begin, end);
    job.rows[job.rows_by_probe ? job.probe(lookup) : lookup] =
        begin < end ? entries.row_id(begin) : not_found<row_id>;
  }
};

// Writes where the matches of lookups are that were traced: as the operation says, which locates,
// by probe or by lookup.
template <class Scene, class Entries, class View>
struct put_found_entries {
  core::trace_job<Scene> job;
  Entries entries;
  core::locate_rows<View> operation;
  bool by_probe;
  RAYDEX_HD void operator()(std::uint64_t lookup) const {
    core::interval<typename Scene::key_type> wanted;
    typename Entries::position_type begin = 0;
    typename Entries::position_type end = 0;
    if (job.read(lookup, wanted))
      entries.settle(job.found(lookup), wanted, job.probes.is_points, false, begin, end);
    const std::uint64_t number = by_probe ? job.probe(lookup) : lookup;
    operation.put({number, number}, begin, end, operation.out);
  }
};

template <class Key>
int differing_bits(const key_column<Key>& column) {
  return static_cast<int>(std::bit_width(static_cast<Key>(column.smallest ^ column.largest)));
}

// By how many of the highest bits in which keys differ probes are sorted: enough to bring those
// together that meet the same neighbourhood of the scene, for nearly all keys.
template <executor Executor, class Key>
int bits_to_sort(const context& on, const key_column<Key>& column) {
  constexpr std::uint64_t samples = 4096;
  constexpr std::uint64_t way = mark_like_keys<Key>::way;
  constexpr int least = 24;  // three passes of a radix sort
  constexpr int pass = 8;
  const int differing = differing_bits(column);
  if (column.size <= way || differing <= least) return least;
  const std::uint64_t size = std::min(samples, column.size - way);
  buffer<std::uint64_t> marks(on, size);
  int bits = least;
  for (; bits < differing; bits += pass) {
    Executor::for_each(on,
                       mark_like_keys<Key>{column.keys, (column.size - way) / size,
                                           differing - bits, marks.data()},
                       size);
    Executor::inclusive_sum(on, marks.data(), size);
    if (Executor::read(on, marks.data() + size - 1) <= size / 16) break;
  }
  return bits;
}

// Lookups that are traced at once.
inline constexpr std::uint64_t most_at_once = std::uint64_t{1} << 28;
// Bytes of scratch in other orders than `sorted`: 64 MB with what a sort needs besides.
inline constexpr std::uint64_t most_scratch = std::uint64_t{60} << 20;

// The points of a slice of a batch, or the lower ends of its ranges, sorted by the highest bits
// of those in which the keys of the index differ: what lies outside of these meets nothing,
// wherever it is sorted to.
template <engine Engine, class Key>
struct sorted_probes {
  double_buffer<Key> keys;
  double_buffer<std::uint32_t> numbers;

  sorted_probes(const context& on, const core::probe_set<Key>& probes, std::uint64_t begin,
                std::uint64_t size, const key_column<Key>& index, int bits)
      : sorted_probes(on, {probes, begin, 0, static_cast<Key>(-1), nullptr, nullptr}, size, index,
                      bits) {}
  // With the points outside moved to the smallest or the largest key, sorted by all bits.
  sorted_probes(const context& on, const core::probe_set<Key>& probes, std::uint64_t begin,
                std::uint64_t size, const key_column<Key>& index)
      : sorted_probes(on, {probes, begin, index.smallest, index.largest, nullptr, nullptr}, size,
                      index, 64) {}
  static constexpr std::uint64_t bytes = 2 * sizeof(Key) + 2 * sizeof(std::uint32_t);

 private:
  sorted_probes(const context& on, put_probe<Key> put, std::uint64_t size,
                const key_column<Key>& index, int bits);
};

template <engine Engine, class Key>
sorted_probes<Engine, Key>::sorted_probes(const context& on, put_probe<Key> put, std::uint64_t size,
                                          const key_column<Key>& index, int bits)
    : keys(on, size), numbers(on, size) {
  put.keys = keys.current.data();
  put.numbers = numbers.current.data();
  Engine::executor::for_each(on, put, size);
  const int differing = differing_bits(index);
  Engine::sort_probes(on, keys, numbers, std::max(differing - bits, 0), differing);
}

// Whether an operation visits matches.
template <class Operation>
concept visiting_matches = requires {
  typename Operation::partial;
};

// Bytes that it takes to know the matches of a lookup.
template <class Operation>
inline constexpr std::size_t settled_bytes =
    sizeof(typename decltype(Operation::view)::position_type) +
    sizeof(typename decltype(Operation::view)::row_id_type);

// Has a batch's matches answered that were traced: they are settled, and visited by who knows no
// rays.
template <engine Engine, class Scene, class Entries, class Operation>
void answer_traced(const context& on, const Operation& operation, const core::trace_job<Scene>& job,
                   const Entries& entries, const batch_plan& plan = {}) {
  using executor = typename Engine::executor;
  using view = std::remove_const_t<decltype(operation.view)>;
  using row_id = typename view::row_id_type;
  const auto settle = [&](const core::locate_rows<view>& to, bool by_probe) {
    executor::for_each(on, put_found_entries<Scene, Entries, view>{job, entries, to, by_probe},
                       job.size);
  };
  if constexpr (visiting_matches<Operation>) {
    buffer<typename view::position_type> begins(on, job.size);
    buffer<row_id> counts(on, job.size);
    settle({operation.view, operation.probes, nullptr, begins.data(), counts.data()}, false);
    const auto rows = core::over_rows(operation);
    executor::run(on, plan,
                  core::answer_located<std::remove_const_t<decltype(rows)>, row_id>{rows.view,
                                                                                    {job.size},
                                                                                    rows,
                                                                                    begins.data(),
                                                                                    counts.data(),
                                                                                    rows.out,
                                                                                    job.begin,
                                                                                    job.order});
  } else {
    settle(operation, true);
  }
}

// What a batch is traced against, and what settles what was traced.
template <class Scene, class Key, class Entries>
struct traced_index {
  Scene scene;
  Entries entries;
  key_column<Key> column;
  int sorted_bits;  // as `bits_to_sort` says
  rx_order order;
  batch_plan plan = {};  // with which matches are answered
};

// Traces a batch, a slice at a time, and answers what was traced. `tracer` traces as a
// scene_tracer does.
template <engine Engine, class Tracer, class Scene, class Key, class Entries, class Operation>
void trace_probes(const context& on, const Tracer& tracer,
                  const traced_index<Scene, Key, Entries>& index, const Operation& operation) {
  using row_id = typename Scene::position_type;
  const core::probe_set<Key>& probes = operation.probes;
  const rx_order order =
      index.order == rx_order::automatic ? Engine::best_order(probes.size) : index.order;
  const bool sorted = order != rx_order::batch;
  const bool counted = index.scene.hits == core::ray_hits::any;
  constexpr bool rows_only = requires {
    Operation::first_match_only;
  };
  // The entries of a scene are at hand where it is traced. Sorted lookups of scenes that have more
  // to do then than look at a key are settled by a kernel of their own, which has more threads at
  // once.
  constexpr bool may_trace_rows =
      rows_only && std::is_same_v<Entries, core::entries_of_scene<Scene>>;
  const bool traces_rows = may_trace_rows && !(Scene::settles_apart && order == rx_order::sorted);
  // Rows of a tile are written where they belong at once: that is within the caches.
  const bool keeps_firsts = !traces_rows || order == rx_order::sorted;
  const std::uint64_t scratch = (sorted ? sorted_probes<Engine, Key>::bytes : 0) +
                                (keeps_firsts ? sizeof(row_id) : 0) +
                                (!rows_only && counted ? sizeof(row_id) : 0) +
                                (visiting_matches<Operation> ? settled_bytes<Operation> : 0);
  std::uint64_t each = most_at_once;
  if (order != rx_order::sorted && scratch != 0) each = std::min(each, most_scratch / scratch);
  each = std::min(each, probes.size);

  core::trace_job<Scene> job;
  job.scene = index.scene;
  job.probes = probes;
  if constexpr (may_trace_rows) job.row_ids = index.entries.row_ids;
  for (; job.begin < probes.size; job.begin += job.size) {
    job.size = std::min(each, probes.size - job.begin);
    buffer<row_id> firsts(on, keeps_firsts ? job.size : 0);
    buffer<row_id> counts(on, !rows_only && counted ? job.size : 0);
    job.firsts = firsts.data();
    job.counts = counts.data();
    std::optional<sorted_probes<Engine, Key>> slice;
    if (sorted) {
      slice.emplace(on, probes, job.begin, job.size, index.column, index.sorted_bits);
      job.order = slice->numbers.current.data();
      // Those of missing probes are no keys.
      if (probes.is_points && probes.lower.validity == nullptr)
        job.points = slice->keys.current.data();
    }
    if constexpr (rows_only) {
      job.rows_by_probe = order != rx_order::sorted;
      row_id* const rows = job.rows_by_probe ? operation.out : firsts.data();
      job.rows = traces_rows ? rows : nullptr;
      tracer.trace(on, job);
      if (!traces_rows) {
        job.rows = rows;
        Engine::executor::for_each(on, put_found_row<Scene, Entries>{job, index.entries}, job.size);
      }
      if (!job.rows_by_probe) {
        Engine::scatter(on, job.order, rows, operation.out + job.begin, job.size);
      }
    } else {
      tracer.trace(on, job);
      answer_traced<Engine>(on, operation, job, index.entries, index.plan);
    }
  }
}

}  // namespace raydex
