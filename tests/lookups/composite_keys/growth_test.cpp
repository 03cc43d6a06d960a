// SPDX-License-Identifier: Apache-2.0
// Composite keys that take rows of any values, on a CPU: the room that they leave, and what they
// refuse. What they answer then is tested with other keys.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

class composite_growth : public testing::Test {
 protected:
  const session at_{backend::cpu};
  const std::vector<std::int32_t> signed_{1, 2, 3};
  const std::vector<std::uint32_t> unsigned_{1, 2, 3};
  const std::vector<std::int32_t> few_{1, 2};
};

// One row of a day each: the codes have room for as many days as there were, each time.
TEST_F(composite_growth, gives_room_to_columns_that_grow) {
  const std::vector<std::int32_t> shops{3, 9};
  const std::vector<std::uint32_t> days{100, 101};
  packed_keys packed;
  composite_keys keys(backend::cpu, at_, {column(shops), column(days)}, &packed);
  auto over = build("sorted_array", backend::cpu, at_, packed.view());
  unsigned grown = 0;
  for (std::uint32_t day = 102; day < 1102; ++day) {
    const std::vector<std::int32_t> shop{5};
    const std::vector<std::uint32_t> next{day};
    const std::vector<std::uint32_t> row{day - 100};
    const key_parts key{column(shop), column(next)};
    if (keys.holds(at_, key)) {
      over->edit(nullptr, {.insert = keys.pack_rows(at_, key).view(), .insert_rows = column(row)});
    } else {
      grown_index made = keys.grown(at_, *over, key, column(row));
      keys = std::move(made.keys);
      over = std::move(made.over);
      ++grown;
    }
  }
  EXPECT_EQ(over->info().entries, 1002U);
  EXPECT_EQ(grown, 9U);
  EXPECT_EQ(keys.parts()[0].first, encode(3));
  EXPECT_EQ(keys.parts()[0].last, encode(9));
}

// Rows of 64 bits that are the places of their keys are of 64 bits afterwards.
TEST_F(composite_growth, keeps_row_ids_of_64_bits) {
  const std::vector<std::uint64_t> rows{0, 1, 2};
  packed_keys packed;
  const composite_keys keys(backend::cpu, at_, {column(signed_)}, &packed);
  const auto over = build("btree", backend::cpu, at_, packed.view(), column(rows));
  const std::vector<std::int32_t> more{1000};
  const std::vector<std::uint64_t> behind{3};
  const grown_index made = keys.grown(at_, *over, key_parts{column(more)}, column(behind));
  EXPECT_EQ(made.over->info().row_ids, row_id_type::uint64);
  EXPECT_EQ(made.over->info().entries, 4U);
}

TEST_F(composite_growth, refuses_other_rows) {
  packed_keys packed;
  const composite_keys keys(backend::cpu, at_, {column(signed_), column(unsigned_)}, &packed);
  const auto over = build("btree", backend::cpu, at_, packed.view());
  const auto other = build("btree", backend::cpu, at_, column(signed_));
  const column rows(unsigned_);
  const key_parts more{column(signed_), column(unsigned_)};
  const std::vector<std::uint64_t> wide(3);
  expect_error<invalid_argument>([&] { keys.grown(at_, *other, more, rows); },
                                 {"over: its keys are int32", "uint32"});
  expect_error<invalid_argument>([&] { keys.grown(at_, *over, key_parts{more[0]}, rows); },
                                 {"columns: 1", "2"});
  expect_error<invalid_argument>(
      [&] {
        keys.grown(at_, *over, key_parts{more[1], more[1]}, rows);
      },
      {"columns: column 1 is uint32", "int32"});
  expect_error<invalid_argument>([&] { keys.grown(at_, *over, more, column(wide)); },
                                 {"rows: they are uint64", "uint32"});
  expect_error<invalid_argument>([&] { keys.grown(at_, *over, more, column(few_)); }, {"rows"});
  EXPECT_EQ(over->info().entries, 3U);
}

// As of a file that somebody changed.
TEST_F(composite_growth, refuses_an_index_over_other_numbers) {
  const std::vector<char> letters{'l', 'o', 'n', 'g', ' ', 'w', 'o', 'r', 'd', 's'};
  const std::vector<std::uint32_t> offsets{0, 9, 10};
  const string_column words{letters.data(), offsets.data(), false, 2, {}};
  const std::vector<std::uint32_t> two{1, 2};
  const key_parts keys_of[] = {{column(two), column(two)}, {words, column(two)}, {words}};
  for (const key_parts& columns : keys_of) {
    std::vector<composite_column> described(columns.begin(), columns.end());
    const composite_keys keys(backend::cpu, at_, described);
    for (const std::uint32_t number : {64U, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
      const std::vector<std::uint32_t> numbers{0, number};
      const auto over = build("sorted_array", backend::cpu, at_, column(numbers));
      expect_error<invalid_argument>([&] { keys.grown(at_, *over, columns, column(two)); },
                                     {"over: some of its keys"});
    }
  }
}

}  // namespace
}  // namespace raydex::test
