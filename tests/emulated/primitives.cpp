// SPDX-License-Identifier: Apache-2.0
// What primitives.cu takes from CUB, by std:: algorithms: emulated device memory is host memory.
#include "cuda/primitives.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace raydex::cuda {

template <class Key, class Value>
void sort_pairs(const context& where, const Key* keys, Key* sorted_keys, const Value* values,
                Value* sorted_values, std::uint64_t size) {
  const buffer<std::byte> scratch(where, size * (sizeof(Key) + sizeof(Value)));
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::uint64_t i) { return keys[i]; });
  for (std::uint64_t i = 0; i < size; ++i) {
    sorted_keys[i] = keys[order[i]];
    sorted_values[i] = values[order[i]];
  }
}

template <class Position>
void select_valid(const context& /*where*/, const std::uint8_t* validity, std::uint64_t size,
                  Position* positions, std::uint64_t* count) {
  *count = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    if ((validity[i / 8] >> (i % 8) & 1) != 0) positions[(*count)++] = static_cast<Position>(i);
  }
}

void inclusive_sum(const context& /*where*/, std::uint64_t* numbers, std::uint64_t size) {
  std::partial_sum(numbers, numbers + size, numbers);
}

template void sort_pairs(const context&, const std::uint32_t*, std::uint32_t*, const std::uint32_t*,
                         std::uint32_t*, std::uint64_t);
template void sort_pairs(const context&, const std::uint32_t*, std::uint32_t*, const std::uint64_t*,
                         std::uint64_t*, std::uint64_t);
template void sort_pairs(const context&, const std::uint64_t*, std::uint64_t*, const std::uint32_t*,
                         std::uint32_t*, std::uint64_t);
template void sort_pairs(const context&, const std::uint64_t*, std::uint64_t*, const std::uint64_t*,
                         std::uint64_t*, std::uint64_t);
template void select_valid(const context&, const std::uint8_t*, std::uint64_t, std::uint32_t*,
                           std::uint64_t*);
template void select_valid(const context&, const std::uint8_t*, std::uint64_t, std::uint64_t*,
                           std::uint64_t*);

}  // namespace raydex::cuda
