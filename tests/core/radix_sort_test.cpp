// SPDX-License-Identifier: Apache-2.0
// The CPU's radix sort agrees with std::stable_sort.
#include "src/machines/cpu/keys/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::cpu {
namespace {

template <class Key>
void check(std::uint64_t size, std::uint64_t key_mask) {
  auto random = test::generator(size);
  host_memory_resource memory;
  const context on{memory};
  pairs<Key, std::uint32_t> sorted(on, size);
  pairs<Key, std::uint32_t> scratch(on, size);
  std::vector<std::pair<Key, std::uint32_t>> oracle(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    oracle[i] = {static_cast<Key>(random() & key_mask), i};
    sorted.keys.data()[i] = oracle[i].first;
    sorted.values.data()[i] = i;
  }
  std::stable_sort(oracle.begin(), oracle.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  radix_sort(on, sorted, scratch);
  for (std::uint32_t i = 0; i < size; ++i) {
    ASSERT_EQ(sorted.keys.data()[i], oracle[i].first) << i << " of " << size;
    ASSERT_EQ(sorted.values.data()[i], oracle[i].second) << i << " of " << size;
  }
}

TEST(radix_sort, is_a_stable_sort) {
  for (const std::uint64_t size : {0u, 1u, 2u, 65535u, 65536u, 65537u, 300000u}) {
    check<std::uint32_t>(size, ~std::uint64_t{0});
    check<std::uint64_t>(size, ~std::uint64_t{0});
    check<std::uint64_t>(size, 0xff00'0000'00ff'0000);  // bytes that are all equal between others
    check<std::uint32_t>(size, 3);                      // many duplicates
  }
}

}  // namespace
}  // namespace raydex::cpu
