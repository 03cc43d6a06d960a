// SPDX-License-Identifier: Apache-2.0
// All that the benchmarks use of CUB.
#include <cub/device/device_radix_sort.cuh>
#include <limits>

#include "lab/machine/sort_device.hpp"
#include "src/machines/cuda/check.hpp"

namespace raydex::bench {
namespace {

// CUB works with the width of the size that it is given, and is faster with 32 bits.
template <class Work>
void with_size(std::uint64_t size, Work&& work) {
  if (size <= std::numeric_limits<std::uint32_t>::max()) {
    work(static_cast<std::uint32_t>(size));
  } else {
    work(size);
  }
}

}  // namespace

void sort_keys(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted,
               stream_t stream) {
  with_width(keys.bits, [&](auto zero) {
    using key = decltype(zero);
    with_size(keys.size, [&](auto size) {
      cuda::check(
          cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<const key*>(keys.data),
                                         static_cast<key*>(sorted), size, 0, keys.bits, stream),
          "cub::DeviceRadixSort::SortKeys");
    });
  });
}

void sort_pairs(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted_keys,
                const key_span& numbers, void* sorted_numbers, stream_t stream, int first_bit) {
  with_width(keys.bits, [&](auto key_zero) {
    using key = decltype(key_zero);
    with_width(numbers.bits, [&](auto number_zero) {
      using number = decltype(number_zero);
      with_size(keys.size, [&](auto size) {
        cuda::check(cub::DeviceRadixSort::SortPairs(
                        scratch, bytes, static_cast<const key*>(keys.data),
                        static_cast<key*>(sorted_keys), static_cast<const number*>(numbers.data),
                        static_cast<number*>(sorted_numbers), size, first_bit, keys.bits, stream),
                    "cub::DeviceRadixSort::SortPairs");
      });
    });
  });
}

}  // namespace raydex::bench
