// SPDX-License-Identifier: Apache-2.0
// Hash tables of a column's keys, filled without a sort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/pairs.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "src/machines/cuda/joins/division.cuh"

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

// Open addressing, in parts by the highest bits of hashes, or in one. Different keys have different
// hashes, so that a hash stands for its key. Bytes of ones are an empty table; each part has an
// empty slot.
template <class Key, class Slot>
struct key_table {
  static constexpr Key empty = std::numeric_limits<Key>::max();
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  core::hash_function<Key> mix;
  Slot* slots;               // and one more, for the key whose hash is `empty`
  unsigned part_bits;        // 0: it is one part
  std::uint32_t part_slots;  // of each part

  RAYDEX_HD std::uint32_t size() const { return part_slots << part_bits; }
  // Where the slots of a hash's part begin.
  RAYDEX_HD std::uint32_t begin_of(Key hash) const {
    return part_bits == 0 ? 0 : part_of(hash, part_bits) * part_slots;
  }
  // The slot of the part that a hash belongs to.
  RAYDEX_HD std::uint32_t home_of(Key hash) const {
    return core::home_of(static_cast<Key>(hash << part_bits), part_slots);
  }
  RAYDEX_HD std::uint32_t after(std::uint32_t slot) const {
    return slot + 1 == part_slots ? 0 : slot + 1;
  }

  // Puts a hash into the slots of its part, unless it is there: then false.
  RAYDEX_HD bool put(Key hash, std::uint32_t row, Slot* part) const {
    for (std::uint32_t at = home_of(hash);; at = after(at)) {
      Key own = core::load_atomically(&part[at].hash);
      if (own == empty) {
        if (take(part[at], hash, row)) return true;
        own = core::load_atomically(&part[at].hash);
      }
      if (own == hash) return false;
    }
  }
  // The same of `empty`.
  RAYDEX_HD bool put_empty(std::uint32_t row) const {
    Slot& slot = slots[size()];
    if (!core::replace_atomically(&slot.hash, empty, static_cast<Key>(0))) return false;
    slot.keep(row);
    return true;
  }

  // What the slots of keys keep, or none. All are under way at a time.
  template <std::size_t N>
  RAYDEX_HD void find(const Key (&codes)[N], std::uint32_t (&kept)[N]) const {
    Key hashes[N];
    Slot first[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      hashes[j] = mix(codes[j]);
      first[j] = slots[hashes[j] == empty ? size() : begin_of(hashes[j]) + home_of(hashes[j])];
    }
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      kept[j] = find(hashes[j], first[j]);
  }

 private:
  RAYDEX_HD static bool take(Slot& slot, Key hash, std::uint32_t row) {
    if (!core::replace_atomically(&slot.hash, empty, hash)) return false;
    slot.keep(row);  // nobody looks at it yet
    return true;
  }
  // From the slot at its home on.
  RAYDEX_HD std::uint32_t find(Key hash, Slot slot) const {
    if (hash == empty) return slot.hash == empty ? none : slot.kept();
    if (slot.hash == hash) return slot.kept();
    const Slot* const part = slots + begin_of(hash);
    for (std::uint32_t at = home_of(hash); slot.hash != hash; slot = part[at]) {
      if (slot.hash == empty) return none;
      at = after(at);
    }
    return slot.kept();
  }
};

// Puts the keys of rows into a table of one part.
template <class Key, class Slot>
struct put_keys {
  core::encoded_column<Key> keys;
  key_table<Key, Slot> table;
  std::uint64_t* differ;  // set to 0 if two rows have a key; null: not wanted

  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (!keys.valid(i)) return;
    const Key hash = table.mix(keys[i]);
    const auto row = static_cast<std::uint32_t>(i);
    const bool is_new =
        hash == table.empty ? table.put_empty(row) : table.put(hash, row, table.slots);
    if (!is_new && differ != nullptr) core::store_atomically(differ, std::uint64_t{0});
  }
};

// Fills a table by parts, which blocks make in shared memory: what is inserted at random in a large
// table takes three times as long as all else.
template <class Key, class Slot>
struct fill_parts {
  divided_side<Key> build;
  key_table<Key, Slot> table;
  std::uint64_t* differ;   // as of `put_keys`
  std::uint64_t* suffice;  // set to 0 if a part has too few slots

  std::size_t scratch_bytes() const { return table.part_slots * sizeof(Slot) + 16; }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t part) const {
    auto* const own = reinterpret_cast<Slot*>(scratch);
    for (unsigned i = group.lane(); i < table.part_slots; i += group.lanes())
      own[i] = empty_slot();
    group.sync();
    const std::uint32_t begin = build.begins[part];
    const std::uint32_t end = build.begins[part + 1];
    if (end - begin < table.part_slots) {
      for (std::uint32_t i = begin + group.lane(); i < end; i += group.lanes()) {
        const Key hash = core::load_once(build.hashes + i);
        const std::uint32_t row = core::load_once(build.rows + i);
        const bool is_new = hash == table.empty ? table.put_empty(row) : table.put(hash, row, own);
        if (!is_new && differ != nullptr) core::store_atomically(differ, std::uint64_t{0});
      }
    } else if (group.lane() == 0) {
      core::store_atomically(suffice, std::uint64_t{0});
    }
    group.sync();
    Slot* const out = table.slots + part * table.part_slots;
    for (unsigned i = group.lane(); i < table.part_slots; i += group.lanes())
      out[i] = own[i];
  }

 private:
  RAYDEX_HD static Slot empty_slot() {
    Slot slot;
    std::memset(&slot, 0xff, sizeof slot);
    return slot;
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
