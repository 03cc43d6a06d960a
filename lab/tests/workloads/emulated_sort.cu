// SPDX-License-Identifier: Apache-2.0
// Takes the place of lab/machine/sort_device.cu where kernels are emulated: one thread sorts,
// since CUB cannot be emulated.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lab/machine/sort_device.hpp"
#include "src/machines/cuda/launch.cuh"

namespace raydex::bench {
namespace {

template <class Key>
__global__ void sort_keys_kernel(const Key* keys, Key* sorted, std::uint64_t size) {
  std::copy_n(keys, size, sorted);
  std::sort(sorted, sorted + size);
}

template <class Key, class Number>
__global__ void sort_pairs_kernel(const Key* keys, Key* sorted_keys, const Number* numbers,
                                  Number* sorted_numbers, std::uint64_t size, int first_bit) {
  std::vector<std::pair<Key, Number>> pairs(size);
  for (std::uint64_t i = 0; i < size; ++i)
    pairs[i] = {keys[i], numbers[i]};
  std::stable_sort(pairs.begin(), pairs.end(), [first_bit](const auto& a, const auto& b) {
    return a.first >> first_bit < b.first >> first_bit;
  });
  for (std::uint64_t i = 0; i < size; ++i) {
    sorted_keys[i] = pairs[i].first;
    sorted_numbers[i] = pairs[i].second;
  }
}

}  // namespace

void sort_keys(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted,
               stream_t stream) {
  bytes = 1;
  if (scratch == nullptr) return;
  with_width(keys.bits, [&](auto zero) {
    using key = decltype(zero);
    cuda::launch(stream, 1, 1, 0, sort_keys_kernel<key>, keys.as<key>(), static_cast<key*>(sorted),
                 keys.size);
  });
}

void sort_pairs(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted_keys,
                const key_span& numbers, void* sorted_numbers, stream_t stream, int first_bit) {
  bytes = 1;
  if (scratch == nullptr) return;
  with_width(keys.bits, [&](auto key_zero) {
    using key = decltype(key_zero);
    with_width(numbers.bits, [&](auto number_zero) {
      using number = decltype(number_zero);
      cuda::launch(stream, 1, 1, 0, sort_pairs_kernel<key, number>, keys.as<key>(),
                   static_cast<key*>(sorted_keys), numbers.as<number>(),
                   static_cast<number*>(sorted_numbers), keys.size, first_bit);
    });
  });
}

}  // namespace raydex::bench
