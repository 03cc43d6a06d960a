// SPDX-License-Identifier: Apache-2.0
/// @file
/// A stable partition of a batch by the owners of its keys: chunks of probes count their pieces,
/// then each knows where to write them. And the way back: answers of pieces become those of the
/// probes that the pieces are of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::core {

/// The shards that keys belong to.
template <class Key>
struct owner_list {
  const Key* splitters;  ///< codes, ascending; in any memory
  unsigned size;         ///< how many there are, one less than shards

  /// How many splitters are not greater than a key.
  RAYDEX_HD unsigned owner_of(Key code) const {
    unsigned before = 0;
    for (unsigned length = size; length > 0;) {
      const unsigned half = (length + 1) / 2;
      if (splitters[before + half - 1] <= code) before += half;
      length -= half;
    }
    return before;
  }
};

/// Probes with their owners, in chunks that a group takes each.
template <class Key>
struct divided_probes {
  static constexpr unsigned rows_at_once = 4;  ///< so that reads are under way together

  encoded_column<Key> lower;  ///< points, or lower ends
  encoded_column<Key> upper;  ///< upper ends
  bool is_points;             ///< whether these are points
  std::uint64_t size;         ///< how many probes there are
  owner_list<Key> owners;     ///< of keys
  std::uint64_t chunk;        ///< probes of a chunk
  std::uint64_t chunks;       ///< how many there are

  /// How many shards there are.
  RAYDEX_HD unsigned shards() const { return owners.size + 1; }

  /// Behind the last probe of a chunk.
  RAYDEX_HD std::uint64_t end_of(std::uint64_t number) const {
    const std::uint64_t begin = number * chunk;
    return size - begin < chunk ? size : begin + chunk;
  }

  /// The shards that a probe goes to.
  RAYDEX_HD interval<unsigned> shards_of(std::uint64_t i) const {
    constexpr interval<unsigned> none{1, 0};
    if (i >= size || !lower.valid(i)) return none;
    const Key first = lower[i];
    if (is_points) {
      const unsigned owner = owners.owner_of(first);
      return {owner, owner};
    }
    if (!upper.valid(i)) return none;
    const Key last = upper[i];
    return last < first ? none : interval<unsigned>{owners.owner_of(first), owners.owner_of(last)};
  }

  /// Calls visit(has one, shard, probe) for the pieces of a chunk, all threads of the group
  /// together, in an order that is that of the probes for each shard.
  template <partitioning_group Group, class Visit>
  RAYDEX_HD void visit_pieces(const Group& group, std::uint64_t number, const Visit& visit) const {
    const std::uint64_t begin = number * chunk;
    const std::uint64_t end = end_of(number);
    for (std::uint64_t first = begin; first < end; first += rows_at_once * group.lanes()) {
      interval<unsigned> left[rows_at_once];
      RAYDEX_UNROLL
      for (unsigned r = 0; r < rows_at_once; ++r) {
        const std::uint64_t i = first + r * group.lanes() + group.lane();
        left[r] = shards_of(i < end ? i : size);
      }
      RAYDEX_UNROLL
      for (unsigned r = 0; r < rows_at_once; ++r) {
        const std::uint64_t i = first + r * group.lanes() + group.lane();
        if (is_points) {
          visit(left[r].lower <= left[r].upper, left[r].lower, i);
        } else {
          visit_ranges(group, left[r], [&](bool has, unsigned shard) { visit(has, shard, i); });
        }
      }
    }
  }

 private:
  // Shard after shard, so that a probe's piece is not before one of an earlier probe.
  template <class Group, class Visit>
  RAYDEX_HD void visit_ranges(const Group& group, interval<unsigned> left,
                              const Visit& visit) const {
    const unsigned none = shards();
    for (;;) {
      const bool any = left.lower <= left.upper;
      const unsigned shard = group.reduce(any ? left.lower : none,
                                          [](unsigned a, unsigned b) { return a < b ? a : b; });
      if (shard == none) return;
      const bool has = any && left.lower == shard;
      visit(has, shard);
      if (has) ++left.lower;
    }
  }
};

/// Writes how many pieces of each chunk go to each shard.
template <class Key>
struct count_pieces {
  divided_probes<Key> probes;  ///< of a batch
  std::uint64_t* counts;       ///< of shard s and chunk c at s * chunks + c

  static constexpr std::size_t most_scratch_bytes = 1024 * sizeof(unsigned);  ///< of a group
  /// A number a shard.
  RAYDEX_HD std::size_t scratch_bytes() const { return probes.shards() * sizeof(unsigned); }

  /// Counts those of one.
  template <partitioning_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t chunk) const {
    auto* const own = reinterpret_cast<unsigned*>(scratch);
    for (unsigned shard = group.lane(); shard < probes.shards(); shard += group.lanes())
      own[shard] = 0;
    group.sync();
    probes.visit_pieces(group, chunk, [&](bool has, unsigned shard, std::uint64_t /*i*/) {
      unsigned total = 0;
      const unsigned before = group.count_before(has, shard, total);
      if (has && before == 0) own[shard] += total;
      group.sync();
    });
    for (unsigned shard = group.lane(); shard < probes.shards(); shard += group.lanes())
      counts[shard * probes.chunks + chunk] = own[shard];
  }
};

/// Where the pieces of each chunk are written.
struct piece_places {
  const std::uint64_t* ends;    ///< sums of what `count_pieces` wrote
  const std::uint64_t* begins;  ///< of each shard, and where the last one ends
  std::uint64_t chunks;         ///< how many there are

  /// The first place of those of a shard and a chunk.
  RAYDEX_HD std::uint64_t begin_of(std::uint64_t shard, std::uint64_t chunk) const {
    return begins[shard] + before(shard, chunk) - before(shard, 0);
  }
  /// Behind the last piece of a shard. Up to where the next one begins there may be more places.
  RAYDEX_HD std::uint64_t end_of(std::uint64_t shard) const { return begin_of(shard, chunks); }
  /// How many pieces a shard has.
  RAYDEX_HD std::uint64_t size_of(std::uint64_t shard) const {
    return before(shard, chunks) - before(shard, 0);
  }

 private:
  // How many pieces come before those of a shard and a chunk.
  RAYDEX_HD std::uint64_t before(std::uint64_t shard, std::uint64_t chunk) const {
    const std::uint64_t number = shard * chunks + chunk;
    return number == 0 ? 0 : ends[number - 1];
  }
};

/// Writes how many places each shard has: a multiple of `unit`.
struct count_places {
  piece_places places;  ///< all but its `begins`
  std::uint64_t unit;   ///< 1 or more
  std::uint64_t* out;   ///< a number a shard
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t shard) const {
    out[shard] = (places.size_of(shard) + unit - 1) / unit * unit;
  }
};

/// Copies a cell to place `at` of an array of adjacent cells.
RAYDEX_HD inline void copy_cell(const cells& from, std::uint64_t i, std::byte* to,
                                std::uint64_t at) {
  if (from.format.type == key_type::bytes) {
    for (unsigned j = 0; j < from.format.width; ++j)
      to[at * from.format.width + j] = from.data[i * from.stride + j];
  } else if (from.format.width == 4) {
    reinterpret_cast<std::uint32_t*>(to)[at] = from.get<std::uint32_t>(i);
  } else {
    reinterpret_cast<std::uint64_t*>(to)[at] = from.get<std::uint64_t>(i);
  }
}

/// Writes the pieces of each chunk.
template <class Key, class Number>
struct write_pieces {
  divided_probes<Key> probes;  ///< of a batch
  piece_places places;         ///< of all pieces
  Number* sources;             ///< the probe of each piece
  std::byte* lower;            ///< its cell
  std::byte* upper;            ///< of ranges, the other one

  static constexpr std::size_t most_scratch_bytes = 1024 * sizeof(std::uint64_t);  ///< of a group
  /// A number a shard.
  RAYDEX_HD std::size_t scratch_bytes() const { return probes.shards() * sizeof(std::uint64_t); }

  /// Writes those of one.
  template <partitioning_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t chunk) const {
    auto* const next = reinterpret_cast<std::uint64_t*>(scratch);
    for (unsigned shard = group.lane(); shard < probes.shards(); shard += group.lanes())
      next[shard] = places.begin_of(shard, chunk);
    group.sync();
    probes.visit_pieces(group, chunk, [&](bool has, unsigned shard, std::uint64_t i) {
      unsigned total = 0;
      const unsigned before = group.count_before(has, shard, total);
      const std::uint64_t first = has ? next[shard] : 0;
      group.sync();
      if (has && before == 0) next[shard] = first + total;
      group.sync();
      if (!has) return;
      const std::uint64_t at = first + before;
      sources[at] = static_cast<Number>(i);
      copy_cell(probes.lower, i, lower, at);
      if (!probes.is_points) copy_cell(probes.upper, i, upper, at);
    });
  }
};

/// Fills what is left of each shard's places with copies of its last piece.
template <class Number>
struct repeat_last_pieces {
  cells lower;          ///< what was divided
  piece_places places;  ///< of all pieces
  std::uint64_t unit;   ///< places of a shard are a multiple of it
  Number* sources;      ///< the probe of each piece
  std::byte* out;       ///< its cell
  /// Fills one, if it is left.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t shard = i / unit;
    const std::uint64_t end = places.end_of(shard);
    const std::uint64_t at = end + i % unit;
    if (at >= places.begins[shard + 1]) return;
    sources[at] = sources[end - 1];
    copy_cell(lower, sources[at], out, at);
  }
};

/// Writes the keys that divide sorted ones.
template <class RowId>
struct put_splitters {
  cells from;           ///< the sample
  const RowId* sorted;  ///< its rows in the order of their keys
  std::uint64_t rows;   ///< how many, not 0
  std::uint64_t parts;  ///< one more than splitters
  std::byte* out;       ///< the splitters
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    // Without a product that is too large.
    const std::uint64_t at = rows / parts * (i + 1) + rows % parts * (i + 1) / parts;
    copy_cell(from, sorted[at], out, i);
  }
};

/// Counts where keys do not ascend.
template <class Key>
struct count_descents {
  const Key* keys;       ///< two at least
  std::uint64_t* count;  ///< where to
  /// Looks at one and its next.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (keys[i + 1] < keys[i]) add_atomically(count, 1);
  }
};

/// Puts the answers of points to those of their probes, a chunk of probes a group, as they were
/// divided: each shard has a run of its pieces.
template <class Value, class Number, class Out>
struct place_answers {
  const Number* sources;  ///< the probe of each piece, ascending in a shard
  cells answers;          ///< of all pieces
  piece_places places;    ///< of all pieces
  unsigned shards;        ///< how many there are
  std::uint64_t chunk;    ///< probes of a chunk
  std::uint64_t size;     ///< how many probes there are
  bool in_order;  ///< whether a chunk is put in order in the group's memory; no probe lacks a piece
  Out* out;       ///< an answer a probe

  static constexpr std::size_t most_scratch_bytes = std::size_t{1} << 16;  ///< of a group
  /// A chunk.
  RAYDEX_HD std::size_t scratch_bytes() const { return in_order ? chunk * sizeof(Value) : 0; }

  /// Puts those of one.
  template <group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t number) const {
    const std::uint64_t first = number * chunk;
    auto* const ordered = reinterpret_cast<Value*>(scratch);
    visit_runs(group, number, [&](Number probe, Value answer) {
      if (in_order) {
        ordered[probe - first] = answer;
      } else {
        out[probe] = static_cast<Out>(answer);
      }
    });
    if (!in_order) return;
    group.sync();
    const std::uint64_t end = size - first < chunk ? size - first : chunk;
    for (std::uint64_t i = group.lane(); i < end; i += group.lanes())
      out[first + i] = static_cast<Out>(ordered[i]);
  }

 private:
  static constexpr std::uint64_t at_a_time = 4;  // so that reads are under way together

  template <class Group, class Visit>
  RAYDEX_HD void visit_runs(const Group& group, std::uint64_t number, const Visit& visit) const {
    // Lanes side by side read neighbours, a sector of them at least.
    unsigned width = group.lanes();
    while (width > 8 && width * shards > group.lanes())
      width /= 2;
    for (unsigned shard = group.lane() / width; shard < shards; shard += group.lanes() / width) {
      const std::uint64_t end = places.begin_of(shard, number + 1);
      for (std::uint64_t i = places.begin_of(shard, number) + group.lane() % width; i < end;
           i += at_a_time * width)
        visit_some(i, end, width, visit);
    }
  }

  template <class Visit>
  RAYDEX_HD void visit_some(std::uint64_t first, std::uint64_t end, std::uint64_t step,
                            const Visit& visit) const {
    Number probe[at_a_time] = {};
    Value answer[at_a_time] = {};
    RAYDEX_UNROLL
    for (unsigned r = 0; r < at_a_time; ++r) {
      const std::uint64_t i = first + r * step;
      if (i >= end) continue;
      probe[r] = load_once(sources + i);
      answer[r] = load_once(reinterpret_cast<const Value*>(answers.data + i * answers.stride));
    }
    RAYDEX_UNROLL
    for (unsigned r = 0; r < at_a_time; ++r)
      if (first + r * step < end) visit(probe[r], answer[r]);
  }
};

/// Puts the answers of one shard's pieces to those of their probes.
template <class Value, class Number>
struct put_answers {
  const Number* sources;  ///< the probe of each piece
  cells answers;          ///< of all pieces
  std::uint64_t first;    ///< the shard's first piece
  bool sums;              ///< adds answers, or else keeps the smaller ones
  Value* out;             ///< an answer a probe
  /// Puts one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto answer = answers.get<Value>(first + i);
    Value& to = out[load_once(sources + first + i)];
    if (sums) {
      to = static_cast<Value>(to + answer);
    } else if (answer < to) {
      to = answer;
    }
  }
};

}  // namespace raydex::core
