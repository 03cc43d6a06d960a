// SPDX-License-Identifier: Apache-2.0
// Columns, uploads and outputs are made of whatever holds its elements side by side.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;

static_assert(std::is_constructible_v<column, std::span<int>>);
static_assert(!std::is_constructible_v<value_span, const std::vector<float>&>);
static_assert(!std::is_convertible_v<std::vector<std::int32_t>&, row_id_span>);

// The type of a column of T.
template <class T>
key_type type_of() {
  std::vector<T> cells(1);
  return column(cells).format.type;
}

TEST(containers, columns_are_made_of_them) {
  std::vector<std::int32_t> cells{5, 3, 4};
  const auto expect_cells = [&](const column& made) {
    EXPECT_EQ(made.data, cells.data());
    EXPECT_EQ(made.size, cells.size());
    EXPECT_EQ(made.format, format_of<std::int32_t>);
  };
  expect_cells(column(cells));
  expect_cells(column(std::as_const(cells)));
  expect_cells(column(std::span(cells)));
  expect_cells(column(std::span<const std::int32_t>(cells)));
  const std::array<std::array<char, 3>, 2> names{{{'a', 'b', 'c'}, {'d', 'e', 'f'}}};
  EXPECT_EQ(column(names).format, key_format::bytes(3));
  const std::uint8_t valid = 5;
  EXPECT_EQ(column(cells, &valid).validity.bits, &valid);
  EXPECT_EQ(column(cells, {&valid, 3}).validity.offset, 3);
}

TEST(containers, integers_count_by_their_width) {
  EXPECT_EQ(type_of<int>(), key_type::int32);
  EXPECT_EQ(type_of<unsigned>(), key_type::uint32);
  EXPECT_EQ(type_of<long>(), key_type::int64);
  EXPECT_EQ(type_of<long long>(), key_type::int64);
  EXPECT_EQ(type_of<unsigned long>(), key_type::uint64);
  EXPECT_EQ(type_of<unsigned long long>(), key_type::uint64);
}

TEST(containers, uploads_are_ranges_themselves) {
  const session cpu(backend::cpu);
  std::vector<long long> host{7, 8, 9};
  auto copy = cpu.upload(std::span(host));  // of what may be written
  static_assert(std::is_same_v<decltype(copy), buffer<long long>>);
  EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), 0LL), 24);
  copy[1] = 1;
  const buffer<long long>& constant = copy;
  EXPECT_EQ(constant[1], 1);
  EXPECT_EQ(std::span<const long long>(constant).back(), 9);
  EXPECT_EQ(cpu.download(cpu.upload(std::array{1.5, 2.5})), (std::vector{1.5, 2.5}));
}

TEST(containers, answers_go_to_buffers) {
  const session cpu(backend::cpu);
  const std::vector<long long> keys{30, 10, 20, 10};
  const auto built = build("auto", backend::cpu, cpu, column(keys));
  buffer<std::uint32_t> first(cpu, keys.size());
  buffer<std::uint64_t> counts(cpu, keys.size());
  built->first(cpu, points(column(keys)), first);
  built->count(cpu, points(column(keys)), counts);
  EXPECT_EQ(cpu.download(first), (std::vector<std::uint32_t>{0, 1, 2, 1}));
  EXPECT_EQ(cpu.download(counts), (std::vector<std::uint64_t>{1, 2, 1, 2}));
}

TEST(containers, matches_are_numbers_of_their_type) {
  const session cpu(backend::cpu);
  const std::vector<int> keys{30, 10, 20, 10};
  const std::vector<std::uint64_t> wide_rows{4, 3, 2, 1};
  const std::vector<int> wanted{10};
  const auto narrow =
      build("auto", backend::cpu, cpu, column(keys))->rows(cpu, points(column(wanted)));
  const auto wide = build("auto", backend::cpu, cpu, column(keys), column(wide_rows))
                        ->rows(cpu, points(column(wanted)));
  const auto narrow_ids = narrow.rows_as<std::uint32_t>();
  EXPECT_EQ(std::vector(narrow_ids.begin(), narrow_ids.end()), (std::vector<std::uint32_t>{1, 3}));
  const auto wide_ids = wide.rows_as<std::uint64_t>();
  EXPECT_EQ(std::vector(wide_ids.begin(), wide_ids.end()), (std::vector<std::uint64_t>{1, 3}));
  expect_error<invalid_argument>([&] { narrow.rows_as<std::uint64_t>(); }, {"are uint32"});
  expect_error<invalid_argument>([&] { wide.rows_as<std::uint32_t>(); }, {"are uint64"});
}

}  // namespace
}  // namespace raydex
