// SPDX-License-Identifier: Apache-2.0
// Marks of what is in a column, of every key type, as std::set has them.
#include "raydex/is_in.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/session.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"
#include "tests/support/validity.hpp"

namespace raydex::test {
namespace {

template <class T>
class members : public backend_test {
 protected:
  std::vector<T> some(std::size_t size, unsigned few) {
    std::vector<T> keys(size);
    for (T& key : keys)
      key = few == 0 ? random_key<T>(random_) : dense_key<T>(below(random_, few));
    return keys;
  }

  // With `some_missing` every third test and every fourth element is missing.
  void check(const std::vector<T>& tests, const std::vector<T>& elements,
             bool some_missing = false) const {
    const session& at = this->at();
    const auto is_missing = [&](std::size_t i, std::size_t every) {
      return some_missing && i % every == 0;
    };
    const auto tests_there = at.upload(tests);
    const auto elements_there = at.upload(elements);
    const auto test_bits = at.upload(bits_without(tests.size(), 3));
    const auto element_bits = at.upload(bits_without(elements.size(), 4));
    column of_tests(tests_there);
    column of_elements(elements_there);
    if (some_missing) {
      of_tests.validity = test_bits.data();
      of_elements.validity = element_bits.data();
    }
    std::set<T, key_less> all;
    for (std::size_t i = 0; i < tests.size(); ++i)
      if (!is_missing(i, 3)) all.insert(tests[i]);
    buffer<std::uint8_t> out(at, elements.size());
    is_in(tested_backend(), at, of_tests, of_elements,
          {reinterpret_cast<bool*>(out.data()), out.size()});
    const auto found = at.download(out);
    for (std::size_t i = 0; i < elements.size(); ++i)
      ASSERT_EQ(found[i], !is_missing(i, 4) && all.contains(elements[i]) ? 1 : 0)
          << "element " << i;
  }

  std::mt19937_64 random_ = generator();
};

using key_types = testing::Types<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t, float,
                                 double, std::array<char, 3>, std::array<char, 8>>;
TYPED_TEST_SUITE(members, key_types);

TYPED_TEST(members, of_columns_of_any_size) {
  for (const std::size_t tests : {0U, 1U, 255U, 256U, 1025U, 20'000U})
    for (const std::size_t elements : {0U, 1U, 1024U, 1025U, 3000U})
      for (const unsigned few : {0U, 50U, 5000U}) {
        this->check(this->some(tests, few), this->some(elements, few));
        if (this->HasFatalFailure()) return;
      }
}

// On the cpu backend, elements that a filter tells to be in nothing are left out.
TYPED_TEST(members, of_few_elements) {
  for (const bool missing : {false, true}) {
    const auto tests = this->some(20'000, 0);
    auto elements = this->some(30'000, 0);
    std::copy_n(tests.begin(), 1000, elements.begin() + 10'000);
    this->check(tests, elements, missing);
  }
}

TYPED_TEST(members, of_equal_keys) {
  const auto keys = this->some(2, 2);
  this->check(std::vector(70'000, keys[0]), keys);
  this->check({keys[0]}, std::vector(3000, keys[0]));
}

TYPED_TEST(members, that_are_missing) {
  this->check(this->some(3000, 4000), this->some(3000, 4000), true);
  this->check(this->some(1, 1), this->some(5, 1), true);
}

class arguments_of_is_in : public backend_test {};

TEST_F(arguments_of_is_in, what_is_refused) {
  const auto narrow = at().upload(std::vector<std::uint32_t>{1, 2});
  const auto wide = at().upload(std::vector<std::uint64_t>{1, 2});
  buffer<std::uint8_t> out(at(), 3);
  const auto marks = [&](std::size_t size) {
    return std::span(reinterpret_cast<bool*>(out.data()), size);
  };
  expect_error<invalid_argument>(
      [&] { is_in(tested_backend(), at(), column(narrow), column(wide), marks(2)); },
      {"elements", "uint64", "uint32"});
  expect_error<invalid_argument>(
      [&] { is_in(tested_backend(), at(), column(narrow), column(narrow), marks(3)); },
      {"elements", "2", "3"});
}

}  // namespace
}  // namespace raydex::test
