// SPDX-License-Identifier: Apache-2.0
// Hash tables of a column's keys, filled without a sort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/pairs.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/lookups/hashing.hpp"

namespace raydex::cuda {

// A slot of a table whose keys have a row each.
template <class Key>
struct alignas(2 * sizeof(Key)) row_slot {
  Key hash;
  Key row;

  RAYDEX_HD void keep(std::uint32_t own) { row = own; }
  RAYDEX_HD std::uint32_t kept() const { return static_cast<std::uint32_t>(row); }
};

// A slot of a table that knows which keys there are: 0 stands for any row.
template <class Key>
struct key_slot {
  Key hash;

  RAYDEX_HD void keep(std::uint32_t /*own*/) {}
  RAYDEX_HD std::uint32_t kept() const { return 0; }
};

// Open addressing by lines. Different keys have different hashes, so that a hash stands for its
// key. Bytes of ones are an empty table.
template <class Key, class Slot>
struct key_table {
  static constexpr Key empty = std::numeric_limits<Key>::max();
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  core::hash_function<Key> mix;
  Slot* slots;          // and one more, for the key whose hash is `empty`
  std::uint32_t count;  // without that

  // Puts a key in, unless it is there: then false.
  RAYDEX_HD bool put(Key code, std::uint32_t row) const {
    const Key hash = mix(code);
    if (hash == empty) return take(count, 0, row);
    for (std::uint32_t at = core::home_of(hash, count);; at = after(at)) {
      Key own = core::load_atomically(&slots[at].hash);
      if (own == empty) {
        if (take(at, hash, row)) return true;
        own = core::load_atomically(&slots[at].hash);
      }
      if (own == hash) return false;
    }
  }

  // What the slots of keys keep, or none. All are under way at a time.
  template <std::size_t N>
  RAYDEX_HD void find(const Key (&codes)[N], std::uint32_t (&kept)[N]) const {
    Key hashes[N];
    std::uint32_t homes[N];
    Slot first[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      hashes[j] = mix(codes[j]);
      homes[j] = hashes[j] == empty ? count : core::home_of(hashes[j], count);
      first[j] = slots[homes[j]];
    }
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      kept[j] = find(hashes[j], homes[j], first[j]);
  }

 private:
  RAYDEX_HD bool take(std::uint32_t at, Key hash, std::uint32_t row) const {
    if (!core::replace_atomically(&slots[at].hash, empty, hash)) return false;
    slots[at].keep(row);  // nobody looks at it yet
    return true;
  }
  // From the slot at its home on.
  RAYDEX_HD std::uint32_t find(Key hash, std::uint32_t at, Slot slot) const {
    if (hash == empty) return slot.hash == empty ? none : slot.kept();
    while (slot.hash != hash) {
      if (slot.hash == empty) return none;
      at = after(at);
      slot = slots[at];
    }
    return slot.kept();
  }
  RAYDEX_HD std::uint32_t after(std::uint32_t slot) const {
    return slot + 1 == count ? 0 : slot + 1;
  }
};

// Puts the keys of rows into a table.
template <class Key, class Slot>
struct put_keys {
  core::encoded_column<Key> keys;
  key_table<Key, Slot> table;
  std::uint64_t* repeat;  // set to 0 if two rows have a key; null: not wanted

  RAYDEX_HD void operator()(std::uint64_t row) const {
    if (keys.valid(row) && !table.put(keys[row], static_cast<std::uint32_t>(row)) &&
        repeat != nullptr)
      core::store_atomically(repeat, std::uint64_t{0});
  }
};

// Finds the keys of the probes of a tile, and counts the rows of the join that they have.
template <class Key, class Slot>
struct find_keys {
  core::encoded_column<Key> probes;
  std::uint64_t size;  // of the probes
  key_table<Key, Slot> table;
  core::joining kind;
  std::uint32_t* found;  // of each probe what the slot of its key keeps, or the largest number
  std::uint64_t* rows;   // a number a tile

  static constexpr std::size_t scratch_bytes() { return 8 * sizeof(std::uint64_t); }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t tile) const {
    constexpr std::uint32_t none = key_table<Key, Slot>::none;
    constexpr unsigned at_once = 4;
    const std::uint64_t begin = tile * core::tile_probes + group.lane();
    const std::uint64_t end = tile * core::tile_probes + core::probes_of_tile(tile, size);
    std::uint64_t sum = 0;
    for (std::uint64_t first = begin; first < end; first += at_once * group.lanes()) {
      Key codes[at_once];
      bool valid[at_once];
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const std::uint64_t probe = first + j * group.lanes();
        valid[j] = probe < end && probes.valid(probe);
        codes[j] = valid[j] ? probes.raw(probe) : 0;
      }
      probes.encode_all(codes);
      std::uint32_t kept[at_once];
      table.find(codes, kept);
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const std::uint64_t probe = first + j * group.lanes();
        if (probe >= end) continue;
        const std::uint32_t own = valid[j] ? kept[j] : none;
        core::store_once(found + probe, own);
        sum += core::rows_of_join(kind, own == none ? 0 : 1);
      }
    }
    const std::uint64_t before = group.sum_before(sum, reinterpret_cast<std::uint64_t*>(scratch));
    if (group.lane() == group.lanes() - 1) rows[tile] = before + sum;
  }
};

}  // namespace raydex::cuda
