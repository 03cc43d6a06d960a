// SPDX-License-Identifier: Apache-2.0
// Lookups of the probe rows of a part in a table of its build rows, which a block holds in shared
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"
#include "src/machines/cuda/joins/division.cuh"

namespace raydex::cuda {

// What lookups of parts say of a join.
struct part_findings {
  std::uint32_t largest;       // of the build rows of parts that have more than there was room for
  std::uint32_t keys_repeat;   // whether two build rows have equal keys
  std::uint32_t probes_crowd;  // whether a part has more probes than a block looks up
};

// The build rows of a part by their hashes: each hash is in it once, by the number of the first row
// of the part that has it, its owner. With `Groups` rows with equal hashes can be put side by side.
template <class Key, bool Groups>
class part_table {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  // Rows of a part that there may be, so that 16 bits have the number of a slot.
  static constexpr unsigned most_rows = 1 << 14;

  static constexpr std::size_t scratch_bytes(unsigned rows) {
    return fixed_bytes + rows * (sizeof(row_slots) + sizeof(Key) + sizeof(std::uint32_t) +
                                 (Groups ? 2 * sizeof(std::uint16_t) : 0));
  }

  // In a block's scratch, for so many rows.
  __device__ part_table(std::byte* scratch, unsigned room, unsigned bits)
      : sums_(reinterpret_cast<std::uint64_t*>(scratch)),
        repeats_(reinterpret_cast<std::uint32_t*>(sums_ + 8)),
        slots_(reinterpret_cast<std::uint32_t*>(scratch + fixed_bytes)),
        hashes_(reinterpret_cast<Key*>(slots_ + slots_a_row * room)),
        rows_(reinterpret_cast<std::uint32_t*>(hashes_ + room)),
        groups_(rows_),
        owners_(reinterpret_cast<std::uint16_t*>(groups_ + room)),
        ranks_(owners_ + room),
        bits_(bits) {}

  // Takes in a part. With `Groups` each hash knows its owner, else the table has the rows.
  template <class Group>
  __device__ void fill(const Group& group, const Key* hashes, const std::uint32_t* rows,
                       unsigned size) {
    size_ = size;
    if (group.lane() == 0) *repeats_ = 0;
    auto* const slots = reinterpret_cast<row_slots*>(slots_);
    for (unsigned i = group.lane(); i < size; i += group.lanes()) {
      hashes_[i] = core::load_once(hashes + i);
      if (!Groups) rows_[i] = core::load_once(rows + i);
      slots[i] = {};
    }
    group.sync();
    for (unsigned i = group.lane(); i < size; i += group.lanes()) {
      const std::uint32_t slot = put(i);
      if (Groups) owners_[i] = static_cast<std::uint16_t>(slot);
    }
    group.sync();
    if constexpr (Groups) {
      for (unsigned i = group.lane(); i < size; i += group.lanes())
        owners_[i] = static_cast<std::uint16_t>(slots_[owners_[i]]);
      group.sync();
    }
  }

  // Whether two hashes are equal.
  __device__ bool repeats() const { return *repeats_ != 0; }

  // Puts the rows of each owner side by side, in their order: `list` and `rows` begin with the
  // part.
  template <class Group>
  __device__ void put_groups(const Group& group, const std::uint32_t* rows, std::uint32_t* list) {
    for (unsigned i = group.lane(); i < size_; i += group.lanes())
      groups_[i] = 0;
    group.sync();
    // A warp sees all rows, and counts those of its own owners.
    const auto team = group.team();
    constexpr unsigned at_once = 4;  // are compared before the first is counted
    for (unsigned first = 0; first < size_; first += at_once * team.lanes()) {
      unsigned owners[at_once];
      bool is_mine[at_once];
      unsigned before[at_once];
      unsigned total[at_once];
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const unsigned i = first + j * team.lanes() + team.lane();
        owners[j] = i < size_ ? owners_[i] : 0;
        is_mine[j] = i < size_ && owners[j] % group.teams() == group.team_number();
        before[j] = team.count_before(is_mine[j], owners[j], total[j]);
      }
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const unsigned i = first + j * team.lanes() + team.lane();
        const std::uint32_t counted = is_mine[j] ? groups_[owners[j]] : 0;
        if (is_mine[j]) ranks_[i] = static_cast<std::uint16_t>(counted + before[j]);
        team.sync();
        if (is_mine[j] && before[j] == 0) groups_[owners[j]] = counted + total[j];
        team.sync();
      }
    }
    group.sync();
    const unsigned each = (size_ + group.lanes() - 1) / group.lanes();
    const unsigned begin = smaller(group.lane() * each, size_);
    const unsigned end = smaller(begin + each, size_);
    std::uint64_t count = 0;
    for (unsigned i = begin; i < end; ++i)
      count += groups_[i];
    auto next = static_cast<std::uint32_t>(group.sum_before(count, sums_));
    for (unsigned i = begin; i < end; ++i) {
      const std::uint32_t own = groups_[i];
      groups_[i] = next | own << 16;
      next += own;
    }
    group.sync();
    for (unsigned i = group.lane(); i < size_; i += group.lanes())
      list[begin_of(owners_[i]) + ranks_[i]] = rows[i];
    group.sync();
  }

  // The owner of a hash, or none.
  __device__ std::uint32_t find(Key hash) const {
    if (size_ == 0) return none;
    for (std::uint32_t at = home(hash);; at = after(at)) {
      const std::uint32_t owner = slots_[at];
      if (owner == none || hashes_[owner] == hash) return owner;
    }
  }
  // The row of an owner, without groups.
  __device__ std::uint32_t row_of(std::uint32_t owner) const { return rows_[owner]; }
  // The owner that a row has.
  __device__ std::uint32_t owner_of(unsigned row) const { return owners_[row]; }
  // How many rows an owner has, and where they begin in the list.
  __device__ std::uint32_t count_of(std::uint32_t owner) const { return groups_[owner] >> 16; }
  __device__ std::uint32_t begin_of(std::uint32_t owner) const { return groups_[owner] & 0xffff; }

 private:
  // With more of them a warp waits less for the thread that looks at most.
  static constexpr unsigned slots_a_row = Groups ? 2 : 4;
  struct alignas(slots_a_row * sizeof(std::uint32_t)) row_slots {
    std::uint32_t owners[slots_a_row];
    __device__ row_slots() {
      RAYDEX_UNROLL
      for (std::uint32_t& owner : owners)
        owner = none;
    }
  };
  static constexpr std::size_t fixed_bytes = 8 * sizeof(std::uint64_t) + 16;

  __device__ static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

  __device__ std::uint32_t home(Key hash) const {
    const auto left = static_cast<Key>(hash << bits_);  // the part has the others
    const auto high = static_cast<std::uint32_t>(left >> (8 * sizeof(Key) - 32));
    return static_cast<std::uint32_t>(std::uint64_t{high} * (slots_a_row * size_) >> 32);
  }
  __device__ std::uint32_t after(std::uint32_t slot) const {
    return slot + 1 == slots_a_row * size_ ? 0 : slot + 1;
  }
  // Puts a row into the table; the slot of its hash. Its owner is the first row in the end, so that
  // all blocks that make a table of these rows make the same one.
  __device__ std::uint32_t put(std::uint32_t row) const {
    const Key hash = hashes_[row];
    for (std::uint32_t at = home(hash);; at = after(at)) {
      std::uint32_t owner = core::load_atomically(slots_ + at);
      if (owner == none) {
        if (core::replace_atomically(slots_ + at, none, row)) return at;
        owner = core::load_atomically(slots_ + at);
      }
      if (hashes_[owner] != hash) continue;
      core::store_atomically(repeats_, std::uint32_t{1});
      while (row < owner && !core::replace_atomically(slots_ + at, owner, row))
        owner = core::load_atomically(slots_ + at);
      return at;
    }
  }

  std::uint64_t* sums_;
  std::uint32_t* repeats_;
  std::uint32_t* slots_;
  Key* hashes_;
  std::uint32_t* rows_;
  std::uint32_t* groups_;  // take their place
  std::uint16_t* owners_;
  std::uint16_t* ranks_;
  unsigned bits_;
  unsigned size_ = 0;
};

// What lookups of parts read and write. `Groups`: whether build rows may have equal keys.
template <class Key, bool Groups>
struct part_lookup {
  // Probes of a part that one block looks up; the others of larger parts are looked up by as many
  // blocks as it takes.
  static constexpr std::uint64_t heavy = std::uint64_t{1} << 14;

  divided_side<Key> build;
  divided_side<Key> probe;
  unsigned bits;
  unsigned above;         // parts with so many build rows or fewer are left out; 0: none are
  unsigned room;          // build rows of a part that there is room for
  bool in_order;          // whether what is found lies in the order of the probe rows
  std::uint32_t* begins;  // as of `located_probes`, as the next two
  std::uint32_t* counts;  // of `Groups` alone, as the next two
  std::uint32_t* list;
  std::uint32_t* firsts;    // of each build row the first one with its hash; null: not wanted
  part_findings* findings;  // if it has any but `probes_crowd`, what was found is of no meaning

  std::size_t scratch_bytes() const { return table::scratch_bytes(room); }

 protected:
  using table = part_table<Key, Groups>;

  // Looks up the probes [first, last) of a part.
  template <class Group>
  __device__ void look_up(const Group& group, std::byte* scratch, std::uint64_t part,
                          std::uint64_t first, std::uint64_t last) const {
    if (first >= last && firsts == nullptr) return;
    const std::uint32_t own = build.begins[part];
    const unsigned size = build.begins[part + 1] - own;
    if (above != 0 && size <= above) return;
    if (size > room) {
      if (group.lane() == 0) keep_largest(size);
      return;
    }
    constexpr unsigned at_once = 4;
    Key hashes[at_once];
    read(group, first, last, hashes);  // before the table is there
    table in(scratch, room, bits);
    in.fill(group, build.hashes + own, build.rows + own, size);
    const bool repeat = in.repeats();
    if constexpr (Groups) {
      if (repeat) {
        in.put_groups(group, build.rows + own, list + own);
        if (firsts != nullptr) put_firsts(group, in, own, size);
      }
    } else if (repeat) {
      if (group.lane() == 0) core::store_atomically(&findings->keys_repeat, std::uint32_t{1});
      group.sync();  // before another part takes the scratch
      return;        // all is looked up again, with counts
    }
    for (std::uint64_t begin = first;;) {
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const std::uint64_t i = begin + j * group.lanes() + group.lane();
        if (i >= last) continue;
        const std::uint32_t owner = in.find(hashes[j]);
        const std::uint64_t at = in_order ? core::load_once(probe.rows + i) : i;
        if constexpr (Groups) {
          put(at, own, in, owner, repeat);
        } else {
          begins[at] = owner == in.none ? owner : in.row_of(owner);
        }
      }
      begin += std::uint64_t{at_once} * group.lanes();
      if (begin >= last) break;
      read(group, begin, last, hashes);
    }
    group.sync();
  }

 private:
  // Reads hashes of probes from `begin` on.
  template <class Group, unsigned N>
  __device__ void read(const Group& group, std::uint64_t begin, std::uint64_t end,
                       Key (&hashes)[N]) const {
    RAYDEX_UNROLL
    for (unsigned j = 0; j < N; ++j) {
      const std::uint64_t i = begin + j * group.lanes() + group.lane();
      if (i < end) hashes[j] = core::load_once(probe.hashes + i);
    }
  }

  template <class Group>
  __device__ void put_firsts(const Group& group, const table& in, std::uint32_t own,
                             unsigned size) const {
    for (unsigned i = group.lane(); i < size; i += group.lanes())
      firsts[build.rows[own + i]] = list[own + in.begin_of(in.owner_of(i))];
  }

  __device__ void keep_largest(std::uint32_t size) const {
    std::uint32_t* const kept = &findings->largest;
    std::uint32_t before = core::load_atomically(kept);
    while (size > before && !core::replace_atomically(kept, before, size))
      before = core::load_atomically(kept);
  }

  // Writes what a probe found, and how many match it.
  __device__ void put(std::uint64_t at, std::uint32_t own, const table& in, std::uint32_t owner,
                      bool repeat) const {
    const std::uint32_t alone = owner == table::none ? 0 : 1;
    const std::uint32_t count = repeat && owner != table::none ? in.count_of(owner) : alone;
    counts[at] = count;
    std::uint32_t begin = table::none;
    if (count == 1) begin = core::load(build.rows + own + owner);
    if (count > 1) begin = own + in.begin_of(owner);
    begins[at] = begin;
  }
};

// A block for each part, unless it has more than `heavy` probes.
template <class Key, bool Groups>
struct look_up_parts : part_lookup<Key, Groups> {
  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t part) const {
    const std::uint64_t first = this->probe.begins[part];
    const std::uint64_t last = this->probe.begins[part + 1];
    if (last - first <= this->heavy) {
      this->look_up(group, scratch, part, first, last);
    } else if (group.lane() == 0) {
      core::store_atomically(&this->findings->probes_crowd, std::uint32_t{1});
    }
  }
};

// A block for each `heavy` probes, which looks up those of larger parts.
template <class Key, bool Groups>
struct look_up_larger_parts : part_lookup<Key, Groups> {
  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t i) const {
    const std::uint64_t begin = i * this->heavy;
    const std::uint64_t left = this->probe.size - begin;
    const std::uint64_t end = begin + (left < this->heavy ? left : this->heavy);
    // Larger than these probes, a part has the first one of them or the last one.
    const auto first = part_of(core::load(this->probe.hashes + begin), this->bits);
    const auto last = part_of(core::load(this->probe.hashes + end - 1), this->bits);
    look_up_own(group, scratch, first, begin, end);
    if (last != first) look_up_own(group, scratch, last, begin, end);
  }

 private:
  template <class Group>
  __device__ void look_up_own(const Group& group, std::byte* scratch, std::uint64_t part,
                              std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t first = this->probe.begins[part];
    const std::uint64_t last = this->probe.begins[part + 1];
    if (last - first <= this->heavy) return;
    this->look_up(group, scratch, part, first < begin ? begin : first, last < end ? last : end);
  }
};

}  // namespace raydex::cuda
