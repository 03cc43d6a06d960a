// SPDX-License-Identifier: Apache-2.0
#include "src/machines/cuda/keys/primitives.hpp"

#include <algorithm>
#include <limits>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "raydex/core/keys/column.hpp"
#include "src/machines/cuda/check.hpp"
#include "src/machines/cuda/launch.cuh"

namespace raydex::cuda {

namespace {

// Calls a CUB algorithm: once for the size of its scratch, once to run it.
template <class Algorithm>
void with_scratch(const context& on, const char* name, Algorithm&& algorithm) {
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), name);
  buffer<std::byte> scratch(on, bytes);
  check(algorithm(scratch.data(), bytes), name);
}

struct is_valid {
  core::cells of;
  template <class Position>
  __device__ bool operator()(Position i) const {
    return of.valid(i);
  }
};

struct smaller {
  __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return b < a ? b : a;
  }
};

struct is_unmarked {
  __device__ bool operator()(std::uint8_t mark) const { return mark == 0; }
};

// Numbers that a block adds up, in one launch and without scratch.
struct few_numbers {
  static constexpr unsigned threads = 256;
  static constexpr unsigned per_thread = 8;
  static constexpr unsigned most = threads * per_thread;
};

template <class Number>
__global__ void __launch_bounds__(few_numbers::threads) add_up_few(Number* numbers, unsigned size) {
  using scan = cub::BlockScan<Number, few_numbers::threads>;
  __shared__ typename scan::TempStorage scratch;
  const unsigned first = threadIdx.x * few_numbers::per_thread;
  Number own[few_numbers::per_thread];
#pragma unroll
  for (unsigned j = 0; j < few_numbers::per_thread; ++j)
    own[j] = first + j < size ? numbers[first + j] : 0;
  scan(scratch).InclusiveSum(own, own);
#pragma unroll
  for (unsigned j = 0; j < few_numbers::per_thread; ++j)
    if (first + j < size) numbers[first + j] = own[j];
}

template <class Number>
void add_up(const context& on, Number* numbers, std::uint64_t size) {
  if (size <= few_numbers::most) {
    launch(on.stream, size == 0 ? 0 : 1, few_numbers::threads, 0, add_up_few<Number>, numbers,
           static_cast<unsigned>(size));
    return;
  }
  with_scratch(on, "cub::DeviceScan::InclusiveSum", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, numbers, numbers,
                                         static_cast<std::int64_t>(size), on.stream);
  });
}

}  // namespace

template <class Key, class Value>
void sort_pairs(const context& on, const Key* keys, Key* sorted_keys, const Value* values,
                Value* sorted_values, std::uint64_t size, bit_range bits) {
  with_scratch(on, "cub::DeviceRadixSort::SortPairs", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                           static_cast<Value>(size), bits.first,
                                           std::min(bits.last, int{8 * sizeof(Key)}), on.stream);
  });
}

template <class Key, class Value>
void sort_pairs(const context& on, double_buffer<Key>& keys, double_buffer<Value>& values,
                bit_range bits) {
  keys.make_room(on);
  values.make_room(on);
  cub::DoubleBuffer<Key> both_keys(keys.current.data(), keys.other.data());
  cub::DoubleBuffer<Value> both_values(values.current.data(), values.other.data());
  const auto sort = [&](auto size) {
    with_scratch(on, "cub::DeviceRadixSort::SortPairs", [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(scratch, bytes, both_keys, both_values, size,
                                             bits.first, std::min(bits.last, int{8 * sizeof(Key)}),
                                             on.stream);
    });
  };
  const std::uint64_t size = keys.current.size();
  // Counting by 32 bits is faster. Wide row ids are values, or keys that are sorted before.
  if constexpr (sizeof(Key) == 4 && sizeof(Value) == 4) {
    sort(static_cast<std::uint32_t>(size));
  } else if (sizeof(Value) == 8 || size > std::numeric_limits<std::uint32_t>::max()) {
    sort(size);
  } else if constexpr (sizeof(Value) == 4) {
    sort(static_cast<std::uint32_t>(size));
  }
  if (both_keys.Current() != keys.current.data()) keys.current.swap(keys.other);
  if (both_values.Current() != values.current.data()) values.current.swap(values.other);
}

void sort_rows(const context& on, double_buffer<std::uint32_t>& words, std::uint32_t size,
               bit_range bits) {
  words.make_room(on);
  const auto rows_at = [](buffer<std::uint32_t>& at) {
    return reinterpret_cast<std::uint64_t*>(at.data());
  };
  cub::DoubleBuffer<std::uint64_t> both(rows_at(words.current), rows_at(words.other));
  with_scratch(on, "cub::DeviceRadixSort::SortKeys", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, both, size, bits.first, bits.last,
                                          on.stream);
  });
  if (both.Current() != rows_at(words.current)) words.current.swap(words.other);
}

template <class Position>
void select_valid(const context& on, const core::cells& of, std::uint64_t size, Position* positions,
                  std::uint64_t* count) {
  with_scratch(on, "cub::DeviceSelect::If", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<Position>(0), positions,
                                 count, static_cast<std::int64_t>(size), is_valid{of}, on.stream);
  });
}

template <class T>
void select_unmarked(const context& on, const core::strided<T>& from, const std::uint8_t* marks,
                     std::uint64_t size, T* to) {
  buffer<std::uint64_t> count(on, 1);
  const auto numbers =
      thrust::make_transform_iterator(thrust::counting_iterator<std::uint64_t>(0), from);
  with_scratch(on, "cub::DeviceSelect::Flagged", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, numbers,
                                      thrust::make_transform_iterator(marks, is_unmarked{}), to,
                                      count.data(), static_cast<std::int64_t>(size), on.stream);
  });
}

void inclusive_sum(const context& on, std::uint32_t* numbers, std::uint64_t size) {
  add_up(on, numbers, size);
}
void inclusive_sum(const context& on, std::uint64_t* numbers, std::uint64_t size) {
  add_up(on, numbers, size);
}

void inclusive_minimum(const context& on, std::uint64_t* numbers, std::uint64_t size) {
  with_scratch(on, "cub::DeviceScan::InclusiveScan", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, numbers, numbers, smaller{},
                                          static_cast<std::int64_t>(size), on.stream);
  });
}

template void sort_pairs(const context&, const std::uint32_t*, std::uint32_t*, const std::uint32_t*,
                         std::uint32_t*, std::uint64_t, bit_range);
template void sort_pairs(const context&, const std::uint32_t*, std::uint32_t*, const std::uint64_t*,
                         std::uint64_t*, std::uint64_t, bit_range);
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
