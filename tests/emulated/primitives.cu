// SPDX-License-Identifier: Apache-2.0
// What primitives.cu takes from CUB, by std:: algorithms in kernels of one thread, since the host
// cannot reach device memory here either.
#include "src/machines/cuda/keys/primitives.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/machines/cuda/launch.cuh"

namespace raydex::cuda {

namespace {

template <class Key, class Value>
__global__ void sort_pairs_kernel(const Key* keys, Key* sorted_keys, const Value* values,
                                  Value* sorted_values, std::uint64_t size, bit_range bits) {
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const Key mask =
      bits.last >= int{8 * sizeof(Key)} ? static_cast<Key>(-1) : (Key{1} << bits.last) - 1;
  std::ranges::stable_sort(order, {},
                           [&](std::uint64_t i) { return (keys[i] & mask) >> bits.first; });
  for (std::uint64_t i = 0; i < size; ++i) {
    sorted_keys[i] = keys[order[i]];
    sorted_values[i] = values[order[i]];
  }
}

__global__ void sort_rows_kernel(const std::uint64_t* rows, std::uint64_t* sorted,
                                 std::uint32_t size, bit_range bits) {
  std::copy_n(rows, size, sorted);
  const std::uint64_t mask =
      bits.last >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits.last) - 1;
  std::stable_sort(sorted, sorted + size, [&](std::uint64_t a, std::uint64_t b) {
    return (a & mask) >> bits.first < (b & mask) >> bits.first;
  });
}

template <class Position>
__global__ void select_valid_kernel(core::cells of, std::uint64_t size, Position* positions,
                                    std::uint64_t* count) {
  *count = 0;
  for (std::uint64_t i = 0; i < size; ++i) {
    if (of.valid(i)) positions[(*count)++] = static_cast<Position>(i);
  }
}

template <class T>
__global__ void select_unmarked_kernel(core::strided<T> from, const std::uint8_t* marks,
                                       std::uint64_t size, T* to) {
  for (std::uint64_t i = 0; i < size; ++i) {
    if (marks[i] == 0) *to++ = from(i);
  }
}

template <class Number>
__global__ void inclusive_sum_kernel(Number* numbers, std::uint64_t size) {
  std::partial_sum(numbers, numbers + size, numbers);
}

__global__ void inclusive_minimum_kernel(std::uint64_t* numbers, std::uint64_t size) {
  for (std::uint64_t i = 1; i < size; ++i)
    numbers[i] = std::min(numbers[i], numbers[i - 1]);
}

}  // namespace

template <class Key, class Value>
void sort_pairs(const context& on, const Key* keys, Key* sorted_keys, const Value* values,
                Value* sorted_values, std::uint64_t size, bit_range bits) {
  const buffer<std::byte> scratch(on, size * (sizeof(Key) + sizeof(Value)));  // as CUB has
  launch(on.stream, 1, 1, 0, sort_pairs_kernel<Key, Value>, keys, sorted_keys, values,
         sorted_values, size, bits);
}

template <class Key, class Value>
void sort_pairs(const context& on, double_buffer<Key>& keys, double_buffer<Value>& values,
                bit_range bits) {
  keys.make_room(on);
  values.make_room(on);
  launch(on.stream, 1, 1, 0, sort_pairs_kernel<Key, Value>, keys.current.data(), keys.other.data(),
         values.current.data(), values.other.data(), keys.current.size(), bits);
  keys.current.swap(keys.other);
  values.current.swap(values.other);
}

void sort_rows(const context& on, double_buffer<std::uint32_t>& words, std::uint32_t size,
               bit_range bits) {
  words.make_room(on);
  launch(on.stream, 1, 1, 0, sort_rows_kernel,
         reinterpret_cast<const std::uint64_t*>(words.current.data()),
         reinterpret_cast<std::uint64_t*>(words.other.data()), size, bits);
  words.current.swap(words.other);
}

template <class Position>
void select_valid(const context& on, const core::cells& of, std::uint64_t size, Position* positions,
                  std::uint64_t* count) {
  launch(on.stream, 1, 1, 0, select_valid_kernel<Position>, of, size, positions, count);
}

template <class T>
void select_unmarked(const context& on, const core::strided<T>& from, const std::uint8_t* marks,
                     std::uint64_t size, T* to) {
  const buffer<std::uint64_t> count(on, 1);  // as CUB wants
  launch(on.stream, 1, 1, 0, select_unmarked_kernel<T>, from, marks, size, to);
}

void inclusive_sum(const context& on, std::uint32_t* numbers, std::uint64_t size) {
  launch(on.stream, 1, 1, 0, inclusive_sum_kernel<std::uint32_t>, numbers, size);
}
void inclusive_sum(const context& on, std::uint64_t* numbers, std::uint64_t size) {
  launch(on.stream, 1, 1, 0, inclusive_sum_kernel<std::uint64_t>, numbers, size);
}

void inclusive_minimum(const context& on, std::uint64_t* numbers, std::uint64_t size) {
  launch(on.stream, 1, 1, 0, inclusive_minimum_kernel, numbers, size);
}

template void sort_pairs(const context&, const std::uint32_t*, std::uint32_t*, const std::uint32_t*,
                         std::uint32_t*, std::uint64_t, bit_range);
template void sort_pairs(const context&, double_buffer<std::uint32_t>&,
                         double_buffer<std::uint32_t>&, bit_range);
template void sort_pairs(const context&, double_buffer<std::uint32_t>&,
                         double_buffer<std::uint64_t>&, bit_range);
template void sort_pairs(const context&, double_buffer<std::uint64_t>&,
                         double_buffer<std::uint32_t>&, bit_range);
template void sort_pairs(const context&, double_buffer<std::uint64_t>&,
                         double_buffer<std::uint64_t>&, bit_range);
template void select_valid(const context&, const core::cells&, std::uint64_t, std::uint32_t*,
                           std::uint64_t*);
template void select_valid(const context&, const core::cells&, std::uint64_t, std::uint64_t*,
                           std::uint64_t*);
template void select_unmarked(const context&, const core::strided<std::uint32_t>&,
                              const std::uint8_t*, std::uint64_t, std::uint32_t*);
template void select_unmarked(const context&, const core::strided<std::uint64_t>&,
                              const std::uint8_t*, std::uint64_t, std::uint64_t*);

}  // namespace raydex::cuda
