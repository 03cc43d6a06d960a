// SPDX-License-Identifier: Apache-2.0
// All answers are those of std:: algorithms, on the backend that the program is built for.
#include "tests/adding_a_structure/sampled_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/host_view.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

template <class Key>
using entry = std::pair<Key, std::uint64_t>;  // a key and its row

// What ranges match among ascending entries.
template <class Key>
test::answers expected(const std::vector<entry<Key>>& sorted, const std::vector<Key>& lower,
                       const std::vector<Key>& upper) {
  test::answers all;
  all.offsets = {0};
  for (std::size_t i = 0; i < lower.size(); ++i) {
    std::uint64_t first = not_found<std::uint32_t>;
    std::uint64_t sum = 0;
    auto at = std::lower_bound(sorted.begin(), sorted.end(), entry<Key>(lower[i], 0));
    for (; at != sorted.end() && at->first <= upper[i]; ++at) {
      first = std::min(first, at->second);
      sum += at->second;
      all.rows.push_back(at->second);
    }
    all.first.push_back(first);
    all.sums.push_back(sum);
    all.counts.push_back(all.rows.size() - all.offsets.back());
    all.offsets.push_back(all.rows.size());
  }
  return all;
}

template <class Key>
class sampled_array_of : public test::backend_test {
 protected:
  static constexpr Key largest = std::numeric_limits<Key>::max();

  // Asks for all keys, those beside them, and the ranges between any of these. `validity` is a
  // bitmap, or empty where no key is missing.
  void check(const std::vector<Key>& keys, unsigned sample,
             const std::vector<std::uint8_t>& validity = {}) const {
    std::vector<entry<Key>> sorted;
    std::vector<Key> lower{0, 0, largest, largest};
    std::vector<Key> upper{0, largest, 0, largest};
    for (std::size_t row = 0; row < keys.size(); ++row) {
      if (validity.empty() || (validity[row / 8] >> row % 8 & 1) != 0)
        sorted.emplace_back(keys[row], row);
      for (const int beside : {-1, 0, 1}) {
        lower.push_back(keys[row] + static_cast<Key>(beside));
        upper.push_back(keys[test::below(random_, keys.size())]);
      }
    }
    std::sort(sorted.begin(), sorted.end());

    const auto cells = at().upload(keys);
    const auto bits = at().upload(validity);
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    const auto built = build_sampled_array(
        at().where(), at(), column(cells, validity.empty() ? nullptr : bits.data()), {}, {sample});
    EXPECT_EQ(built->info().entries, sorted.size());
    EXPECT_EQ(built->info().resident_bytes,
              sorted.size() * (sizeof(Key) + 4) + sorted.size() / sample * sizeof(Key));
    EXPECT_EQ(test::ask(at(), *built, points(column(lower_cells))), expected(sorted, lower, lower));
    EXPECT_EQ(test::ask(at(), *built, ranges(column(lower_cells), column(upper_cells))),
              expected(sorted, lower, upper));
  }

  // Some keys are equal, and some numbers between them are none.
  std::vector<Key> some_keys(std::size_t size) const {
    std::vector<Key> keys(size);
    for (Key& key : keys)
      key = static_cast<Key>(test::below(random_, 2 * size));
    return keys;
  }

 private:
  mutable std::mt19937_64 random_ = test::generator();
};

using key_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(sampled_array_of, key_types);

TYPED_TEST(sampled_array_of, blocks_that_are_full_or_not) {
  for (const unsigned sample : {2u, 7u, 64u}) {
    for (const unsigned size : {0u, 1u, sample - 1, sample, sample + 1, 3 * sample, 3 * sample + 1})
      this->check(this->some_keys(size), sample);
  }
  this->check(this->some_keys(5000), 64);
}

TYPED_TEST(sampled_array_of, equal_keys) {
  for (const TypeParam key : {TypeParam{0}, TypeParam{7}, this->largest})
    this->check(std::vector<TypeParam>(150, key), 64);
}

TYPED_TEST(sampled_array_of, missing_keys) {
  this->check(this->some_keys(160), 8, std::vector<std::uint8_t>(20, 0b1011'0110));
  this->check(this->some_keys(160), 8, std::vector<std::uint8_t>(20, 0));
}

TEST(sampled_array, has_a_view_for_users) {
  const session cpu(backend::cpu);
  const column keys{std::span<const float>(test::keys_to_ask)};
  const auto built = build_sampled_array(backend::cpu, cpu, keys, {}, {2});
  test::check_host_view(built->view<encoded_t<float>, std::uint32_t>());
  EXPECT_THROW((built->view<std::uint64_t, std::uint32_t>()), invalid_argument);
}

TEST(sampled_array, has_an_option) {
  const session cpu(backend::cpu);
  const column keys{std::span<const float>(test::keys_to_ask)};
  EXPECT_EQ(build_sampled_array(backend::cpu, cpu, keys)->info().options, "sample=64");
  test::expect_error<invalid_argument>(
      [&] { build_sampled_array(backend::cpu, cpu, keys, {}, {1}); }, {"sample", "2 to 4096"});
}

}  // namespace
}  // namespace raydex
