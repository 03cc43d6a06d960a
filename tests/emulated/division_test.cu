// SPDX-License-Identifier: Apache-2.0
// Columns divided by the highest bits of hashes.
#include "src/machines/cuda/joins/division.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "raydex/session.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t seed = 5;

template <class Key>
void divide(const std::vector<Key>& keys, unsigned bits,
            const std::vector<std::uint8_t>& validity) {
  SCOPED_TRACE(std::to_string(keys.size()) + " keys, " + std::to_string(bits) + " bits");
  const session at(backend::cuda);
  column all(keys);
  if (!validity.empty()) all.validity = validity.data();
  const auto hash = core::hash_by<Key>(seed);
  const auto part_of = [&](std::uint32_t row) {
    return hash(keys[row]) >> (8 * sizeof(Key) - bits);
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < keys.size(); ++row)
    if (validity.empty() || (validity[row / 8] >> (row % 8) & 1) != 0) rows.push_back(row);
  std::ranges::stable_sort(rows, {}, part_of);

  const cuda::divided_column<Key> found = cuda::divided<Key>(at, all, seed, bits);
  ASSERT_EQ(found.size, rows.size());
  std::vector<std::uint32_t> found_rows = at.download(found.rows);
  found_rows.resize(found.size);
  EXPECT_EQ(found_rows, rows);
  const std::vector<Key> hashes = at.download(found.hashes);
  for (std::size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(hashes[i], hash(keys[rows[i]])) << i;
}

template <class Key>
class division : public testing::Test {};
using key_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(division, key_types);

TYPED_TEST(division, of_any_size_by_any_bits) {
  constexpr std::size_t tile = cuda::division_tile;
  auto random = generator();
  for (const std::size_t size : {std::size_t{1}, tile - 1, tile, tile + 1, 5 * tile + 77}) {
    std::vector<TypeParam> keys(size);
    for (TypeParam& key : keys)
      key = static_cast<TypeParam>(random());
    std::vector<std::uint8_t> validity(size / 8 + 1);
    for (std::uint8_t& bits : validity)
      bits = static_cast<std::uint8_t>(random());
    for (const unsigned bits : {1U, 7U, 8U, 9U, 15U, 16U}) {
      divide<TypeParam>(keys, bits, {});
      divide<TypeParam>(keys, bits, validity);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(division, of_equal_keys_and_of_none) {
  const std::vector<TypeParam> keys(2 * cuda::division_tile + 1, 3);
  for (const unsigned bits : {8U, 16U}) {
    divide<TypeParam>(keys, bits, {});
    divide<TypeParam>(keys, bits, std::vector<std::uint8_t>(keys.size() / 8 + 1));
  }
}

// More rows than blocks count in one go.
TYPED_TEST(division, of_many_rows) {
  std::vector<TypeParam> keys((std::size_t{1} << 21) + 1);
  std::iota(keys.begin(), keys.end(), TypeParam{0});
  divide<TypeParam>(keys, 12, {});
}

}  // namespace
}  // namespace raydex::test
