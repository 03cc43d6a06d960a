// SPDX-License-Identifier: Apache-2.0
// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/lookups/simd_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>

#include "src/cpu/lookups/simd_kernels.hpp"

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
  // The first one that is equal, or -1.
  HWY_INLINE static std::ptrdiff_t find(const std::uint32_t* words, Key wanted) {
    const tag d;
    return hn::FindFirstTrue(d, hn::Eq(load(words), hn::Set(d, wanted)));
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

template <class Key, int Words>
void find_equal(const core::key_run<Words>* runs, const Key* wanted, unsigned* slots,
                std::size_t count) {
  using vector = key_vector<Key, Words>;
  const std::size_t step = hn::Lanes(typename vector::tag());
  for (std::size_t m = 0; m < count; ++m) {
    const std::size_t size = runs[m].count;
    std::size_t found = size;
    if (size < step) {
      for (std::size_t i = 0; i < size && found == size; ++i)
        if (read_key<Key>(runs[m].words + i * Words) == wanted[m]) found = i;
    } else {
      // The last vector may overlap the one before it.
      for (std::size_t i = 0; found == size; i += step) {
        const std::size_t begin = std::min(i, size - step);
        const std::ptrdiff_t at = vector::find(runs[m].words + begin * Words, wanted[m]);
        if (at >= 0) found = begin + static_cast<std::size_t>(at);
        if (begin + step == size) break;
      }
    }
    slots[m] = static_cast<unsigned>(found);
  }
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
  return {rank_in_runs<Key, width>, rank_in_runs<Key, width + 1>, rank_in_runs<Key, width + 2>,
          rank_in_nodes<Key>,       find_equal<Key, width>,       find_equal<Key, 2 * width>};
}
simd_kernels<std::uint32_t> kernels32() {
  return kernels<std::uint32_t>();
}
simd_kernels<std::uint64_t> kernels64() {
  return kernels<std::uint64_t>();
}

}  // namespace raydex::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace raydex::cpu {

HWY_EXPORT(kernels32);
HWY_EXPORT(kernels64);

template <>
simd_kernels<std::uint32_t> best_kernels() {
  return HWY_DYNAMIC_DISPATCH(kernels32)();
}
template <>
simd_kernels<std::uint64_t> best_kernels() {
  return HWY_DYNAMIC_DISPATCH(kernels64)();
}

}  // namespace raydex::cpu
#endif
