// SPDX-License-Identifier: Apache-2.0
// Searches in sorted columns of every key type answer as std::lower_bound and std::upper_bound do.
#include "raydex/search_sorted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "raydex/session.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

template <class T>
class search_in_sorted : public backend_test {
 protected:
  void check(std::vector<T> cells, const std::vector<T>& wanted) const {
    std::sort(cells.begin(), cells.end(), key_less{});
    const auto sorted = this->at().upload(cells);
    const auto asked = this->at().upload(wanted);
    check(column(sorted), cells, column(asked), wanted);
  }
  void check(const column& sorted, const std::vector<T>& cells, const column& asked,
             const std::vector<T>& wanted) const {
    buffer<std::uint64_t> out(this->at(), wanted.size());
    for (const search_side side : {search_side::left, search_side::right}) {
      search_sorted(tested_backend(), this->at(), sorted, asked, side, out);
      const auto found = this->at().download(out);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto at = side == search_side::left
                            ? std::lower_bound(cells.begin(), cells.end(), wanted[i], key_less{})
                            : std::upper_bound(cells.begin(), cells.end(), wanted[i], key_less{});
        const auto place = static_cast<std::uint64_t>(at - cells.begin());
        if (found[i] == place)
          continue;  // a check by GoogleTest of each takes longer than the search
        FAIL() << "key " << i << (side == search_side::left ? ", left: " : ", right: ") << found[i]
               << " in place of " << place;
      }
    }
  }

  std::vector<T> some(std::size_t size, unsigned few) {
    std::vector<T> keys(size);
    for (T& key : keys)
      key = few == 0 ? random_key<T>(random_) : dense_key<T>(below(random_, few));
    return keys;
  }
  std::mt19937_64 random_ = generator();
};

using key_types = testing::Types<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t, float,
                                 double, std::array<char, 3>, std::array<char, 8>>;
TYPED_TEST_SUITE(search_in_sorted, key_types);

TYPED_TEST(search_in_sorted, columns_of_any_size) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 31U, 32U, 33U, 1000U, 4097U}) {
    SCOPED_TRACE(size);
    this->check(this->some(size, 0), this->some(300, 0));
    this->check(this->some(size, 50), this->some(300, 60));
  }
}

TYPED_TEST(search_in_sorted, equal_keys_and_extremes) {
  using key = TypeParam;
  std::vector<key> wanted = extreme_keys<key>();
  wanted.insert(wanted.end(), {dense_key<key>(6), dense_key<key>(7), dense_key<key>(8)});
  this->check(std::vector<key>(500, dense_key<key>(7)), wanted);
  auto cells = this->some(100, 0);
  for (int copies = 0; copies < 3; ++copies)
    cells.insert(cells.end(), wanted.begin(), wanted.end());
  this->check(cells, wanted);
}

// As many keys as have a tree made.
TYPED_TEST(search_in_sorted, many_keys) {
  if (tested_by_emulation()) GTEST_SKIP() << "2^20 keys take too long";
  if (small_scale() && !std::is_same_v<TypeParam, std::int64_t>)
    GTEST_SKIP() << "2^20 keys of one type are enough";
  const std::size_t many = std::size_t{1} << 20;
  for (const std::size_t size : {1U, 9U, 20000U})
    this->check(this->some(size, 0), this->some(many, 0));
  this->check(this->some(20000, 300), this->some(many, 310));
  // Those that ascend are merged on a GPU, as far as they do.
  auto wanted = this->some(many, 0);
  std::sort(wanted.begin(), wanted.end(), key_less{});
  this->check(this->some(many, 0), wanted);
  this->check(this->some(many, 300), wanted);
  std::copy_n(wanted.begin(), many / 3, wanted.begin() + many / 2);
  this->check(this->some(many, 0), wanted);
}

TYPED_TEST(search_in_sorted, every_second_cell) {
  using key = TypeParam;
  auto cells = this->some(2000, 0);
  std::sort(cells.begin(), cells.end(), key_less{});
  std::vector<key> apart;
  for (const key& cell : cells) {
    apart.push_back(cell);
    apart.push_back(dense_key<key>(1));
  }
  const auto wanted = this->some(500, 0);
  const auto placed = this->at().upload(apart);
  const auto asked = this->at().upload(wanted);
  column sorted{format_of<key>, placed.data(), cells.size()};
  sorted.stride = 2 * sizeof(key);
  this->check(sorted, cells, column(asked), wanted);
}

class search_in_column : public backend_test {};

TEST_F(search_in_column, missing_keys_have_no_place) {
  const auto sorted = at().upload(std::vector<std::uint32_t>{1, 3, 5});
  const auto wanted = at().upload(std::vector<std::uint32_t>{0, 9, 4, 3});
  const auto bits = at().upload(std::vector<std::uint8_t>{0b1101});
  buffer<std::uint64_t> out(at(), 4);
  search_sorted(tested_backend(), at(), column(sorted), column(wanted, bits.data()),
                search_side::left, out);
  EXPECT_EQ(at().download(out), (std::vector<std::uint64_t>{0, ~std::uint64_t{0}, 2, 1}));
}

}  // namespace
}  // namespace raydex::test
