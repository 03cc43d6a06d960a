// SPDX-License-Identifier: Apache-2.0
// Sorting in a block: every size, with fewer and with more threads than pairs, and equal keys.
#include "src/machines/cuda/lookups/block_sort.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "emulation/control.hpp"
#include "raydex/raydex.hpp"
#include "src/machines/cuda/launch.cuh"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

template <class Key>
__global__ void sort_in_a_block(Key* keys, std::uint32_t* numbers, unsigned size) {
  auto* own_keys = reinterpret_cast<Key*>(cuda::shared_memory());
  auto* own_numbers = reinterpret_cast<std::uint32_t*>(own_keys + size);
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    own_keys[i] = keys[i];
    own_numbers[i] = numbers[i];
  }
  cuda::block_sorter(own_keys, own_numbers, size).sort();
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    keys[i] = own_keys[i];
    numbers[i] = own_numbers[i];
  }
}

template <class Key>
class block_sort : public testing::Test {
 protected:
  // In several orders of the threads; in a single one they might be in step by chance.
  block_sort() { emulation::set_schedule_seed(test::seed() | 1); }
  ~block_sort() override { emulation::set_schedule_seed(0); }

  void check(std::vector<Key> keys, std::vector<std::uint32_t> numbers, unsigned threads) const {
    SCOPED_TRACE(std::to_string(keys.size()) + " keys, " + std::to_string(threads) + " threads");
    auto there = at_.upload(keys);
    auto numbers_there = at_.upload(numbers);
    const auto size = static_cast<unsigned>(keys.size());
    const context on = at_;
    cuda::launch(on.stream, 1, threads, size * (sizeof(Key) + 4), sort_in_a_block<Key>,
                 there.data(), numbers_there.data(), size);
    std::vector<std::pair<Key, std::uint32_t>> expected;
    for (std::size_t i = 0; i < keys.size(); ++i)
      expected.emplace_back(keys[i], numbers[i]);
    std::sort(expected.begin(), expected.end());
    const auto sorted = at_.download(there);
    const auto sorted_numbers = at_.download(numbers_there);
    for (std::size_t i = 0; i < keys.size(); ++i)
      ASSERT_EQ(std::pair(sorted[i], sorted_numbers[i]), expected[i]) << "at " << i;
  }

 private:
  const session at_{backend::cuda};
};

using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(block_sort, widths);

TYPED_TEST(block_sort, orders_by_key_then_by_number) {
  auto random = test::generator();
  for (unsigned size = 1; size <= 2048; size *= 2) {
    for (const std::uint64_t distinct : {1UL, 2UL, 5UL, 1000UL, 0UL}) {
      std::vector<TypeParam> keys(size);
      for (auto& key : keys)
        key = static_cast<TypeParam>(distinct == 0 ? random() : test::below(random, distinct));
      // Padding as in sorted batches: the largest key, and numbers above all others.
      if (distinct == 5) keys[size / 2] = static_cast<TypeParam>(-1);
      std::vector<std::uint32_t> numbers(size);
      std::iota(numbers.begin(), numbers.end(), 0U);
      std::shuffle(numbers.begin(), numbers.end(), random);
      for (const unsigned threads : {32U, 128U, 1024U}) {
        if (threads == 1024 && size > 512) continue;
        this->check(keys, numbers, threads);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(block_sort, keeps_what_is_ascending_and_turns_what_is_descending) {
  std::vector<TypeParam> keys(256);
  std::iota(keys.begin(), keys.end(), TypeParam{0});
  std::vector<std::uint32_t> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 7U);
  this->check(keys, numbers, 128);
  std::reverse(keys.begin(), keys.end());
  this->check(keys, numbers, 128);
}

}  // namespace
}  // namespace raydex
