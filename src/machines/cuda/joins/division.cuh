// SPDX-License-Identifier: Apache-2.0
// Divides a column among parts by the highest bits of the hashes of its keys: one or two passes of
// a stable radix sort. The first one hashes, and each reads and writes a row once: Adinets and
// Merrill, "Onesweep: A faster least significant digit radix sort for GPUs" (2022).
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/column.hpp"
#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/memory.hpp"
#include "src/machines/cuda/executor.cuh"
#include "src/operations/lookups/built_index.hpp"

namespace raydex::cuda {

// Rows of a column that have a key, those of a part side by side, in their order.
template <class Key>
struct divided_column {
  buffer<Key> hashes;
  buffer<std::uint32_t> rows;
  std::uint64_t size = 0;  // of them; the buffers may be larger
};

// Bits of a hash that a pass sorts by.
struct hash_digit {
  unsigned first;
  unsigned bits;

  template <class Key>
  RAYDEX_HD unsigned of(Key hash) const {
    return static_cast<unsigned>(hash >> first) & ((1U << bits) - 1);
  }
};
inline constexpr unsigned most_digit_bits = 8;
inline constexpr unsigned digit_values = 1U << most_digit_bits;

// Blocks that divide tiles. A multiprocessor has two at once, as registers and shared memory allow.
struct division_policy {
  static constexpr unsigned threads = 384;
  static constexpr unsigned each = 16;  // rows of a thread
  static constexpr unsigned blocks = 2;
  static constexpr unsigned warps = threads / warp;
};

// Rows that a block divides at a time, so that those of a part are written side by side.
inline constexpr unsigned division_tile = division_policy::threads * division_policy::each;

// Rows of a column, as the first pass reads them.
template <class Key>
struct hashed_rows {
  core::encoded_column<Key> keys;
  core::hash_function<Key> mix;

  // Whether all have a key, which is read as it lies.
  RAYDEX_HD bool are_plain() const {
    return keys.validity == nullptr && keys.format.type != key_type::bytes &&
           keys.stride == sizeof(Key);
  }
  // Reads plain rows `step` apart, all at once.
  template <unsigned N>
  RAYDEX_HD void read(std::uint64_t first, unsigned step, Key (&hashes)[N]) const {
    const Key* const cells = reinterpret_cast<const Key*>(keys.data) + first;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < N; ++j)
      hashes[j] = core::load_once(cells + j * step);
    hash(hashes);
  }
  // Reads any rows. Bit j of the result: whether the j-th is before `end` and has a key.
  template <unsigned N>
  RAYDEX_HD std::uint32_t read_some(std::uint64_t first, unsigned step, std::uint64_t end,
                                    Key (&hashes)[N]) const {
    std::uint32_t present = 0;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < N; ++j) {
      const std::uint64_t row = first + j * step;
      const bool has = row < end && keys.valid(row);
      hashes[j] = has ? keys.raw(row) : 0;
      present |= (has ? 1U : 0U) << j;
    }
    hash(hashes);
    return present;
  }
  RAYDEX_HD std::uint32_t row(std::uint64_t i) const { return static_cast<std::uint32_t>(i); }

 private:
  template <unsigned N>
  RAYDEX_HD void hash(Key (&keys_of_rows)[N]) const {
    keys.encode_all(keys_of_rows);
    RAYDEX_UNROLL
    for (unsigned j = 0; j < N; ++j)
      keys_of_rows[j] = mix(keys_of_rows[j]);
  }
};

// Hashes with their rows, as the second pass reads them.
template <class Key>
struct hashes_with_rows {
  const Key* hashes;
  const std::uint32_t* rows;

  RAYDEX_HD static bool are_plain() { return true; }
  template <unsigned N>
  RAYDEX_HD void read(std::uint64_t first, unsigned step, Key (&own)[N]) const {
    RAYDEX_UNROLL
    for (unsigned j = 0; j < N; ++j)
      own[j] = core::load_once(hashes + first + j * step);
  }
  template <unsigned N>
  RAYDEX_HD std::uint32_t read_some(std::uint64_t first, unsigned step, std::uint64_t end,
                                    Key (&own)[N]) const {
    std::uint32_t present = 0;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < N; ++j) {
      const std::uint64_t i = first + j * step;
      own[j] = i < end ? core::load_once(hashes + i) : 0;
      present |= (i < end ? 1U : 0U) << j;
    }
    return present;
  }
  RAYDEX_HD std::uint32_t row(std::uint64_t i) const { return core::load_once(rows + i); }
};

// Counts the rows of each value of two digits, the second behind the first.
template <class Key>
struct count_digits {
  static constexpr unsigned at_once = 8;

  hashed_rows<Key> from;
  std::uint64_t size;
  std::uint64_t chunk;  // rows that a block counts
  hash_digit digits[2];
  std::uint32_t* counts;

  static constexpr std::size_t scratch_bytes() { return 2 * digit_values * sizeof(std::uint32_t); }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch, std::uint64_t i) const {
    auto* const own = reinterpret_cast<std::uint32_t*>(scratch);
    for (unsigned d = group.lane(); d < 2 * digit_values; d += group.lanes())
      own[d] = 0;
    group.sync();
    const bool are_plain = from.are_plain();
    const std::uint64_t end = (i + 1) * chunk < size ? (i + 1) * chunk : size;
    for (std::uint64_t first = i * chunk; first < end; first += at_once * group.lanes()) {
      Key hashes[at_once];
      if (are_plain && first + at_once * group.lanes() <= end) {
        from.read(first + group.lane(), group.lanes(), hashes);
        RAYDEX_UNROLL
        for (unsigned j = 0; j < at_once; ++j)
          count(own, hashes[j]);
      } else {
        const std::uint32_t present =
            from.read_some(first + group.lane(), group.lanes(), end, hashes);
        RAYDEX_UNROLL
        for (unsigned j = 0; j < at_once; ++j)
          if ((present >> j & 1) != 0) count(own, hashes[j]);
      }
    }
    group.sync();
    for (unsigned d = group.lane(); d < 2 * digit_values; d += group.lanes())
      if (own[d] != 0) core::add_atomically(counts + d, own[d]);
  }

 private:
  __device__ void count(std::uint32_t* own, Key hash) const {
    core::add_atomically(own + digits[0].of(hash), 1);
    core::add_atomically(own + digit_values + digits[1].of(hash), 1);
  }
};

// A pass: puts the rows of each value of a digit side by side, in their order. Blocks take tiles in
// turn. How many rows before a tile have a value, its block adds up from what the blocks before it
// say, back to one that knows its own sum.
template <class Key, class Rows>
class divide_tiles {
 public:
  // `begins`: where the rows of each value begin, counted from any place. `said`: a number a tile
  // and value, and before them one for the next tile, all 0.
  divide_tiles(const Rows& from, std::uint64_t size, hash_digit digit, const std::uint32_t* begins,
               std::uint32_t* said, Key* hashes, std::uint32_t* rows)
      : from_(from),
        size_(size),
        digit_(digit),
        begins_(begins),
        next_(said),
        said_(said + 1),
        hashes_(hashes),
        rows_(rows) {}

  static constexpr std::size_t scratch_bytes() {
    return memory::sums * sizeof(std::uint64_t) +
           division_tile * (sizeof(Key) + sizeof(std::uint32_t)) +
           (division_policy::warps + 1) * digit_values * sizeof(std::uint32_t) +
           2 * sizeof(std::uint32_t);
  }

  template <class Group>
  __device__ void operator()(const Group& group, std::byte* scratch) const {
    const memory in(scratch);
    for (unsigned i = group.lane(); i < division_policy::warps * digit_values; i += group.lanes()) {
      in.places[i] = 0;
      in.masks()[i] = 0;
    }
    if (group.lane() == 0) *in.tile = core::add_atomically(next_, 1);
    group.sync();
    const std::uint64_t tile = *in.tile;
    if (from_.are_plain() && (tile + 1) * division_tile <= size_) {
      divide<true>(group, in, tile);
    } else {
      divide<false>(group, in, tile);
    }
  }

 private:
  static constexpr unsigned each = division_policy::each;
  // What a number of `said_` is, in its highest bits.
  static constexpr std::uint32_t own_count = 1U << 30;  // rows of the tile
  static constexpr std::uint32_t sum = 2U << 30;        // and of all before it
  static constexpr std::uint32_t number = own_count - 1;

  // A block's scratch.
  struct memory {
    static constexpr unsigned sums = 16;

    std::uint64_t* warp_sums;
    Key* hashes;            // of the tile, by the value of their digit
    std::uint32_t* rows;    // likewise
    std::uint32_t* places;  // of each warp and value
    std::uint32_t* shifts;  // of each value, from a place in the tile to that in the output
    std::uint32_t* tile;    // which one the block has
    std::uint32_t* size;    // rows of it that there are

    __device__ explicit memory(std::byte* scratch)
        : warp_sums(reinterpret_cast<std::uint64_t*>(scratch)),
          hashes(reinterpret_cast<Key*>(warp_sums + sums)),
          rows(reinterpret_cast<std::uint32_t*>(hashes + division_tile)),
          places(rows + division_tile),
          shifts(places + division_policy::warps * digit_values),
          tile(shifts + digit_values),
          size(tile + 1) {}

    // Of each warp and value the lanes that have it, before there are hashes.
    __device__ std::uint32_t* masks() const { return reinterpret_cast<std::uint32_t*>(hashes); }
  };

  // `All`: whether all rows are there, and plain.
  template <bool All, class Group>
  __device__ void divide(const Group& group, const memory& in, std::uint64_t tile) const {
    // A warp's rows are neighbours, so that the order of rows is that of warps.
    const auto team = group.team();
    const std::uint64_t first =
        tile * division_tile + group.team_number() * each * team.lanes() + team.lane();
    Key own[each];
    std::uint32_t present = ~std::uint32_t{0};
    if constexpr (All) {
      from_.read(first, team.lanes(), own);
    } else {
      present = from_.read_some(first, team.lanes(), size_, own);
    }
    const auto is_present = [&](unsigned j) { return All || (present >> j & 1) != 0; };
    std::uint32_t* const of_warp = in.places + group.team_number() * digit_values;
    std::uint32_t* const masks = in.masks() + group.team_number() * digit_values;
    std::uint16_t ranks[each];  // among the warp's rows of a value
    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j)
      ranks[j] = rank(team, is_present(j), digit_.of(own[j]), of_warp, masks);
    group.sync();

    const unsigned value = group.lane();  // which this thread adds up, if there is one
    const bool has_value = value < digit_values;
    std::uint32_t* const said = said_ + tile * digit_values + value;
    std::uint32_t count = 0;
    if (has_value) {
      RAYDEX_UNROLL
      for (unsigned t = 0; t < division_policy::warps; ++t)
        count += in.places[t * digit_values + value];
      core::store_atomically(said, own_count | count);
    }
    const auto begin = static_cast<std::uint32_t>(group.sum_before(count, in.warp_sums));
    if (has_value) {
      std::uint32_t place = begin;
      RAYDEX_UNROLL
      for (unsigned t = 0; t < division_policy::warps; ++t) {
        const std::uint32_t of_this = in.places[t * digit_values + value];
        in.places[t * digit_values + value] = place;
        place += of_this;
      }
      if (value == digit_values - 1) *in.size = place;
    }
    group.sync();

    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      if (!is_present(j)) continue;
      const std::uint32_t at = of_warp[digit_.of(own[j])] + ranks[j];
      in.hashes[at] = own[j];
      in.rows[at] = from_.row(first + j * team.lanes());
    }
    if (has_value) {
      const std::uint32_t before = sum_before(said, tile);
      core::store_atomically(said, sum | (before + count));
      in.shifts[value] = core::load(begins_ + value) - core::load(begins_) + before - begin;
    }
    group.sync();

    const unsigned size = All ? division_tile : *in.size;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      const unsigned at = group.lane() + j * group.lanes();
      if (!All && at >= size) break;
      const Key hash = in.hashes[at];
      const std::uint32_t to = in.shifts[digit_.of(hash)] + at;
      hashes_[to] = hash;
      rows_[to] = in.rows[at];
    }
  }

  // How many of the warp's rows before this one have its value; counts them in `places`.
  template <class Team>
  __device__ static std::uint16_t rank(const Team& team, bool has, unsigned value,
                                       std::uint32_t* places, std::uint32_t* masks) {
    const std::uint32_t self = 1U << team.lane();
    if (has) atomicOr(masks + value, self);
    team.sync();
    const std::uint32_t same = has ? masks[value] : self;
    const bool leads = same >> team.lane() == 1;  // the last lane of them
    std::uint32_t place = 0;
    if (has && leads) {
      place = places[value];
      places[value] = place + static_cast<unsigned>(__popc(same));
    }
    place = team.from(place, warp - 1 - static_cast<unsigned>(__clz(static_cast<int>(same))));
    if (has && leads) masks[value] = 0;  // all have read it
    team.sync();
    return static_cast<std::uint16_t>(place + static_cast<unsigned>(__popc(same & (self - 1))));
  }

  // How many rows of a value the tiles before this one have, which says so in `said`.
  __device__ std::uint32_t sum_before(const std::uint32_t* said, std::uint64_t tiles) const {
    std::uint32_t before = 0;
    while (tiles != 0) {
      said -= digit_values;
      --tiles;
      std::uint32_t heard = 0;
      while (heard == 0)
        heard = core::load_atomically(said);
      before += heard & number;
      if ((heard & sum) != 0) break;
    }
    return before;
  }

  Rows from_;
  std::uint64_t size_;
  hash_digit digit_;
  const std::uint32_t* begins_;
  std::uint32_t* next_;
  std::uint32_t* said_;
  Key* hashes_;
  std::uint32_t* rows_;
};

template <class Key, class Rows>
__global__ void __launch_bounds__(division_policy::threads, division_policy::blocks)
    run_division(const __grid_constant__ divide_tiles<Key, Rows> pass) {
  pass(block_group<division_policy::threads>{}, shared_memory());
}

// Runs a pass, see `divide_tiles`.
template <class Key, class Rows>
void divide_by_digit(const context& on, const Rows& from, std::uint64_t size, hash_digit digit,
                     const std::uint32_t* begins, divided_column<Key>& to) {
  const std::uint64_t tiles = blocks_for(size, division_tile);
  buffer<std::uint32_t> said(on, 1 + tiles * digit_values);
  executor::clear(on, said.data(), said.size());
  const auto kernel = run_division<Key, Rows>;
  const divide_tiles<Key, Rows> pass(from, size, digit, begins, said.data(), to.hashes.data(),
                                     to.rows.data());
  allow_shared_memory(kernel, pass.scratch_bytes());
  launch(on.stream, tiles, division_policy::threads, pass.scratch_bytes(), kernel, pass);
}

// Rows that a column may have: 30 bits count those before a tile.
inline constexpr std::uint64_t most_divided_rows = (std::uint64_t{1} << 30) - 1;

// Divides a column of so many rows by 1 to 16 bits. Synchronises if keys may be missing.
template <class Key>
divided_column<Key> divided(const context& on, const column& keys, std::uint64_t seed,
                            unsigned bits) {
  constexpr unsigned key_bits = 8 * sizeof(Key);
  const bool twice = bits > most_digit_bits;
  const unsigned low = twice ? bits / 2 : bits;
  const hash_digit digits[2] = {{key_bits - bits, low},
                                {twice ? key_bits - bits + low : 0, bits - low}};
  const hashed_rows<Key> from{{cells_of(keys)}, core::hash_by<Key>(seed)};

  buffer<std::uint32_t> begins(on, 1 + 2 * digit_values);
  executor::clear(on, begins.data(), begins.size());
  constexpr std::uint64_t step = count_digits<Key>::at_once * group_policy::threads;
  const std::uint64_t blocks = 20 * multiprocessors();  // a few after each other
  const std::uint64_t chunk = blocks_for(blocks_for(keys.size, blocks), step) * step;
  executor::for_each_in_blocks(
      on, count_digits<Key>{from, keys.size, chunk, {digits[0], digits[1]}, begins.data() + 1},
      blocks_for(keys.size, chunk));
  executor::inclusive_sum(on, begins.data(), begins.size());

  divided_column<Key> out{{on, keys.size}, {on, keys.size}, keys.size};
  if (keys.validity != nullptr) {
    std::uint32_t present = 0;
    executor::copy_out(on, &present, begins.data() + digit_values, sizeof present);
    out.size = present;
  }
  divide_by_digit<Key>(on, from, keys.size, digits[0], begins.data(), out);
  if (!twice) return out;
  divided_column<Key> sorted{{on, out.size}, {on, out.size}, out.size};
  divide_by_digit<Key>(on, hashes_with_rows<Key>{out.hashes.data(), out.rows.data()}, out.size,
                       digits[1], begins.data() + digit_values, sorted);
  return sorted;
}

// A side of a join in parts, by the highest bits of the hashes of its keys: rows of a part lie side
// by side, in their order.
template <class Key>
struct divided_side {
  const Key* hashes;
  const std::uint32_t* rows;
  const std::uint32_t* begins;  // of the parts, and the end of the last one
  std::uint64_t size;
};

// The part that a hash belongs to; `bits` is not 0.
template <class Key>
RAYDEX_HD constexpr std::uint32_t part_of(Key hash, unsigned bits) {
  return static_cast<std::uint32_t>(hash >> (8 * sizeof(Key) - bits));
}

// Writes where the parts of both sides begin: first those of the build side, which may be all.
template <class Key>
struct put_part_begins {
  divided_side<Key> sides[2];
  unsigned bits;
  std::uint32_t* begins;  // 2^bits + 1 of each

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t each = (std::uint64_t{1} << bits) + 1;
    const divided_side<Key>& side = sides[i / each];
    const std::uint64_t part = i % each;
    std::uint64_t first = 0;
    std::uint64_t last = side.size;
    while (first < last) {
      const std::uint64_t middle = first + (last - first) / 2;
      if (part_of(core::load(side.hashes + middle), bits) < part) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    begins[i] = static_cast<std::uint32_t>(first);
  }
};

}  // namespace raydex::cuda
