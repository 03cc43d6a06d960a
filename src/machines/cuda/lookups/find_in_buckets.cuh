// SPDX-License-Identifier: Apache-2.0
// Points in a hash table, for `first`: neighbouring threads read the buckets
// of their points together, 16 bytes each, so that a bucket costs the L1 one access.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/hashed_view.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "src/machines/cuda/launch.cuh"
#include "src/machines/cuda/lookups/teams.cuh"
#include "src/machines/cuda/warp.cuh"

namespace raydex::cuda {

struct bucket_policy {
  static constexpr unsigned threads = 256;
};

// A thread's 16 bytes of a bucket.
template <class View>
class bucket_part {
  using key = typename View::key_type;
  using row_id = typename View::row_id_type;
  using buckets = typename View::buckets;
  static constexpr unsigned key_words = sizeof(key) / 4;

 public:
  static constexpr unsigned lanes = buckets::words / 4;
  // Whether a part holds hashes with their row ids.
  static constexpr bool has_rows = sizeof(key) == sizeof(row_id);
  // The part with the last hash.
  static constexpr unsigned last_lane = buckets::key_word(buckets::slots - 1) / 4;

  __device__ void read(const std::uint32_t* bucket, unsigned lane) {
    const auto* const from = reinterpret_cast<const uint4*>(bucket) + lane;
    // Row ids that lie elsewhere are read next.
    const uint4 part = has_rows ? load_past_l1(from) : __ldg(from);
    std::memcpy(words_, &part, sizeof words_);
  }

  // The row id of a hash, or, where row ids lie elsewhere, the first slot with it, which may be one
  // without an entry; the largest number if it is not in this part.
  __device__ row_id find(key hash, unsigned lane) const {
    row_id answer = buckets::none;
    if constexpr (has_rows) {
      RAYDEX_UNROLL
      for (unsigned word = 0; word < 4; word += 2 * key_words)
        if (hash_at(word) == hash && is_slot(4 * lane + word))
          answer = smaller(answer, core::number_of<row_id>(words_ + word + key_words));
    } else {
      RAYDEX_UNROLL
      for (unsigned word = 0; word < 4; word += key_words) {
        const unsigned slot = (4 * lane + word - buckets::key_word(0)) / key_words;
        if (hash_at(word) == hash && slot < buckets::slots) answer = smaller(answer, slot);
      }
    }
    return answer;
  }

  // Of the part with the last hash: whether a hash that the bucket does not hold is in none after
  // it. Where it cannot tell, it says no.
  __device__ bool ends(const View& view, key hash) const {
    constexpr unsigned word = buckets::key_word(buckets::slots - 1) % 4;
    bool room = false;
    if constexpr (has_rows) {
      room = hash_at(word) == buckets::never &&
             core::number_of<row_id>(words_ + word + key_words) == buckets::none;
    }
    return view.ends(hash, 0, hash_at(word), room);
  }

 private:
  // Whether a word of a bucket is in a slot.
  __device__ static bool is_slot(unsigned word) {
    return buckets::used_words == buckets::words || word < buckets::used_words;
  }
  __device__ static row_id smaller(row_id a, row_id b) { return b < a ? b : a; }
  __device__ key hash_at(unsigned word) const { return core::number_of<key>(words_ + word); }

  std::uint32_t words_[4];
};

// Hands each of some neighbouring lanes the smallest of what they have for it.
template <unsigned Lanes, class T>
__device__ T smallest_for_each(T (&values)[Lanes]) {
  RAYDEX_UNROLL
  for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) {
    const bool upper = (threadIdx.x & distance) != 0;
    RAYDEX_UNROLL
    for (unsigned i = 0; i < distance; ++i) {
      const T kept = upper ? values[i + distance] : values[i];
      const T received = from_partner(upper ? values[i] : values[i + distance], distance);
      values[i] = received < kept ? received : kept;
    }
  }
  return values[0];
}

template <class Operation>
__global__ void __launch_bounds__(bucket_policy::threads)
    find_in_buckets(const __grid_constant__ Operation operation) {
  using view_type = std::remove_const_t<decltype(operation.view)>;
  using key = typename view_type::key_type;
  using row_id = typename view_type::row_id_type;
  using buckets = typename view_type::buckets;
  using part_type = bucket_part<view_type>;
  constexpr unsigned lanes = part_type::lanes;
  const view_type& view = operation.view;

  const std::uint64_t i = global_thread();
  const core::ticket tickets[1] = {{i, i}};
  auto fetched = operation.probes.fetch(tickets);
  operation.probes.lower.encode_all(fetched.lower);
  const key hash = view.hasher(fetched.lower[0]);
  const std::uint32_t bucket = view.home(hash);

  const unsigned lane = threadIdx.x % lanes;
  part_type parts[lanes];
  RAYDEX_UNROLL
  for (unsigned m = 0; m < lanes; ++m)
    parts[m].read(view.table.at(from_lane(bucket, m, lanes)), lane);
  row_id found[lanes];
  unsigned ends = 0;  // a bit for each lane
  RAYDEX_UNROLL
  for (unsigned m = 0; m < lanes; ++m) {
    const key wanted = from_lane(hash, m, lanes);
    found[m] = parts[m].find(wanted, lane);
    ends |= (parts[m].ends(view, wanted) ? 1U : 0U) << m;
  }
  row_id row = smallest_for_each(found);
  ends = from_lane(ends, part_type::last_lane, lanes);
  if (i >= operation.probes.size) return;
  // Maybe, by a slot without an entry that has the same hash and is before it.
  bool is_hidden = false;
  if constexpr (!part_type::has_rows) {
    if (row != buckets::none) {
      row = *view.table.row(bucket, static_cast<unsigned>(row));
      is_hidden = row == buckets::none;
    }
  }
  if (is_hidden) {
    row = view.look_up(hash).row;
  } else if (row == buckets::none && (ends >> lane & 1) == 0) {
    row = view.look_up_past(bucket, hash).row;
  }
  if (!fetched.exists[0]) row = buckets::none;
  core::store_once(operation.out + i, row);
}

// Whether an operation looks points up in buckets, and needs their smallest row alone.
template <class Operation>
concept finding_in_buckets = requires(const Operation& operation) {
  Operation::first_match_only;
  operation.view.look_up_past(std::uint32_t{}, typename decltype(Operation::view)::key_type{});
};

template <class Operation>
void find_in_shared_buckets(const context& on, const Operation& operation) {
  const auto start = [&]<class Call>(const Call& call) {
    launch(on.stream, blocks_for(call.probes.size, bucket_policy::threads), bucket_policy::threads,
           0, find_in_buckets<Call>, call);
  };
  if (operation.probes.are_plain()) {
    start(operation.plain());
  } else {
    start(operation);
  }
}

}  // namespace raydex::cuda
