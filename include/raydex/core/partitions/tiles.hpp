// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same partition of points by groups that have fast memory: a tile of them is put in order
/// there, and each shard's part of it is written as one run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/partitions/pieces.hpp"

namespace raydex::core {

/// Points of a tile: a group has as many at once. With 8 shards and 32-bit keys, a run of 512
/// points.
inline constexpr unsigned points_of_tile = 4096;

/// Points of a chunk: a tile, and with many shards more of them, since a chunk has a number for
/// each shard. A group's memory holds an answer of each, but for answers of 8 bytes with 192 shards
/// or more.
RAYDEX_HD constexpr std::uint64_t points_of_chunk(std::uint64_t shards) {
  const std::uint64_t tiles = shards / 64;
  return points_of_tile * (tiles < 1 ? 1 : tiles < 4 ? tiles : 4);
}

/// The most teams of a group that writes tiles.
inline constexpr std::size_t most_teams_of_tiles = 8;

/// Bytes of fast memory for a tile, and for each shard a splitter, two places, and a number a team.
template <class Key>
RAYDEX_HD constexpr std::size_t bytes_of_tile(std::uint64_t shards) {
  return points_of_tile * (sizeof(Key) + 4) +
         shards * (sizeof(Key) + 16 + 4 * most_teams_of_tiles) + 128;
}

/// Takes an array of a group's memory, which begins behind it then.
template <class T>
RAYDEX_HD inline T* taken_from(std::byte*& memory, std::size_t size) {
  auto* const array = reinterpret_cast<T*>(memory);
  memory += size * sizeof(T);
  return array;
}

/// Has a group copy the splitters to its own memory.
template <class Key, group Group>
RAYDEX_HD inline owner_list<Key> copied_owners(const Group& group, const owner_list<Key>& owners,
                                               Key* own) {
  for (unsigned i = group.lane(); i < owners.size; i += group.lanes())
    own[i] = owners.splitters[i];
  return {own, owners.size};
}

/// Writes how many points of each chunk go to each shard.
template <class Key>
struct count_points {
  divided_probes<Key> probes;  ///< points, no byte strings
  std::uint64_t* counts;       ///< of shard s and chunk c at s * chunks + c

  static constexpr std::size_t most_scratch_bytes = 1024 * (sizeof(Key) + 4);  ///< of a group
  /// A splitter and a number a shard.
  RAYDEX_HD std::size_t scratch_bytes() const { return probes.shards() * (sizeof(Key) + 4); }

  /// Counts those of one.
  template <group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t chunk) const {
    constexpr unsigned at_once = 8;
    const unsigned shards = probes.shards();
    const auto owners = copied_owners(group, probes.owners, taken_from<Key>(scratch, shards));
    auto* const own = taken_from<std::uint32_t>(scratch, shards);
    for (unsigned shard = group.lane(); shard < shards; shard += group.lanes())
      own[shard] = 0;
    group.sync();
    const std::uint64_t begin = chunk * probes.chunk;
    const std::uint64_t end = probes.end_of(chunk);
    for (std::uint64_t first = begin; first < end; first += at_once * group.lanes()) {
      Key codes[at_once];
      bool has[at_once];
      RAYDEX_UNROLL
      for (unsigned r = 0; r < at_once; ++r) {
        const std::uint64_t i = first + r * group.lanes() + group.lane();
        has[r] = i < end && probes.lower.valid(i);
        codes[r] = has[r] ? probes.lower.raw(i) : 0;
      }
      probes.lower.encode_all(codes);
      RAYDEX_UNROLL
      for (unsigned r = 0; r < at_once; ++r)
        if (has[r]) add_atomically(own + owners.owner_of(codes[r]), 1);
    }
    group.sync();
    for (unsigned shard = group.lane(); shard < shards; shard += group.lanes())
      counts[shard * probes.chunks + chunk] = own[shard];
  }
};

/// Writes the points of each chunk, tile after tile.
template <class Key, class Number>
struct write_points {
  divided_probes<Key> probes;  ///< points, no byte strings
  piece_places places;         ///< of all pieces
  Number* sources;             ///< the probe of each piece
  Key* cells;                  ///< its cell

  static constexpr std::size_t most_scratch_bytes = bytes_of_tile<Key>(1024);  ///< of a group
  /// A tile and its shards.
  RAYDEX_HD std::size_t scratch_bytes() const { return bytes_of_tile<Key>(probes.shards()); }

  /// Writes those of one.
  template <group_of_teams Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t chunk) const {
    const unsigned shards = probes.shards();
    // What is wider comes first, so that all is aligned.
    tile in{};
    in.sums = taken_from<std::uint64_t>(scratch, 8);
    in.size = taken_from<std::uint64_t>(scratch, 1);
    in.next = taken_from<std::uint64_t>(scratch, shards);
    in.shift = taken_from<std::uint64_t>(scratch, shards);
    in.cells = taken_from<Key>(scratch, points_of_tile);
    const auto owners = copied_owners(group, probes.owners, taken_from<Key>(scratch, shards));
    in.places = taken_from<std::uint32_t>(scratch, most_teams_of_tiles * shards);
    in.probe = taken_from<std::uint16_t>(scratch, points_of_tile);
    in.shard = taken_from<std::uint16_t>(scratch, points_of_tile);

    for (unsigned shard = group.lane(); shard < shards; shard += group.lanes())
      in.next[shard] = places.begin_of(shard, chunk);
    const std::uint64_t end = probes.end_of(chunk);
    for (std::uint64_t first = chunk * probes.chunk; first < end; first += points_of_tile)
      write_tile(group, in, owners, first, end);
  }

 private:
  struct tile {
    std::uint64_t* sums;    // of the group's
    std::uint64_t* size;    // how many points are in it
    std::uint64_t* next;    // of each shard: where its next point is written
    std::uint64_t* shift;   // from a place in the tile to that in the output
    std::uint32_t* places;  // of each team and shard: the first in the tile
    Key* cells;             // in the order of shards
    std::uint16_t* probe;   // from the first of the tile on
    std::uint16_t* shard;   // of each
  };

  template <class Group>
  RAYDEX_HD void write_tile(const Group& group, const tile& in, const owner_list<Key>& owners,
                            std::uint64_t first, std::uint64_t end) const {
    static_assert(Group::teams() <= most_teams_of_tiles && points_of_tile % Group::lanes() == 0);
    constexpr unsigned rows = points_of_tile / Group::lanes();
    const unsigned shards = probes.shards();
    const auto team = group.team();
    // A team's points are neighbours, so that the order of the probes is that of the teams.
    const unsigned mine = group.team_number() * rows * team.lanes() + team.lane();
    std::uint32_t* const own = in.places + group.team_number() * shards;
    for (unsigned i = group.lane(); i < group.teams() * shards; i += group.lanes())
      in.places[i] = 0;
    group.sync();

    Key bits[rows];
    std::uint32_t targets[rows];  // place among the team's of the shard, and the shard
    RAYDEX_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      const std::uint64_t i = first + mine + r * team.lanes();
      const bool has = i < end && probes.lower.valid(i);
      bits[r] = has ? probes.lower.raw(i) : 0;
      targets[r] = has ? 0 : none;
    }
    RAYDEX_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      Key code[1] = {bits[r]};
      probes.lower.encode_all(code);
      const bool has = targets[r] != none;
      const unsigned shard = owners.owner_of(code[0]);
      unsigned total = 0;
      const unsigned before = team.count_before(has, shard, total);
      const std::uint32_t place = has ? own[shard] + before : 0;
      team.sync();
      if (has && before == 0) own[shard] = place + total;
      team.sync();
      if (has) targets[r] = place << 16 | shard;
    }
    group.sync();
    place_shards(group, in);
    group.sync();
    RAYDEX_UNROLL
    for (unsigned r = 0; r < rows; ++r) {
      if (targets[r] == none) continue;
      const unsigned shard = targets[r] & 0xffff;
      const std::uint32_t at = own[shard] + (targets[r] >> 16);
      in.cells[at] = bits[r];
      in.probe[at] = static_cast<std::uint16_t>(mine + r * team.lanes());
      in.shard[at] = static_cast<std::uint16_t>(shard);
    }
    group.sync();
    const std::uint64_t size = *in.size;
    for (unsigned at = group.lane(); at < size; at += group.lanes()) {
      const std::uint64_t to = in.shift[in.shard[at]] + at;
      sources[to] = static_cast<Number>(first + in.probe[at]);
      cells[to] = in.cells[at];
    }
  }

  // From how many points of each team go to each shard to where the first of them is.
  template <class Group>
  RAYDEX_HD void place_shards(const Group& group, const tile& in) const {
    const unsigned shards = probes.shards();
    const unsigned each = (shards + group.lanes() - 1) / group.lanes();
    const unsigned begin = group.lane() * each < shards ? group.lane() * each : shards;
    const unsigned end = begin + each < shards ? begin + each : shards;
    std::uint64_t sum = 0;
    for (unsigned shard = begin; shard < end; ++shard) {
      for (unsigned t = 0; t < group.teams(); ++t)
        sum += in.places[t * shards + shard];
    }
    std::uint64_t place = group.sum_before(sum, in.sums);
    for (unsigned shard = begin; shard < end; ++shard) {
      const std::uint64_t start = place;
      for (unsigned t = 0; t < group.teams(); ++t) {
        const std::uint32_t count = in.places[t * shards + shard];
        in.places[t * shards + shard] = static_cast<std::uint32_t>(place);
        place += count;
      }
      in.shift[shard] = in.next[shard] - start;
      in.next[shard] += place - start;
    }
    if (end == shards && begin < end) *in.size = place;
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

}  // namespace raydex::core
