// SPDX-License-Identifier: Apache-2.0
// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/machines/cpu/lookups/simd_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <cstdint>

#include "src/machines/cpu/lookups/simd_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace raydex::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 8 lanes: the line of a leaf has as many entries.
template <class T>
using lanes_of = hn::CappedTag<T, 8>;

// Counts among as many keys as a vector holds, `Words` words from one to the next.
template <class Key, int Words>
struct key_vector {
  using tag = lanes_of<Key>;

  HWY_INLINE static auto load(const std::uint32_t* words) {
    const tag d;
    const auto* from = reinterpret_cast<const Key*>(words);
    auto keys = hn::Zero(d);
    [[maybe_unused]] auto row = hn::Zero(d);
    constexpr std::size_t keys_an_entry = Words / (sizeof(Key) / 4);
    if constexpr (keys_an_entry == 1) {
      keys = hn::LoadU(d, from);
    } else if constexpr (keys_an_entry == 2) {
      hn::LoadInterleaved2(d, from, keys, row);
    } else {
      hn::LoadInterleaved3(d, from, keys, row, row);
    }
    return keys;
  }
  HWY_INLINE static std::size_t count_below(const std::uint32_t* words, Key wanted) {
    const tag d;
    return hn::CountTrue(d, hn::Lt(load(words), hn::Set(d, wanted)));
  }
};

// Keys of 64 bits at multiples of 12 bytes, in two halves.
template <>
struct key_vector<std::uint64_t, 3> {
  using tag = lanes_of<std::uint32_t>;

  HWY_INLINE static std::size_t count_below(const std::uint32_t* words, std::uint64_t wanted) {
    const tag d;
    auto low = hn::Zero(d);
    auto high = hn::Zero(d);
    auto row = hn::Zero(d);
    hn::LoadInterleaved3(d, words, low, high, row);
    const auto wanted_low = hn::Set(d, static_cast<std::uint32_t>(wanted));
    const auto wanted_high = hn::Set(d, static_cast<std::uint32_t>(wanted >> 32));
    return hn::CountTrue(d, hn::Or(hn::Lt(high, wanted_high),
                                   hn::And(hn::Eq(high, wanted_high), hn::Lt(low, wanted_low))));
  }
};

template <class Key>
HWY_INLINE Key read_key(const std::uint32_t* words) {
  if constexpr (sizeof(Key) == 4) {
    return words[0];
  } else {
    return words[0] | Key{words[1]} << 32;
  }
}

template <class Key, int Words>
void rank_in_runs(const core::key_run<Words>* runs, const Key* wanted, unsigned* ranks,
                  std::size_t count) {
  using vector = key_vector<Key, Words>;
  const std::size_t step = hn::Lanes(typename vector::tag());
  for (std::size_t m = 0; m < count; ++m) {
    std::size_t below = 0;
    std::size_t i = 0;
    for (; i + step <= runs[m].count; i += step)
      below += vector::count_below(runs[m].words + i * Words, wanted[m]);
    for (; i < runs[m].count; ++i)
      below += read_key<Key>(runs[m].words + i * Words) < wanted[m] ? 1U : 0U;
    ranks[m] = static_cast<unsigned>(below);
  }
}

// A bit for each lane of a mask.
template <class D, class Mask>
HWY_INLINE std::uint64_t bits_of(D d, Mask mask) {
  std::uint64_t bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&bits));
  return bits;
}

template <class Key>
std::uint32_t compare_with(const Key* numbers, Key least) {
  constexpr std::size_t count = 32;
  const hn::CappedTag<Key, count> d;
  const auto bound = hn::Set(d, least);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d))
    bits |= bits_of(d, hn::Lt(hn::LoadU(d, numbers + i), bound)) << i;
  return ~static_cast<std::uint32_t>(bits);
}

// The compiler takes this instruction set's vectors.
template <class Key>
void hash_all(const Key* numbers, Key flipped, const core::hash_function<Key>& hash,
              Key* HWY_RESTRICT hashes, std::size_t count) {
  const core::hash_function<Key> own = hash;
  for (std::size_t i = 0; i < count; ++i)
    hashes[i] = own(numbers[i] ^ flipped);
}

// Without branches, as nobody knows before whether a bucket has a hash. The bits of a vector become
// a lane before the next one is compared: of bits that it keeps g++ 12 may spill one byte only.
template <class Buckets>
HWY_INLINE void find_in_buckets(const Buckets& table, const std::uint32_t* buckets,
                                const typename Buckets::key_type* hashes, unsigned* slots,
                                typename Buckets::row_id_type* rows, std::size_t count) {
  using key = typename Buckets::key_type;
  using row_id = typename Buckets::row_id_type;
  constexpr unsigned key_words = sizeof(key) / 4;
  constexpr unsigned first = Buckets::key_word(0) / key_words;  // lane of the first hash
  constexpr unsigned step = (Buckets::key_word(1) - Buckets::key_word(0)) / key_words;
  constexpr unsigned end = first + Buckets::slots * step;
  constexpr std::uint64_t hash_lanes = [] {
    std::uint64_t bits = 0;
    for (unsigned lane = first; lane < end; lane += step)
      bits |= std::uint64_t{1} << lane;
    return bits;
  }();
  const hn::CappedTag<key, Buckets::words / key_words> d;
  for (std::size_t m = 0; m < count; ++m) {
    const auto* const from = reinterpret_cast<const key*>(table.at(buckets[m]));
    const auto wanted = hn::Set(d, hashes[m]);
    std::size_t lane = end;
    for (std::size_t i = hwy::RoundUpTo(end, hn::Lanes(d)); i > first;) {
      i -= hn::Lanes(d);
      const std::uint64_t equal =
          bits_of(d, hn::Eq(hn::Load(d, from + i), wanted)) & hash_lanes >> i;
      const std::uint64_t found_before = std::uint64_t{1} << (lane - i);
      lane = i + hwy::Num0BitsBelowLS1Bit_Nonzero64(equal | found_before);
    }
    const auto slot = static_cast<unsigned>(lane - first) / step;
    const unsigned is_none = slot == Buckets::slots ? 1 : 0;
    slots[m] = slot;
    rows[m] = *table.row(buckets[m], slot - is_none) | static_cast<row_id>(row_id{0} - is_none);
  }
}

template <class Buckets>
HWY_INLINE void find_in_homes(const Buckets& table,
                              const core::hash_function<typename Buckets::key_type>& hash,
                              std::uint32_t homes_count, const typename Buckets::key_type* keys,
                              typename Buckets::key_type* hashes, std::uint32_t* homes,
                              unsigned* slots, typename Buckets::row_id_type* rows,
                              std::size_t count) {
  const core::hash_function<typename Buckets::key_type> own = hash;  // `hashes` may not change it
  for (std::size_t m = 0; m < count; ++m) {
    hashes[m] = own(keys[m]);
    homes[m] = core::home_of(hashes[m], homes_count);
  }
  for (std::size_t m = 0; m < count; ++m)
    core::prefetch(table.at(homes[m]));
  find_in_buckets(table, homes, hashes, slots, rows, count);
}

template <class Key>
void rank_in_nodes(const core::quantised_node<Key>* const* nodes, const Key* wanted,
                   unsigned* ranks, std::size_t count) {
  using node = core::quantised_node<Key>;
  const hn::CappedTag<std::uint16_t, sizeof(node) / 2> d;
  constexpr std::size_t base = sizeof(Key) / 2;  // as many 16-bit parts come before the separators
  for (std::size_t m = 0; m < count; ++m) {
    const auto steps =
        hn::Set(d, static_cast<std::uint16_t>(node::mark |
                                              node::quantise(nodes[m]->base_and_shift, wanted[m])));
    const auto* parts = reinterpret_cast<const std::uint16_t*>(nodes[m]);
    std::size_t below = 0;
    for (std::size_t i = 0; i < sizeof(node) / 2; i += hn::Lanes(d)) {
      const auto separator = hn::Not(hn::FirstN(d, i < base ? base - i : 0));
      below += hn::CountTrue(d, hn::And(hn::Lt(hn::Load(d, parts + i), steps), separator));
    }
    ranks[m] = static_cast<unsigned>(below);
  }
}

template <class Key>
simd_kernels<Key> kernels() {
  constexpr int width = sizeof(Key) / 4;
  return {rank_in_runs<Key, width>,
          rank_in_runs<Key, width + 1>,
          rank_in_runs<Key, width + 2>,
          rank_in_nodes<Key>,
          compare_with<Key>,
          hash_all<Key>};
}
simd_kernels<std::uint32_t> kernels32() {
  return kernels<std::uint32_t>();
}
simd_kernels<std::uint64_t> kernels64() {
  return kernels<std::uint64_t>();
}

template <class Buckets>
bucket_kernels<Buckets> kernels_of_buckets() {
  return {find_in_buckets<Buckets>, find_in_homes<Buckets>};
}
template <class Key, class RowId>
table_kernels<Key, RowId> kernels_of_tables() {
  using all = table_kernels<Key, RowId>;
  return {kernels_of_buckets<typename all::line>(), kernels_of_buckets<typename all::two_lines>(),
          kernels_of_buckets<typename all::node>()};
}
table_kernels<std::uint32_t, std::uint32_t> tables_32_32() {
  return kernels_of_tables<std::uint32_t, std::uint32_t>();
}
table_kernels<std::uint64_t, std::uint32_t> tables_64_32() {
  return kernels_of_tables<std::uint64_t, std::uint32_t>();
}

}  // namespace raydex::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace raydex::cpu {

HWY_EXPORT(kernels32);
HWY_EXPORT(kernels64);
HWY_EXPORT(tables_32_32);
HWY_EXPORT(tables_64_32);

template <>
simd_kernels<std::uint32_t> best_kernels() {
  return HWY_DYNAMIC_DISPATCH(kernels32)();
}
template <>
simd_kernels<std::uint64_t> best_kernels() {
  return HWY_DYNAMIC_DISPATCH(kernels64)();
}

template <>
table_kernels<std::uint32_t, std::uint32_t> table_kernels<std::uint32_t, std::uint32_t>::best() {
  return HWY_DYNAMIC_DISPATCH(tables_32_32)();
}
template <>
table_kernels<std::uint64_t, std::uint32_t> table_kernels<std::uint64_t, std::uint32_t>::best() {
  return HWY_DYNAMIC_DISPATCH(tables_64_32)();
}

}  // namespace raydex::cpu
#endif
