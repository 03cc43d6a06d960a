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
  // Bits that are set for the hashes that are there, `filter_words` of each part; null: none are.
  std::uint32_t* filter = nullptr;

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

  // A filter has so many bits a slot: one hash in fifteen that is not there passes.
  static constexpr std::uint32_t filter_bits = 8;
  // Of a part.
  RAYDEX_HD std::uint32_t filter_words() const { return (part_slots * filter_bits + 31) / 32; }
  // The bit of a hash among those of its part.
  RAYDEX_HD std::uint32_t filter_bit(Key hash) const {
    return core::home_of(static_cast<Key>(hash << part_bits), part_slots * filter_bits);
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

  // Whether a key is in the slot that it belongs to.
  RAYDEX_HD bool is_in_first_slot(Key code) const {
    const Key hash = mix(code);
    return hash != empty && slots[begin_of(hash) + home_of(hash)].hash == hash;
  }

  // What the slots of keys keep, or none. All are under way at a time. `Filtered`: whether the
  // filter is asked first.
  template <bool Filtered, std::size_t N>
  RAYDEX_HD void find(const Key (&codes)[N], std::uint32_t (&kept)[N]) const {
    Key hashes[N];
    bool may_be_there[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      hashes[j] = mix(codes[j]);
      may_be_there[j] = !Filtered || hashes[j] == empty || passes(hashes[j]);
    }
    Slot first[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      if (may_be_there[j])
        first[j] = slots[hashes[j] == empty ? size() : begin_of(hashes[j]) + home_of(hashes[j])];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      kept[j] = may_be_there[j] ? find(hashes[j], first[j]) : none;
  }

 private:
  RAYDEX_HD bool passes(Key hash) const {
    const std::uint32_t bit = filter_bit(hash);
    const std::uint32_t* const words = filter + part_of(hash, part_bits) * filter_words();
    return (core::load(words + bit / 32) >> bit % 32 & 1) != 0;
  }
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

  std::size_t scratch_bytes() const {
    return table.part_slots * sizeof(Slot) + words() * sizeof(std::uint32_t) + 16;
  }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t part) const {
    auto* const own = reinterpret_cast<Slot*>(scratch);
    auto* const bits = reinterpret_cast<std::uint32_t*>(own + table.part_slots);
    for (unsigned i = group.lane(); i < table.part_slots; i += group.lanes())
      own[i] = empty_slot();
    for (unsigned i = group.lane(); i < words(); i += group.lanes())
      bits[i] = 0;
    group.sync();
    const std::uint32_t begin = build.begins[part];
    const std::uint32_t end = build.begins[part + 1];
    if (end - begin < table.part_slots) {
      for (std::uint32_t i = begin + group.lane(); i < end; i += group.lanes()) {
        const Key hash = core::load_once(build.hashes + i);
        const std::uint32_t row = core::load_once(build.rows + i);
        const bool is_new = hash == table.empty ? table.put_empty(row) : table.put(hash, row, own);
        if (!is_new && differ != nullptr) core::store_atomically(differ, std::uint64_t{0});
        if (words() != 0) {
          const std::uint32_t bit = table.filter_bit(hash);
          core::set_bits_atomically(bits + bit / 32, std::uint32_t{1} << bit % 32);
        }
      }
    } else if (group.lane() == 0) {
      core::store_atomically(suffice, std::uint64_t{0});
    }
    group.sync();
    Slot* const out = table.slots + part * table.part_slots;
    for (unsigned i = group.lane(); i < table.part_slots; i += group.lanes())
      out[i] = own[i];
    for (unsigned i = group.lane(); i < words(); i += group.lanes())
      table.filter[part * words() + i] = bits[i];
  }

 private:
  RAYDEX_HD unsigned words() const { return table.filter == nullptr ? 0 : table.filter_words(); }
  RAYDEX_HD static Slot empty_slot() {
    Slot slot;
    std::memset(&slot, 0xff, sizeof slot);
    return slot;
  }
};

// Keys of probes. A thread looks up a few at a time.
template <class Key, class Slot>
struct looked_up {
  static constexpr unsigned at_once = 4;

  core::encoded_column<Key> probes;
  std::uint64_t size;  // of the probes
  key_table<Key, Slot> table;

  struct some {
    Key codes[at_once];
    bool valid[at_once];
  };

  // Probes `step` apart; those from `end` on are not valid.
  RAYDEX_HD some read(std::uint64_t first, std::uint64_t step, std::uint64_t end) const {
    some own;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      const std::uint64_t probe = first + j * step;
      own.valid[j] = probe < end && probes.valid(probe);
      own.codes[j] = own.valid[j] ? probes.raw(probe) : 0;
    }
    return own;
  }
  // What the slots of their keys keep, or none.
  template <bool Filtered>
  RAYDEX_HD void find(some& own, std::uint32_t (&kept)[at_once]) const {
    probes.encode_all(own.codes);
    table.template find<Filtered>(own.codes, kept);
    RAYDEX_UNROLL
    for (unsigned j = 0; j < at_once; ++j)
      if (!own.valid[j]) kept[j] = table.none;
  }
};

// Counts how many of some probes, which lie all over, have their key in the first slot that it may
// be in, as three in four of those have that have a match. Of fewer than a tile the others count as
// misses.
template <class Key, class Slot>
struct count_hits {
  static constexpr std::uint64_t most_groups = 4;

  looked_up<Key, Slot> in;
  std::uint64_t groups;   // each looks at a tile of probes
  std::uint32_t* counts;  // how many were looked at, and how many were found

  static constexpr std::size_t scratch_bytes() { return 8 * sizeof(std::uint64_t); }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t i) const {
    constexpr unsigned at_once = looked_up<Key, Slot>::at_once;
    const std::uint64_t looked_at = groups * core::tile_probes;
    const std::uint64_t step = in.size < looked_at ? 1 : in.size / looked_at;
    std::uint64_t found = 0;
    for (unsigned k = group.lane(); k < core::tile_probes; k += at_once * group.lanes()) {
      auto own = in.read((i * core::tile_probes + k) * step, group.lanes() * step, in.size);
      in.probes.encode_all(own.codes);
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j)
        found += own.valid[j] && in.table.is_in_first_slot(own.codes[j]) ? 1U : 0U;
    }
    const std::uint64_t before = group.sum_before(found, reinterpret_cast<std::uint64_t*>(scratch));
    if (group.lane() != group.lanes() - 1) return;
    core::add_atomically(counts, core::tile_probes);
    core::add_atomically(counts + 1, static_cast<std::uint32_t>(before + found));
  }
};

// Finds the keys of the probes of a tile, and counts the rows of the join that they have.
template <class Key, class Slot>
struct find_keys {
  looked_up<Key, Slot> in;
  core::joining kind;
  const std::uint64_t* usable;      // if it is 0 nothing is found
  const std::uint32_t* hits;        // as of `count_hits`; null: there is no filter
  std::uint32_t* found;             // of each probe what the slot of its key keeps, or none
  const std::uint32_t* group_ends;  // as of `key_groups`; null: no two rows have a key
  std::uint32_t* counts;            // of each probe, if there are groups
  std::uint64_t* rows;              // a number a tile

  static constexpr std::size_t scratch_bytes() { return 8 * sizeof(std::uint64_t); }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t tile) const {
    constexpr unsigned at_once = looked_up<Key, Slot>::at_once;
    const std::uint64_t begin = tile * core::tile_probes + group.lane();
    const std::uint64_t end = tile * core::tile_probes + core::probes_of_tile(tile, in.size);
    // Under way while probes are read.
    const bool nothing = core::load(usable) == 0;
    const std::uint32_t looked_at = hits == nullptr ? 0 : core::load(hits);
    const std::uint32_t hit = hits == nullptr ? 0 : core::load(hits + 1);
    std::uint64_t sum = 0;
    for (std::uint64_t first = begin; first < end; first += at_once * group.lanes()) {
      auto own = in.read(first, group.lanes(), end);
      if (nothing) break;
      std::uint32_t kept[at_once];
      if (hit < looked_at / 3) {  // or a filter costs more than it saves
        in.template find<true>(own, kept);
      } else {
        in.template find<false>(own, kept);
      }
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const std::uint64_t probe = first + j * group.lanes();
        if (probe < end) sum += core::rows_of_join(kind, put(probe, kept[j]));
      }
    }
    const std::uint64_t before = group.sum_before(sum, reinterpret_cast<std::uint64_t*>(scratch));
    if (group.lane() == group.lanes() - 1) rows[tile] = before + sum;
  }

 private:
  // Writes what a probe found; how many rows.
  RAYDEX_HD std::uint32_t put(std::uint64_t probe, std::uint32_t own) const {
    std::uint32_t count = own == in.table.none ? 0 : 1;
    if (group_ends != nullptr) {
      if (count != 0) {
        const std::uint32_t begin = core::load(group_ends + own);
        count = core::load(group_ends + own + 1) - begin;
        if (count > 1) own = begin;
      }
      core::store_once(counts + probe, count);
    }
    core::store_once(found + probe, own);
    return count;
  }
};

// Rows of equal keys side by side, if keys repeat: the group of a key is that of the row that its
// slot keeps, its owner.
struct key_groups {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t* owners;  // of each row; none if its key is missing
  std::uint32_t* ranks;   // of each row in its group
  std::uint32_t* ends;    // where the group of each owner ends, behind a 0; before, how many it has
  std::uint32_t* list;    // the rows
};

// Finds owners, and counts their rows, 1,024 at a time.
template <class Key>
struct count_groups {
  looked_up<Key, row_slot<Key>> in;
  key_groups to;

  static constexpr std::size_t scratch_bytes() { return 0; }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t tile) const {
    constexpr unsigned at_once = looked_up<Key, row_slot<Key>>::at_once;
    const std::uint64_t begin = tile * core::tile_probes + group.lane();
    const std::uint64_t end = tile * core::tile_probes + core::probes_of_tile(tile, in.size);
    for (unsigned done = 0; done < core::tile_probes; done += at_once * group.lanes()) {
      auto own = in.read(begin + done, group.lanes(), end);
      std::uint32_t owners[at_once];
      in.template find<false>(own, owners);
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const std::uint64_t row = begin + done + j * group.lanes();
        const bool has_key = owners[j] != in.table.none;
        const std::uint32_t rank = group.team().count_at(has_key, owners[j], to.ends + 1);
        if (row >= end) continue;
        to.owners[row] = owners[j];
        to.ranks[row] = rank;
      }
    }
  }
};

// Puts a row into the list, once it is known where groups end.
struct list_groups {
  key_groups of;

  RAYDEX_HD void operator()(std::uint64_t row) const {
    const std::uint32_t owner = of.owners[row];
    if (owner == key_groups::none) return;
    of.list[of.ends[owner] + of.ranks[row]] = static_cast<std::uint32_t>(row);
  }
};

}  // namespace raydex::cuda
