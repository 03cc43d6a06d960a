// SPDX-License-Identifier: Apache-2.0
// Tables with open addressing that are full, and the memory they hold.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lookups/hash_tables/tables.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

class hash_open_table : public test::hash_table_test {};

// Hashes that all have the same home push each other through the table.
TEST_F(hash_open_table, keys_that_want_the_same_bucket) {
  const std::uint32_t count = test::small_scale() || test::tested_by_emulation() ? 200 : 3000;
  const auto all = of_one_home(2 * count);
  const std::vector<std::uint32_t> keys(all.begin(), all.begin() + count);
  for (const char* placement : {"linear", "jumps", "choices"}) {
    SCOPED_TRACE(placement);
    expect_answers_of(keys, *build("hash_open", keys, {{"load", "95"}, {"placement", placement}}),
                      all);
  }
}

TEST_F(hash_open_table, holds_buckets_for_its_load) {
  for (const unsigned load : {10U, 50U, 80U, 95U}) {
    const auto built = build("hash_open", numbers(0, 10'000), {{"load", std::to_string(load)}});
    const auto bytes = static_cast<double>(built->info().resident_bytes);
    const double wanted = 8. * 10'000 * 100 / load;
    EXPECT_GE(bytes, wanted);
    EXPECT_LE(bytes, 1.02 * wanted + 1000);
  }
}

}  // namespace
}  // namespace raydex
