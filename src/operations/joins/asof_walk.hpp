// SPDX-License-Identifier: Apache-2.0
// As-of joins of times that ascend on both sides: a walk along both columns, without a search.
// For machines whose threads are few.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/group.hpp"
#include "raydex/core/joins/key_numbers.hpp"
#include "raydex/join.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// Times that lie side by side, none missing, as codes in their order; `Mirrored`, from the last one
// to the first, so that these codes ascend, too. A number without a sign stands for one of as many
// bits with a sign, whose codes differ by the highest bit.
template <class Time, bool Mirrored>
struct walked_times {
  using code = encoded_t<Time>;

  explicit walked_times(const column& times)
      : cells_(static_cast<const Time*>(times.data)),
        last_(times.size - 1),
        turned_(times.format.type == key_type::int32 || times.format.type == key_type::int64
                    ? static_cast<code>(~(static_cast<code>(~code{0}) >> 1))
                    : code{0}) {}

  std::uint64_t row(std::uint64_t i) const { return Mirrored ? last_ - i : i; }
  code operator[](std::uint64_t i) const {
    const code encoded = static_cast<code>(encode(cells_[row(i)]) ^ turned_);
    return Mirrored ? static_cast<code>(~encoded) : encoded;
  }

 private:
  const Time* cells_;
  std::uint64_t last_;
  code turned_;
};

// Calls f.template operator()<Time>() with the type whose cells are read.
template <class F>
void with_walked_type(key_type type, const F& f) {
  switch (type) {
    case key_type::float32:
      return f.template operator()<float>();
    case key_type::float64:
      return f.template operator()<double>();
    case key_type::uint32:
    case key_type::int32:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

// The numbers of keys of a table, some at a time.
class walked_keys {
 public:
  static constexpr std::uint64_t together = 256;

  // Of so many rows; what has no number gets `none`.
  walked_keys(const core::key_numbers& keys, std::uint64_t rows, std::uint32_t none)
      : keys_(&keys), rows_(rows), none_(none) {}

  // That of a row, by a walk upwards or, `Mirrored`, downwards.
  template <bool Mirrored>
  std::uint32_t at(std::uint64_t row) {
    if (row - first_ >= together) [[unlikely]]
      read(Mirrored ? row - std::min(row, together - 1) : row);
    return numbers_[row - first_];
  }

 private:
  void read(std::uint64_t first) {
    first_ = first;
    const std::uint64_t size = std::min(together, rows_ - first);
    const core::key_cells& cells = keys_->keys.parts[0];
    // Most keys are a column of integers of 32 bits: a loop without a branch.
    if (keys_->slots == nullptr && keys_->keys.count == 1 && cells.fixed.validity == nullptr &&
        cells.fixed.format.type != key_type::float32 &&
        cells.fixed.format.type != key_type::bytes && cells.fixed.format.width == 4 &&
        cells.fixed.stride == 4) {
      const auto* const all = reinterpret_cast<const std::uint32_t*>(cells.fixed.data) + first;
      const auto smallest = static_cast<std::uint32_t>(keys_->first[0]);
      const auto span = static_cast<std::uint32_t>(keys_->size[0]);
      const std::uint32_t turned =
          cells.fixed.format.type == key_type::int32 ? encode(std::int32_t{0}) : 0;
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint32_t number = (all[i] ^ turned) - smallest;
        numbers_[i] = number <= span ? number : none_;
      }
      return;
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t number = (*keys_)[first + i];
      numbers_[i] = number == core::key_numbers::none ? none_ : static_cast<std::uint32_t>(number);
    }
  }

  const core::key_numbers* keys_;
  std::uint64_t rows_;
  std::uint32_t none_;
  std::uint64_t first_ = std::uint64_t{1} << 63;  // far from all rows
  std::uint32_t numbers_[together];
};

// Finds out whether codes ascend, a chunk at a time.
template <class Time>
struct find_descent {
  static constexpr std::uint64_t chunk = 1 << 14;
  static constexpr std::size_t most_scratch_bytes = 0;

  walked_times<Time, false> times;
  std::uint64_t size;
  std::atomic<bool>* descends;

  template <class Group>
  void operator()(const Group& /*group*/, std::byte* /*scratch*/, std::uint64_t c) const {
    if (descends->load(std::memory_order_relaxed)) return;
    const std::uint64_t end = std::min(size - 1, (c + 1) * chunk);
    bool any = false;
    for (std::uint64_t i = c * chunk; i < end; ++i)
      any |= times[i + 1] < times[i];
    if (any) descends->store(true, std::memory_order_relaxed);
  }
};

// Whether times lie side by side, and none is missing.
inline bool are_plain_times(const column& times) {
  return times.validity == nullptr && times.step() == times.format.width && times.size != 0 &&
         times.size < not_found<std::uint32_t> && times.format.type != key_type::bytes;
}

// Whether these ascend. Waits.
template <executor Executor>
bool do_ascend(const context& on, const column& times) {
  std::atomic<bool> descends = false;
  with_walked_type(times.format.type, [&]<class Time>() {
    using find = find_descent<Time>;
    Executor::for_each_in_warps(on, find{walked_times<Time, false>(times), times.size, &descends},
                                (times.size + find::chunk - 1) / find::chunk);
  });
  return !descends;
}

// Rows of two tables in one order: in that of times, a build row before the probes that may take
// it. It is walked in parts with equally many rows of both.
template <class Time, bool Mirrored, bool Strict>
class walked_order {
 public:
  using times = walked_times<Time, Mirrored>;

  // Build rows from `first` on; those after the last probe are left out.
  walked_order(const column& build, const column& probe, bool from_first_probe)
      : build_(build), probe_(probe), probes_(probe.size) {
    end_ = before(probe_[probes_ - 1], 0, build.size);
    if (from_first_probe) begin_ = before(probe_[0], 0, end_);
  }

  // Where a part begins.
  struct place {
    std::uint64_t build;
    std::uint64_t probe;
  };

  std::uint64_t rows() const { return end_ - begin_ + probes_; }
  // How many rows are in the parts before one of some.
  std::uint64_t begin_of(std::uint64_t part, std::uint64_t parts) const {
    return part == parts ? rows() : rows() / parts * part;
  }
  // That of what so many rows come before.
  place at(std::uint64_t rows) const {
    std::uint64_t low = rows < probes_ ? 0 : rows - probes_;
    std::uint64_t high = std::min(rows, end_ - begin_);
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (precedes(begin_ + middle, probe_[rows - 1 - middle])) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return {begin_ + low, rows - low};
  }

  bool precedes(std::uint64_t build, typename times::code probe) const {
    return Strict ? build_[build] < probe : build_[build] <= probe;
  }
  typename times::code probe(std::uint64_t i) const { return probe_[i]; }
  std::uint64_t build_row(std::uint64_t i) const { return build_.row(i); }
  std::uint64_t probe_row(std::uint64_t i) const { return probe_.row(i); }

  // How many build rows come before a probe, at least `low`: by steps that grow, so that few
  // probes among many rows take few of them.
  std::uint64_t advance(std::uint64_t low, typename times::code probe) const {
    constexpr std::uint64_t together = 8;
    for (std::uint64_t step = together; low + together <= end_; step *= 2) {
      unsigned less = 0;
      for (std::uint64_t j = 0; j < together; ++j)
        less += static_cast<unsigned>(precedes(low + j, probe));
      low += less;
      if (less != together) return low;
      if (step == together) continue;
      if (low + step > end_ || !precedes(low + step - 1, probe))
        return before(probe, low, std::min(low + step, end_));
      low += step;
    }
    while (low < end_ && precedes(low, probe))
      ++low;
    return low;
  }

 private:
  std::uint64_t before(typename times::code probe, std::uint64_t low, std::uint64_t high) const {
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (precedes(middle, probe)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  times build_;
  times probe_;
  std::uint64_t probes_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_;
};

// A part of the walk without keys: a probe's row is the last one before it.
template <class Order>
struct walk_alone {
  static constexpr std::size_t most_scratch_bytes = 0;

  Order order;
  std::uint64_t parts;
  std::uint32_t* out;

  template <class Group>
  void operator()(const Group& /*group*/, std::byte* /*scratch*/, std::uint64_t part) const {
    const std::uint64_t end = order.at(order.begin_of(part + 1, parts)).probe;
    const auto begin = order.at(order.begin_of(part, parts));
    std::uint64_t build = begin.build;
    for (std::uint64_t probe = begin.probe; probe < end; ++probe) {
      build = order.advance(build, order.probe(probe));
      out[order.probe_row(probe)] = build == 0
                                        ? not_found<std::uint32_t>
                                        : static_cast<std::uint32_t>(order.build_row(build - 1));
    }
  }
};

// The same with keys, by a table of the last row of each. A part begins with an empty one: what it
// does not find is found by `finish_walk`, in the tables of those before.
template <class Order, bool Mirrored>
struct walk_by_key {
  static constexpr std::size_t most_scratch_bytes = 0;

  Order order;
  std::uint64_t parts;
  const core::key_numbers* build_keys;
  const core::key_numbers* probe_keys;
  std::uint64_t build_rows;
  std::uint64_t probe_rows;
  std::uint32_t keys;      // how many numbers they have
  std::uint32_t* last;     // of each part a row a key, and two that no key has
  std::uint64_t* missing;  // of each part how many probes found nothing
  std::uint32_t* out;

  typename Order::place begin_of(std::uint64_t part) const {
    return order.at(order.begin_of(part, parts));
  }
  std::uint64_t cells() const { return std::uint64_t{keys} + 2; }

  template <class Group>
  void operator()(const Group& /*group*/, std::byte* /*scratch*/, std::uint64_t part) const {
    std::uint32_t* const last_rows = last + part * cells();
    std::fill_n(last_rows, cells(), not_found<std::uint32_t>);
    walked_keys built(*build_keys, build_rows, keys);
    walked_keys probed(*probe_keys, probe_rows, keys + 1);
    const auto end = begin_of(part + 1);
    const auto begin = begin_of(part);
    std::uint64_t build = begin.build;
    std::uint64_t none = 0;
    const auto pass = [&] {
      const std::uint64_t row = order.build_row(build++);
      last_rows[built.at<Mirrored>(row)] = static_cast<std::uint32_t>(row);
    };
    for (std::uint64_t probe = begin.probe; probe < end.probe; ++probe) {
      const auto time = order.probe(probe);
      while (build < end.build && order.precedes(build, time))
        pass();
      const std::uint64_t row = order.probe_row(probe);
      const std::uint32_t found = last_rows[probed.at<Mirrored>(row)];
      none += found == not_found<std::uint32_t> ? 1 : 0;
      out[row] = found;
    }
    while (build < end.build)
      pass();
    missing[part] = none;
  }
};

// Finds what probes of a part did not find there.
template <class Walk>
struct finish_walk {
  static constexpr std::size_t most_scratch_bytes = 0;

  Walk walk;

  template <class Group>
  void operator()(const Group& /*group*/, std::byte* /*scratch*/, std::uint64_t before) const {
    const std::uint32_t* const last_rows = walk.last + before * walk.cells();
    const std::uint64_t part = before + 1;
    std::uint64_t left = walk.missing[part];
    for (std::uint64_t probe = walk.begin_of(part).probe; left != 0; ++probe) {
      const std::uint64_t row = walk.order.probe_row(probe);
      if (walk.out[row] != not_found<std::uint32_t>) continue;
      --left;
      const std::uint64_t number = (*walk.probe_keys)[row];
      if (number != core::key_numbers::none) walk.out[row] = last_rows[number];
    }
  }
};

// Where the walk goes, and what it takes.
struct asof_walk {
  const column* build;
  const column* probe;
  bool before;  // whether the last row before a probe is taken, or the next one after it
  bool strict;  // whether one of its own time is not
};

// The keys of both sides, if there are any; their numbers have `bits` bits.
struct walked_by {
  core::key_numbers build;
  core::key_numbers probe;
  unsigned bits = 0;
};

// The most bits of the numbers of keys that are walked by: a table for each part is to be small
// beside the rows.
inline unsigned walked_key_bits(std::uint64_t build_rows) {
  constexpr unsigned always = 12;
  constexpr std::uint64_t rows_of_key = 8;
  return std::max(always, static_cast<unsigned>(std::bit_width(build_rows / rows_of_key | 1)) - 1);
}

template <executor Executor, class Order, bool Mirrored>
void walk_in(const context& on, const asof_walk& how, const walked_by* by, std::uint32_t* out) {
  const Order order(*how.build, *how.probe, by == nullptr);
  constexpr std::uint64_t least = 1 << 15;  // rows of a part
  constexpr std::uint64_t most = 64;
  if (by == nullptr) {
    const std::uint64_t parts = std::clamp<std::uint64_t>(order.rows() / least, 1, most);
    Executor::for_each_in_warps(on, walk_alone<Order>{order, parts, out}, parts);
    return;
  }
  const std::uint64_t keys = std::uint64_t{1} << by->bits;
  const std::uint64_t parts =
      std::clamp<std::uint64_t>(order.rows() / std::max(least, 4 * keys), 1, most);
  buffer<std::uint32_t> last(on, parts * (keys + 2));
  buffer<std::uint64_t> missing(on, parts);
  using walk_type = walk_by_key<Order, Mirrored>;
  const walk_type walk{order,
                       parts,
                       &by->build,
                       &by->probe,
                       how.build->size,
                       how.probe->size,
                       static_cast<std::uint32_t>(keys),
                       last.data(),
                       missing.data(),
                       out};
  Executor::for_each_in_warps(on, walk, parts);
  for (std::uint64_t part = 1; part < parts; ++part) {
    const std::uint32_t* const before = last.data() + (part - 1) * walk.cells();
    std::uint32_t* const own = last.data() + part * walk.cells();
    for (std::uint64_t key = 0; key < keys; ++key)
      own[key] = own[key] == not_found<std::uint32_t> ? before[key] : own[key];
  }
  Executor::for_each_in_warps(on, finish_walk<walk_type>{walk}, parts - 1);
}

// Writes the build row of each probe, or `not_found`. Both columns are plain, and ascend. Scratch:
// a byte a row at most.
template <executor Executor>
void walk_along(const context& on, const asof_walk& how, const walked_by* by, std::uint32_t* out) {
  with_walked_type(how.build->format.type, [&]<class Time>() {
    if (how.before) {
      if (how.strict)
        return walk_in<Executor, walked_order<Time, false, true>, false>(on, how, by, out);
      return walk_in<Executor, walked_order<Time, false, false>, false>(on, how, by, out);
    }
    if (how.strict)
      return walk_in<Executor, walked_order<Time, true, true>, true>(on, how, by, out);
    return walk_in<Executor, walked_order<Time, true, false>, true>(on, how, by, out);
  });
}

}  // namespace raydex
