// SPDX-License-Identifier: Apache-2.0
// Takes the place of bench/sort_device.cu where kernels are emulated: CUB is not, and its sorts
// are the standard library's here.
#include <algorithm>
#include <utility>
#include <vector>

#include "bench/sort_device.hpp"

namespace raydex::bench {

void sort_keys(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted,
               stream_t /*stream*/) {
  bytes = 1;
  if (scratch == nullptr) return;
  with_width(keys.bits, [&](auto zero) {
    using key = decltype(zero);
    auto* const to = static_cast<key*>(sorted);
    std::copy_n(keys.as<key>(), keys.size, to);
    std::sort(to, to + keys.size);
  });
}

void sort_pairs(void* scratch, std::size_t& bytes, const key_span& keys, void* sorted_keys,
                const key_span& numbers, void* sorted_numbers, stream_t /*stream*/) {
  bytes = 1;
  if (scratch == nullptr) return;
  with_width(keys.bits, [&](auto key_zero) {
    using key = decltype(key_zero);
    with_width(numbers.bits, [&](auto number_zero) {
      using number = decltype(number_zero);
      std::vector<std::pair<key, number>> pairs(keys.size);
      for (std::size_t i = 0; i < keys.size; ++i) {
        pairs[i] = {keys.as<key>()[i], numbers.as<number>()[i]};
      }
      std::stable_sort(pairs.begin(), pairs.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t i = 0; i < keys.size; ++i) {
        static_cast<key*>(sorted_keys)[i] = pairs[i].first;
        static_cast<number*>(sorted_numbers)[i] = pairs[i].second;
      }
    });
  });
}

}  // namespace raydex::bench
