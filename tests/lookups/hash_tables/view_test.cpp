// SPDX-License-Identifier: Apache-2.0
// The view that users look keys up with from their own code, on the CPU.
#include <gtest/gtest.h>

#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/host_view.hpp"

namespace raydex {
namespace {

// Asks a view of `test::keys_to_ask`.
template <class View>
void check_repeated_keys(const View& view) {
  EXPECT_EQ(view.size(), 6);
  EXPECT_EQ(view.find(encode(2.5F)), 0);
  EXPECT_EQ(view.find(encode(-0.0F)), 5);
  EXPECT_EQ(view.find(encode(3.0F)), not_found<std::uint32_t>);
  EXPECT_EQ(view.count(encode(2.5F)), 3);
  EXPECT_EQ(view.count(encode(3.0F)), 0);
  std::vector<std::uint32_t> rows;
  view.for_each(encode(2.5F), [&](std::uint32_t row) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{0, 2, 4}));
}

TEST(hash_table_view, repeated_keys) {
  const session cpu(backend::cpu);
  const column keys(std::span<const float>(test::keys_to_ask));
  const auto open = build_hash_open(backend::cpu, cpu, keys);
  check_repeated_keys(open->view<encoded_t<float>, std::uint32_t>());
  const auto bucket = build_hash_bucket(backend::cpu, cpu, keys);
  check_repeated_keys(bucket->view<encoded_t<float>, std::uint32_t>());
}

TEST(hash_table_view, must_have_the_types_of_the_index) {
  const session cpu(backend::cpu);
  const std::vector<std::uint32_t> keys{1, 2, 3};
  const auto open = build_hash_open(backend::cpu, cpu, column(keys));
  EXPECT_EQ((open->view<std::uint32_t, std::uint32_t>().find(2)), 1);
  EXPECT_THROW((open->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((open->view<std::uint32_t, std::uint64_t>()), invalid_argument);
  EXPECT_THROW((open->view<std::uint32_t, std::uint32_t, 128>()), invalid_argument);
  const auto bucket = build_hash_bucket(backend::cpu, cpu, column(keys));
  EXPECT_EQ((bucket->view<std::uint32_t, std::uint32_t>().find(2)), 1);
  EXPECT_THROW((bucket->view<std::uint64_t, std::uint32_t>()), invalid_argument);
  EXPECT_THROW((bucket->view<std::uint32_t, std::uint64_t>()), invalid_argument);
}

}  // namespace
}  // namespace raydex
