// SPDX-License-Identifier: Apache-2.0
// Ascending points are merged with the ascending entries: warps walk along both, a tile of probes
// at a time, and read each entry once. Batches are looked at on the device: a warp that meets
// probes which do not ascend leaves the rest of its share to the search kernel.
#pragma once

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "src/machines/cuda/launch.cuh"
#include "src/machines/cuda/lookups/teams.cuh"

namespace raydex::cuda {

struct merge_policy {
  static constexpr unsigned threads = 256;           // per block
  static constexpr unsigned each = 8;                // consecutive probes that a lane merges
  static constexpr unsigned tile = warp * each;      // probes that a warp merges at a time
  static constexpr unsigned warps = threads / warp;  // per block
  static constexpr unsigned least_tiles = 8;         // that a multiprocessor is worth it for
  static constexpr unsigned rounds = 12;             // of staging entries for a tile, at most
  static constexpr unsigned blocks = 4;              // at once on a multiprocessor, at least
  static constexpr unsigned searched = 2;  // entries per probe from which walks are slower
};

enum class answered_share : std::uint8_t { none, some, all };

// Which tiles of a batch are answered. Each merging warp has consecutive tiles and
// answers them from the front; the first ones have a tile more, so that none has nothing to do.
struct merge_progress {
  const std::uint32_t* answered = nullptr;    // tiles, by warp
  const unsigned long long* total = nullptr;  // tiles, of all warps
  std::uint64_t tiles = 0;
  std::uint64_t warps = 1;

  __device__ answered_share share_answered() const {
    if (answered == nullptr || *total == 0) return answered_share::none;
    return *total == tiles ? answered_share::all : answered_share::some;
  }
  // Whether `count` probes from `begin` on are answered.
  __device__ bool has(std::uint64_t begin, std::uint32_t count) const {
    const std::uint64_t last = (begin + count - 1) / merge_policy::tile;
    for (std::uint64_t tile = begin / merge_policy::tile; tile <= last && tile < tiles; ++tile)
      if (!has_tile(tile)) return false;
    return true;
  }
  __device__ bool has_tile(std::uint64_t tile) const {
    const std::uint64_t number = warp_of(tile);
    return tile - first_tile(number) < answered[number];
  }
  // The tiles of a warp.
  RAYDEX_HD std::uint64_t first_tile(std::uint64_t number) const {
    const std::uint64_t longer = tiles % warps;
    return number * (tiles / warps) + (number < longer ? number : longer);
  }
  RAYDEX_HD std::uint64_t tiles_of(std::uint64_t number) const {
    return number < warps ? first_tile(number + 1) - first_tile(number) : 0;
  }
  RAYDEX_HD std::uint64_t warp_of(std::uint64_t tile) const {
    const std::uint64_t own_tiles = tiles / warps;
    const std::uint64_t longer = tiles % warps;
    const std::uint64_t of_longer = longer * (own_tiles + 1);
    return tile < of_longer ? tile / (own_tiles + 1) : longer + (tile - of_longer) / own_tiles;
  }
};

// A place in shared memory for the i-th probe of a tile, so that lanes with consecutive probes and
// lanes with neighbouring ones both meet different banks.
RAYDEX_HD constexpr unsigned spread(unsigned i) {
  return i + i / merge_policy::each;
}

// Copies `count` elements of 4 or 8 bytes from `first` on to shared memory, in units of 16 bytes as
// far as the array goes. `first` is a multiple of 4. All units are on their way at once; who reads
// them calls `wait_for_staged` before.
template <class T>
__device__ void stage(const T* from, std::uint64_t first, unsigned count, std::uint64_t size,
                      T* to) {
  constexpr unsigned unit = 16 / sizeof(T);
  const auto* units = reinterpret_cast<const uint4*>(from + first);
  const unsigned existing = size - first < count ? static_cast<unsigned>(size - first) : count;
  const unsigned whole = existing / unit;
#pragma unroll 4
  for (unsigned i = lane_of_warp(); i < whole; i += warp)
    __pipeline_memcpy_async(reinterpret_cast<uint4*>(to) + i, units + i, 16);
  for (unsigned i = whole * unit + lane_of_warp(); i < existing; i += warp)
    to[i] = from[first + i];
}

// Makes what the warp staged visible to its lanes.
__device__ inline void wait_for_staged() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
}

// `core::lower_bounds` in shared memory: halves are odd, so that lanes which went different ways
// read different banks. Halves of 256, 128, 64 made a merge take 1.5 times as long.
template <std::size_t N, class Keys, class Key>
__device__ void search_staged(const Keys& keys, unsigned size, const Key (&wanted)[N],
                              unsigned (&found)[N]) {
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j)
    found[j] = 0;
  if (size == 0) return;
  for (unsigned length = size; length > 1;) {
    const unsigned half = length < warp ? length / 2 : (length / 2 - 1) | 1;
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const unsigned middle = found[j] + half;
      found[j] = keys(middle - 1) < wanted[j] ? middle : found[j];
    }
    length -= half;
  }
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j)
    found[j] += keys(found[j]) < wanted[j] ? 1U : 0U;
}

// Entries in shared memory.
template <class Entries>
class staged_entries;

template <class Key, class RowId>
class staged_entries<core::column_entries<Key, RowId>> {
 public:
  static constexpr std::size_t bytes = sizeof(Key) + sizeof(RowId);  // an entry
  __device__ staged_entries(std::byte* memory, unsigned capacity)
      : keys_(reinterpret_cast<Key*>(memory)), rows_(reinterpret_cast<RowId*>(keys_ + capacity)) {}
  __device__ void stage_from(const core::column_entries<Key, RowId>& entries, std::uint64_t first,
                             unsigned count, std::uint64_t size) {
    stage(entries.keys, first, count, size, keys_);
    stage(entries.row_ids, first, count, size, rows_);
  }
  __device__ Key key(unsigned i) const { return keys_[i]; }
  __device__ void set_key(unsigned i, Key key) { keys_[i] = key; }
  // Of entry i, whose rank is given.
  __device__ RowId row_id(unsigned i, RowId /*rank*/) const { return rows_[i]; }

 private:
  Key* keys_;
  RowId* rows_;
};

// Those whose row ids are ranks, which are not read.
template <class Key, class RowId>
class staged_entries<core::ranked_entries<Key, RowId>> {
 public:
  static constexpr std::size_t bytes = sizeof(Key);  // an entry
  __device__ staged_entries(std::byte* memory, unsigned /*capacity*/)
      : keys_(reinterpret_cast<Key*>(memory)) {}
  __device__ void stage_from(const core::ranked_entries<Key, RowId>& entries, std::uint64_t first,
                             unsigned count, std::uint64_t size) {
    stage(entries.keys, first, count, size, keys_);
  }
  __device__ Key key(unsigned i) const { return keys_[i]; }
  __device__ void set_key(unsigned i, Key key) { keys_[i] = key; }
  __device__ RowId row_id(unsigned /*i*/, RowId rank) const { return rank; }

 private:
  Key* keys_;
};

template <class Key, class RowId>
class staged_entries<core::row_entries<Key, RowId>> {
  static constexpr unsigned words = core::row_entries<Key, RowId>::words_per_entry;

 public:
  static constexpr std::size_t bytes = 4 * words;  // an entry
  __device__ staged_entries(std::byte* memory, unsigned /*capacity*/)
      : words_(reinterpret_cast<std::uint32_t*>(memory)) {}
  __device__ void stage_from(const core::row_entries<Key, RowId>& entries, std::uint64_t first,
                             unsigned count, std::uint64_t size) {
    stage(entries.words, first * words, count * words, size * words, words_);
  }
  __device__ Key key(unsigned i) const { return get<Key>(i * words); }
  __device__ void set_key(unsigned i, Key key) {
    words_[i * words] = static_cast<std::uint32_t>(key);
    if constexpr (sizeof(Key) == 8) words_[i * words + 1] = static_cast<std::uint32_t>(key >> 32);
  }
  __device__ RowId row_id(unsigned i, RowId /*rank*/) const {
    return get<RowId>(i * words + sizeof(Key) / 4);
  }

 private:
  template <class T>
  __device__ T get(unsigned at) const {
    if constexpr (sizeof(T) == 4) {
      return words_[at];
    } else {
      return words_[at] | T{words_[at + 1]} << 32;
    }
  }
  std::uint32_t* words_;
};

// The shared memory of a warp.
struct merge_staging {
  bool searched;     // each probe searches what is staged; it walks from the one before if false
  unsigned entries;  // that can be staged at a time, a multiple of 4; there is room for 4 more
  unsigned bytes;    // in all
};

// Operations on entries in order that can be staged.
template <class Operation>
concept on_entries = requires(const Operation& operation) {
  staged_entries<std::remove_cvref_t<decltype(operation.view.entries())>>::bytes;
};
template <class Operation>
concept finding_rows = on_entries<Operation> &&
    std::is_same_v<Operation, core::first_of_points<decltype(Operation::view)>>;
template <class Operation>
concept ranking = on_entries<Operation> &&
    std::is_same_v<Operation, core::rank_points<decltype(Operation::view)>>;
// Whether merging can answer an operation at all.
template <class Operation>
concept mergeable = finding_rows<Operation> || ranking<Operation>;

template <class Operation>
__global__ void __launch_bounds__(merge_policy::threads, merge_policy::blocks)
    merge_tiles(const __grid_constant__ Operation operation, merge_progress progress,
                std::uint32_t* answered, unsigned long long* total, merge_staging staging) {
  using policy = merge_policy;
  using entries_type = std::remove_cvref_t<decltype(operation.view.entries())>;
  using key = typename entries_type::key_type;
  using row_id = typename entries_type::row_id_type;
  constexpr unsigned each = policy::each;
  bool past = false;  // whether equal entries are passed over
  if constexpr (ranking<Operation>) past = operation.past;

  const std::uint64_t number = blockIdx.x * std::uint64_t{policy::warps} + threadIdx.x / warp;
  const std::uint64_t own_tiles = progress.tiles_of(number);
  if (own_tiles == 0) return;
  const std::uint64_t first_tile = progress.first_tile(number);
  const unsigned lane = lane_of_warp();
  const std::uint64_t size = operation.view.size();
  const std::uint64_t probe_count = operation.probes.size;
  const entries_type entries = operation.view.entries();
  std::byte* memory = shared_memory() + threadIdx.x / warp * staging.bytes;
  staged_entries<entries_type> staged(memory, staging.entries + 4);
  memory += (staging.entries + 4) * staged_entries<entries_type>::bytes;
  auto* probes = reinterpret_cast<key*>(memory);
  auto* found = reinterpret_cast<row_id*>(memory);  // once the probes are in registers

  // The cells of a tile, side by side over the lanes; the next tile's are read while this one is
  // merged.
  const auto& column = operation.probes.lower;
  const bool plain = column.format.type != key_type::bytes;
  const auto read_tile = [&](std::uint32_t tile, key(&cells)[each]) {
    const std::uint64_t first = (first_tile + tile) * policy::tile;
    const std::uint64_t left = probe_count - first;
    if (plain && left >= policy::tile) {
      const std::byte* cell = column.data + (first + lane) * column.stride;
      RAYDEX_UNROLL
      for (unsigned j = 0; j < each; ++j)
        cells[j] = core::load_once(
            reinterpret_cast<const key*>(cell + std::uint64_t{j * warp} * column.stride));
      return;
    }
    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      const unsigned i = j * warp + lane;  // beyond the batch, the last probe again
      cells[j] = column.raw(first + (i < left ? i : left - 1));
    }
  };
  key cells[each];
  read_tile(0, cells);
  std::uint64_t begin = 0;  // the rank of the first entry not below the last probe so far
  key last{};               // that probe
  std::uint32_t done = 0;
  for (; done < own_tiles; ++done) {
    const std::uint64_t first = (first_tile + done) * policy::tile;
    column.encode_all(cells);
    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j)
      probes[spread(j * warp + lane)] = cells[j];
    if (done + 1 < own_tiles) read_tile(done + 1, cells);
    __syncwarp();
    key mine[each];
    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j)
      mine[j] = probes[spread(lane * each + j)];
    __syncwarp();
    const key before = from_lane(mine[each - 1], lane == 0 ? 0 : lane - 1);
    bool ascends = lane == 0 ? done == 0 || last <= mine[0] : before <= mine[0];
    RAYDEX_UNROLL
    for (unsigned j = 1; j < each; ++j)
      ascends = ascends && mine[j - 1] <= mine[j];
    if (__all_sync(all_lanes, ascends ? 1 : 0) == 0) break;

    if (done == 0) begin = from_lane(operation.view.locate(mine[0]).rank, 0);
    last = from_lane(mine[each - 1], warp - 1);
    // Stages entries until all probes of the tile have met theirs; mostly the first ones suffice.
    unsigned open = (1U << each) - 1;  // this lane's probes, a bit each
    for (unsigned round = 0; round < policy::rounds; ++round) {
      const std::uint64_t aligned = begin / 4 * 4;
      const std::uint64_t rest = size - aligned;
      const bool to_the_end = rest <= staging.entries;
      const unsigned count = to_the_end ? static_cast<unsigned>(rest) : staging.entries;
      staged.stage_from(entries, aligned, staging.entries, size);
      wait_for_staged();
      // The largest key ends every walk.
      if (lane == 0) staged.set_key(count, static_cast<key>(-1));
      __syncwarp();
      const auto key_at = [&](unsigned i) { return staged.key(i); };
      // Answers probe j, whose entry is the i-th staged one if that is there.
      const auto settle = [&](unsigned j, unsigned i, key at) {
        if ((open >> j & 1) == 0 || (i == count && !to_the_end)) return;
        row_id answer = static_cast<row_id>(aligned + i);
        if constexpr (finding_rows<Operation>)
          answer = at == mine[j] && i < count ? staged.row_id(i, answer) : static_cast<row_id>(-1);
        found[spread(lane * each + j)] = answer;
        open &= ~(1U << j);
      };
      unsigned i = 0;
      if (staging.searched) {
        constexpr unsigned at_once = 4;  // more would take too many registers
        RAYDEX_UNROLL
        for (unsigned first_of = 0; first_of < each; first_of += at_once) {
          key wanted[at_once];
          RAYDEX_UNROLL
          for (unsigned j = 0; j < at_once; ++j)
            wanted[j] = static_cast<key>(mine[first_of + j] + (past ? 1 : 0));
          unsigned places[at_once];
          search_staged(key_at, count, wanted, places);
          RAYDEX_UNROLL
          for (unsigned j = 0; j < at_once; ++j) {
            i = past && wanted[j] == 0 ? count : places[j];
            settle(first_of + j, i, key_at(i));
          }
        }
      } else {
        key next[1] = {mine[each - 1]};
        RAYDEX_UNROLL
        for (unsigned j = each - 1; j > 0; --j)
          next[0] = (open >> (j - 1) & 1) != 0 ? mine[j - 1] : next[0];
        unsigned place[1];
        core::lower_bounds(key_at, count, next, place);
        i = place[0];
        key at = key_at(i);
        RAYDEX_UNROLL
        for (unsigned j = 0; j < each; ++j) {
          if ((open >> j & 1) == 0) continue;
          while (at < mine[j] || (past && at == mine[j] && i < count))
            at = key_at(++i);
          settle(j, i, at);
        }
      }
      begin = aligned + from_lane(i, warp - 1);
      __syncwarp();
      if (__any_sync(all_lanes, open != 0 ? 1 : 0) == 0) break;
    }
    if (__any_sync(all_lanes, open != 0 ? 1 : 0) != 0) break;  // entries too many for a merge
    __syncwarp();
    using result = typename Operation::result;
    result* out = operation.out + first + lane;
    const std::uint64_t left = probe_count - first;
    const unsigned most = left < policy::tile ? static_cast<unsigned>(left) : policy::tile;
    RAYDEX_UNROLL
    for (unsigned j = 0; j < each; ++j) {
      if (j * warp + lane < most)
        __stcs(out + j * warp, static_cast<result>(found[spread(j * warp + lane)]));
    }
    __syncwarp();
  }
  if (lane != 0) return;
  answered[number] = done;
  if (done != 0) atomicAdd(total, static_cast<unsigned long long>(done));
}

// What merging has answered, kept until the search kernel has run.
class merged {
 public:
  merged() = default;
  merged(buffer<std::uint32_t>&& answered, buffer<unsigned long long>&& total,
         const merge_progress& progress)
      : answered_(std::move(answered)), total_(std::move(total)), progress_(progress) {}
  const merge_progress& progress() const { return progress_; }

 private:
  buffer<std::uint32_t> answered_;
  buffer<unsigned long long> total_;
  merge_progress progress_;
};

// Probes in order that are searched for while a merge reads what memory gives in a second: fitted
// to where the two meet on H100 and H200, which raydex_ascending_points shows. A merge of few
// probes takes what it takes to read the entries. Searches wait for caches; for memory, too, if the
// lowest nodes outgrow the L2.
template <class View>
double ascending_searches(const View& /*view*/) {
  return 8e10;
}
template <class Entries>
double ascending_searches(const core::line_tree_view<Entries>& view) {
  return view.has_narrow_nodes() ? 5.5e10 : 8e10;
}
template <class Entries>
double ascending_searches(const core::sorted_array_view<Entries>& /*view*/) {
  return 2.9e10;
}

// Entries per probe from which on searches are faster: never less than lie in a sector of memory,
// which searches must read, too.
template <class View>
std::uint64_t most_entries_per_probe(const View& view, double bandwidth) {
  constexpr std::size_t bytes =
      staged_entries<std::remove_cvref_t<decltype(view.entries())>>::bytes;
  constexpr std::uint64_t sector = 32;
  const double most = bandwidth / bytes / ascending_searches(view);
  return std::max(sector / bytes, static_cast<std::uint64_t>(most));
}

// Shared memory that each of so many blocks on a multiprocessor may have.
inline std::size_t shared_memory_of_block(unsigned blocks) {
  return static_cast<std::size_t>(std::min(
      device_number(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / static_cast<int>(blocks) -
          device_number(cudaDevAttrReservedSharedMemoryPerBlock),
      device_number(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
}

// Merges as much of a batch as ascends.
template <class Operation>
merged merge_ascending(const context& on, const Operation& operation) {
  using policy = merge_policy;
  if constexpr (mergeable<Operation>) {
    using entries = std::remove_cvref_t<decltype(operation.view.entries())>;
    const std::uint64_t probes = operation.probes.size;
    const std::uint64_t size = operation.view.size();
    // Worth a try, about 6 us, where a tile of probes covers few entries, and there are many tiles.
    const std::uint64_t least_probes = policy::least_tiles * policy::tile * multiprocessors();
    const bool missing = operation.probes.lower.validity != nullptr;
    if (missing || probes < least_probes || size == 0 ||
        size / probes >= most_entries_per_probe(operation.view, memory_bandwidth())) {
      return {};
    }
    // Room for an eighth more than a tile covers on average, two deviations of random keys, in as
    // few rounds as leave enough blocks on a multiprocessor at once: where they had more memory,
    // fewer of them hid less of the latency. From three rounds on, a round less is worth a block.
    constexpr std::size_t entry_bytes = staged_entries<entries>::bytes;
    constexpr std::size_t probe_bytes =
        spread(policy::tile) *
        std::max(sizeof(typename entries::key_type), sizeof(typename entries::row_id_type));
    const std::uint64_t covered = 9 * size * policy::tile / probes / 8 + 32;
    std::uint64_t rounds = 0;
    std::uint64_t most_entries = 0;
    for (const unsigned blocks : {policy::blocks, policy::blocks - 1}) {
      const std::size_t of_warp = shared_memory_of_block(blocks) / policy::warps;
      constexpr std::size_t least_entries = 64;
      if (of_warp < padded(probe_bytes + (least_entries + 4) * entry_bytes)) return {};
      const std::uint64_t most = (of_warp - probe_bytes - 15) / entry_bytes / 4 * 4 - 4;
      const std::uint64_t needed = (covered + most - 1) / most;
      if (rounds != 0 && needed >= rounds) break;
      rounds = needed;
      most_entries = most;
      if (rounds < 3) break;
    }
    if (rounds > policy::rounds) return {};
    merge_staging staging{};
    staging.searched = size / probes >= policy::searched;
    staging.entries = static_cast<unsigned>(std::min(most_entries, (covered / rounds + 7) / 4 * 4));
    staging.bytes =
        static_cast<unsigned>(padded((staging.entries + 4) * entry_bytes + probe_bytes));
    const std::size_t bytes = std::size_t{policy::warps} * staging.bytes;

    const auto kernel = merge_tiles<Operation>;
    merge_progress progress;
    progress.tiles = blocks_for(probes, policy::tile);
    progress.warps = std::min<std::uint64_t>(
        progress.tiles, policy::warps * resident_blocks(kernel, policy::threads, bytes));
    buffer<std::uint32_t> answered(on, progress.warps);
    buffer<unsigned long long> total(on, 1);
    check(cudaMemsetAsync(total.data(), 0, total.bytes(), on.stream), "cudaMemsetAsync");
    progress.answered = answered.data();
    progress.total = total.data();
    launch(on.stream, blocks_for(progress.warps, policy::warps), policy::threads, bytes, kernel,
           operation, progress, answered.data(), total.data(), staging);
    return {std::move(answered), std::move(total), progress};
  } else {
    return {};
  }
}

}  // namespace raydex::cuda
