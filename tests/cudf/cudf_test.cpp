// SPDX-License-Identifier: Apache-2.0
// Tables of cuDF are joined where they lie, and rows are its gather maps. The classes of cuDF are
// those of stand_in, over the memory of the tested backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raydex/cudf.hpp"
#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

using cudf::type_id;
using rows = std::vector<cudf::size_type>;
using row_pairs = std::vector<std::pair<cudf::size_type, cudf::size_type>>;
constexpr cudf::size_type none = std::numeric_limits<cudf::size_type>::min();
constexpr auto unequal = cudf::null_equality::UNEQUAL;

class of_cudf : public backend_test {
 protected:
  void SetUp() override {
    backend_test::SetUp();
    const context on = at();
    held_.emplace(on.memory);
    cudf::current_device_resource = &*held_;
  }
  void TearDown() override {
    if (held_) {
      EXPECT_EQ(held_->current(), 0) << "memory that nobody freed";
    }
  }

  // What cuDF's current resource gave.
  const tracking_resource& held() const { return *held_; }

  // Cells in the backend's memory, which lie there until the test ends.
  template <class T>
  const T* lie(const std::vector<T>& cells) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(cells.data());
    all_.push_back(at().upload(std::vector<std::byte>(bytes, bytes + sizeof(T) * cells.size())));
    return reinterpret_cast<const T*>(all_.back().data());
  }
  // All cells from number `offset` on, with the nulls of a mask.
  template <class T>
  cudf::column_view cells(type_id type, const std::vector<T>& all, std::uint32_t there = ~0U,
                          cudf::size_type offset = 0, std::int32_t scale = 0) {
    const auto size = static_cast<cudf::size_type>(all.size()) - offset;
    const bool has_nulls = there != ~0U;
    return {cudf::data_type(type, scale),
            size,
            lie(all),
            has_nulls ? lie(std::vector<cudf::bitmask_type>{there}) : nullptr,
            has_nulls ? 1 : 0,
            offset};
  }
  template <class Offset>
  cudf::column_view strings(type_id offset_type, const std::string& text,
                            const std::vector<Offset>& ends, cudf::size_type offset = 0) {
    const auto size = static_cast<cudf::size_type>(ends.size()) - 1 - offset;
    return {cudf::data_type(type_id::STRING),
            size,
            lie(std::vector<char>(text.begin(), text.end())),
            nullptr,
            0,
            offset,
            {cells(offset_type, ends)}};
  }

  rows read(rmm::device_uvector<cudf::size_type>& map) const {
    rows on_host(map.size());
    at().copy_out(on_host.data(), map.data(), sizeof(cudf::size_type) * map.size());
    return on_host;
  }
  // Rows of a join, in order.
  row_pairs read(const cudf_gather_maps& maps) const {
    const rows left = read(*maps.first);
    const rows right = maps.second ? read(*maps.second) : rows(left.size(), none);
    EXPECT_EQ(left.size(), right.size());
    row_pairs pairs;
    for (std::size_t i = 0; i < left.size(); ++i)
      pairs.emplace_back(left[i], right[i]);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  std::optional<tracking_resource> held_;
  std::vector<buffer<std::byte>> all_;
};

TEST_F(of_cudf, tables_are_joined) {
  const cudf::table_view left({cells(type_id::INT32, std::vector<std::int32_t>{5, 7, 9, 7})});
  const cudf::table_view right({cells(type_id::INT32, std::vector<std::int32_t>{7, 3, 5})});
  const auto found = [&](join_kind kind) { return read(join_tables(left, right, kind)); };
  EXPECT_EQ(read(join_tables(left, right)), (row_pairs{{0, 2}, {1, 0}, {3, 0}}));
  EXPECT_EQ(found(join_kind::left), (row_pairs{{0, 2}, {1, 0}, {2, none}, {3, 0}}));
  EXPECT_EQ(found(join_kind::right), (row_pairs{{none, 1}, {0, 2}, {1, 0}, {3, 0}}));
  EXPECT_EQ(found(join_kind::full), (row_pairs{{none, 1}, {0, 2}, {1, 0}, {2, none}, {3, 0}}));
  EXPECT_EQ(found(join_kind::semi), (row_pairs{{0, none}, {1, none}, {3, none}}));
  EXPECT_EQ(found(join_kind::anti), (row_pairs{{2, none}}));
  EXPECT_EQ(join_tables(left, right, join_kind::semi).second, nullptr);
  EXPECT_GT(held().peak(), 0);
}

TEST_F(of_cudf, tables_of_no_rows_are_joined) {
  const cudf::table_view some({cells(type_id::INT64, std::vector<std::int64_t>{5, 7})});
  const cudf::table_view no_rows({{cudf::data_type(type_id::INT64), 0, nullptr, nullptr, 0}});
  EXPECT_EQ(read(join_tables(some, no_rows, join_kind::left)), (row_pairs{{0, none}, {1, none}}));
  EXPECT_EQ(read(join_tables(no_rows, some, join_kind::full)), (row_pairs{{none, 0}, {none, 1}}));
  const cudf::table_view no_texts({{cudf::data_type(type_id::STRING), 0, nullptr, nullptr, 0}});
  EXPECT_EQ(read(join_tables(no_texts, no_texts)), row_pairs{});
}

TEST_F(of_cudf, nulls_of_slices_are_equal_or_not) {
  // Rows: null, 5, null and 5, null
  const cudf::table_view left(
      {cells(type_id::INT32, std::vector<std::int32_t>{5, 5, 1, 5, 2}, 0b01011U, 2)});
  const cudf::table_view right(
      {cells(type_id::INT32, std::vector<std::int32_t>{8, 5, 3}, 0b011U, 1)});
  EXPECT_EQ(read(join_tables(left, right)), (row_pairs{{0, 1}, {1, 0}, {2, 1}}));
  EXPECT_EQ(read(join_tables(left, right, join_kind::inner, unequal)), (row_pairs{{1, 0}}));
  EXPECT_EQ(read(join_tables(left, right, join_kind::anti, unequal)),
            (row_pairs{{0, none}, {2, none}}));
}

TEST_F(of_cudf, strings_are_keys) {
  const cudf::table_view left(
      {strings<std::int32_t>(type_id::INT32, "xxaabbbc", {0, 2, 4, 7, 7, 8}, 1)});  // aa bbb "" c
  const cudf::table_view right(
      {strings<std::int64_t>(type_id::INT64, "xxaabbbc", {0, 2, 2, 4, 7, 8})});  // xx "" aa bbb c
  EXPECT_EQ(read(join_tables(left, right)), (row_pairs{{0, 2}, {1, 3}, {2, 1}, {3, 4}}));
}

TEST_F(of_cudf, keys_have_several_columns_of_any_width) {
  const auto table = [&](const std::vector<std::int8_t>& a, const std::vector<std::int16_t>& b,
                         const std::vector<std::uint8_t>& c, const std::vector<double>& d) {
    return cudf::table_view({cells(type_id::INT8, a, ~0U, 1), cells(type_id::INT16, b, ~0U, 1),
                             cells(type_id::BOOL8, c, ~0U, 1), cells(type_id::FLOAT64, d, ~0U, 1)});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto left = table({0, -1, 2, 0}, {0, -300, 4, 0}, {0, 1, 0, 1}, {0, -0.0, nan, 1});
  const auto right = table({9, 2, -1, -1}, {9, 4, -300, -300}, {9, 0, 1, 0}, {9, nan, 0.0, 0});
  EXPECT_EQ(read(join_tables(left, right)), (row_pairs{{0, 1}, {1, 0}}));
}

TEST_F(of_cudf, columns_are_where_they_lie) {
  const std::vector<std::pair<type_id, const char*>> all{{type_id::INT8, "bytes1"},
                                                         {type_id::UINT16, "bytes2"},
                                                         {type_id::UINT32, "uint32"},
                                                         {type_id::UINT64, "uint64"},
                                                         {type_id::FLOAT32, "float"},
                                                         {type_id::TIMESTAMP_DAYS, "int32"},
                                                         {type_id::TIMESTAMP_NANOSECONDS, "int64"},
                                                         {type_id::DURATION_DAYS, "int32"},
                                                         {type_id::DURATION_SECONDS, "int64"},
                                                         {type_id::DECIMAL32, "int32"},
                                                         {type_id::DECIMAL64, "int64"}};
  for (const auto& [type, name] : all) {
    const cudf::column_view view = cells(type, std::vector<std::uint64_t>{1, 2, 3, 4}, 0b1101U, 1);
    const column made = column_of(view);
    EXPECT_EQ(to_string(made.format), name);
    EXPECT_EQ(made.data, static_cast<const std::byte*>(view.head()) + made.format.width);
    EXPECT_EQ(made.size, 3);
    EXPECT_EQ(made.validity.bits, reinterpret_cast<const std::uint8_t*>(view.null_mask()));
    EXPECT_EQ(made.validity.offset, 1);
  }
  EXPECT_EQ(column_of(cells(type_id::INT32, std::vector<std::int32_t>{1})).validity, nullptr);
}

TEST_F(of_cudf, closest_times_are_found) {
  const auto times = [&](const std::vector<std::int64_t>& all, std::uint32_t there = ~0U) {
    return cells(type_id::TIMESTAMP_MICROSECONDS, all, there);
  };
  const cudf::column_view left = times({10, 20, 5, 30}, 0b0111U);
  const cudf::column_view right = times({19, 4, 9, 12});
  EXPECT_EQ(read(*asof_join_tables(left, right)), (rows{2, 0, 1, none}));
  const cudf::table_view left_by({cells(type_id::INT8, std::vector<std::int8_t>{1, 2, 2, 1})});
  const cudf::table_view right_by({cells(type_id::INT8, std::vector<std::int8_t>{1, 2, 1, 2})});
  EXPECT_EQ(read(*asof_join_tables(left, right, left_by, right_by)), (rows{2, 3, 1, none}));
  EXPECT_EQ(read(*asof_join_tables(left, right, {}, {}, {.tolerance = 1, .neighbours = 2})),
            (rows{2, none, 0, none, 1, none, none, none}));
  const cudf::table_view no_key({cells(type_id::INT8, std::vector<std::int8_t>{1, 1, 1, 1}, 0U)});
  EXPECT_EQ(read(*asof_join_tables(left, right, no_key, no_key)), (rows{2, 0, 1, none}));
  EXPECT_EQ(read(*asof_join_tables(left, right, no_key, no_key, {}, unequal)),
            (rows{none, none, none, none}));
}

TEST_F(of_cudf, tables_are_joined_more_than_once) {
  const cudf::table_view right({cells(type_id::INT32, std::vector<std::int32_t>{7, 3, 5})});
  const cudf::table_view left({cells(type_id::INT32, std::vector<std::int32_t>{5, 4})});
  const context on = at();
  const auto join = build_join(backend::cuda, on, key_parts_of(right));
  const auto found = join->match(on, key_parts_of(left), join_kind::left);
  EXPECT_EQ(read(to_gather_maps(*found)), (row_pairs{{0, 2}, {1, none}}));
}

TEST_F(of_cudf, other_types_are_refused) {
  const std::vector<std::pair<type_id, std::string>> all{
      {type_id::DICTIONARY32, "give cudf::dictionary::decode"},
      {type_id::DECIMAL128, "cast them to DECIMAL64"},
      {type_id::STRUCT, "give their children"},
      {type_id::LIST, "cells of cudf::type_id 24 are no keys"},
      {type_id::EMPTY, "cells of cudf::type_id 0 are no keys"}};
  for (const auto& [type, advice] : all) {
    const cudf::column_view view = cells(type, std::vector<std::int64_t>{1});
    expect_error<invalid_argument>([&] { key_part_of(view); }, {advice});
  }
  const cudf::column_view text = strings<std::int32_t>(type_id::INT32, "a", {0, 1});
  expect_error<invalid_argument>([&] { column_of(text); }, {"strings, which are keys of joins"});
}

TEST_F(of_cudf, types_of_both_sides_are_the_same) {
  const auto table = [&](type_id type, std::int32_t scale = 0) {
    const std::vector<std::int64_t> one{1};
    return cudf::table_view({cells(type, one), cells(type, one, ~0U, 0, scale)});
  };
  const std::vector<std::pair<cudf::table_view, cudf::table_view>> all{
      {table(type_id::TIMESTAMP_SECONDS), table(type_id::TIMESTAMP_NANOSECONDS)},
      {table(type_id::INT64), table(type_id::DURATION_SECONDS)},
      {table(type_id::DECIMAL64, -2), table(type_id::DECIMAL64, -3)}};
  for (const auto& [left, right] : all) {
    expect_error<invalid_argument>([&, &a = left, &b = right] { join_tables(a, b); },
                                   {"right: the type of column", "cast one with cudf::cast"});
  }
  const cudf::table_view one({all[0].first.column(0)});
  expect_error<invalid_argument>([&] { join_tables(all[0].first, one); },
                                 {"right: it has 1 columns, but left 2"});
  expect_error<invalid_argument>([&] { asof_join_tables(one.column(0), all[0].second.column(0)); },
                                 {"right: the type of"});
  EXPECT_THROW(join_tables(cudf::table_view(), cudf::table_view()), invalid_argument);
}

}  // namespace
}  // namespace raydex::test
