// SPDX-License-Identifier: Apache-2.0
/// @file
/// The way back: answers of pieces become those of the probes that the pieces are of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/partitions/piece_answer.hpp"

namespace raydex::core {

/// Puts the answers of points to those of their probes: all shards' pieces of some neighbouring
/// probes at about the same time, so that a GPU's L2 writes whole sectors.
template <class Value, class Number, class Out>
struct place_answers {
  static constexpr std::uint64_t at_once = std::uint64_t{1} << 14;  ///< pieces of a group

  const Number* sources;        ///< the probe of each piece, ascending in a shard
  cells answers;                ///< of all pieces
  const std::uint64_t* begins;  ///< of each shard, and where the last one ends
  unsigned shards;              ///< how many there are
  std::uint64_t parts;          ///< that each shard's pieces are divided in
  Out* out;                     ///< an answer a probe

  static constexpr std::size_t most_scratch_bytes = 0;  ///< of a group
  /// None.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  /// Puts a part of each shard's.
  template <group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t part) const {
    // Lanes side by side read neighbours, a sector of them at least.
    unsigned width = group.lanes();
    while (width > 8 && width * shards > group.lanes())
      width /= 2;
    for (unsigned shard = group.lane() / width; shard < shards; shard += group.lanes() / width) {
      const std::uint64_t begin = begins[shard];
      const std::uint64_t size = begins[shard + 1] - begin;
      const std::uint64_t each = (size + parts - 1) / parts;
      const std::uint64_t first = part * each;
      const std::uint64_t last = size < first + each ? size : first + each;
      for (std::uint64_t j = first + group.lane() % width; j < last; j += at_a_time * width)
        put_some(begin + j, begin + last, width);
    }
  }

 private:
  static constexpr std::uint64_t at_a_time = 4;  // so that reads are under way together

  RAYDEX_HD void put_some(std::uint64_t first, std::uint64_t end, std::uint64_t step) const {
    Number to[at_a_time] = {};
    Out answer[at_a_time] = {};
    RAYDEX_UNROLL
    for (unsigned r = 0; r < at_a_time; ++r) {
      const std::uint64_t i = first + r * step;
      if (i >= end) continue;
      to[r] = load_once(sources + i);
      answer[r] = static_cast<Out>(
          load_once(reinterpret_cast<const Value*>(answers.data + i * answers.stride)));
    }
    RAYDEX_UNROLL
    for (unsigned r = 0; r < at_a_time; ++r)
      if (first + r * step < end) out[to[r]] = answer[r];
  }
};

/// Puts the answers of one shard's pieces to those of their probes.
template <class Value, class Number>
struct put_answers {
  const Number* sources;  ///< the probe of each piece
  cells answers;          ///< of all pieces
  std::uint64_t first;    ///< the shard's first piece
  piece_answer how;       ///< sum or minimum
  Value* out;             ///< an answer a probe
  /// Puts one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto answer = answers.get<Value>(first + i);
    Value& to = out[load_once(sources + first + i)];
    if (how == piece_answer::sum) {
      to = static_cast<Value>(to + answer);
    } else if (answer < to) {
      to = answer;
    }
  }
};

}  // namespace raydex::core
