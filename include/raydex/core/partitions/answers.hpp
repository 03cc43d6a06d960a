// SPDX-License-Identifier: Apache-2.0
/// @file
/// The way back: answers of pieces become those of the probes that the pieces are of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/partitions/pieces.hpp"

namespace raydex::core {

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
