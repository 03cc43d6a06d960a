// SPDX-License-Identifier: Apache-2.0
// Impossible measurements are refused.
#include "raydex/speed_table.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/choice/offers.hpp"

namespace raydex {
namespace {

TEST(speed_table, keeps_rows_in_order) {
  speed_table table;
  table.add(test::row("a", 10, 1));
  table.add(test::row("b", 5, 2));
  ASSERT_EQ(table.rows().size(), 2);
  EXPECT_EQ(table.rows()[0].structure, "a");
  EXPECT_EQ(table.rows()[1].n, 5);
}

TEST(speed_table, refuses_what_cannot_be_measured) {
  using refused_row = std::pair<const char*, std::function<void(measured_speed&)>>;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<refused_row> cases{
      {"structure", [](measured_speed& row) { row.structure.clear(); }},
      {"key bits", [](measured_speed& row) { row.key_bits = 16; }},
      {"n: 0", [](measured_speed& row) { row.n = 0; }},
      {"lookups per second", [](measured_speed& row) { row.lookups_per_s = 0; }},
      {"lookups per second", [](measured_speed& row) { row.lookups_per_s = infinity; }},
      {"bytes per key", [](measured_speed& row) { row.bytes_per_key = -1; }},
      {"bytes per key", [](measured_speed& row) { row.bytes_per_key = infinity - infinity; }},
      {"one device", [](measured_speed& row) { row.device = "another"; }},
  };
  speed_table table;
  table.add(test::row("a", 10, 1));
  for (const auto& [word, spoil] : cases) {
    measured_speed row = test::row("b", 10, 1);
    spoil(row);
    test::expect_error<invalid_argument>([&] { table.add(row); }, {word});
  }
  EXPECT_EQ(table.rows().size(), 1);
}

TEST(speed_table, is_about_one_device_for_each_backend) {
  speed_table table;
  table.add(test::row("a", 10, 1));
  measured_speed row = test::row("a", 10, 1);
  row.where = backend::cuda;
  row.device = "another";
  EXPECT_NO_THROW(table.add(row));
}

}  // namespace
}  // namespace raydex
