// SPDX-License-Identifier: Apache-2.0
// Which types of Arrow are columns, and what is said of the others and of damaged arrays.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/arrow/arrays.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

// Room for two cells of any type.
alignas(8) constexpr std::array<std::uint8_t, 64> cells{};

TEST(arrow_types, of_numbers_and_times_are_keys) {
  const std::vector<std::pair<const char*, std::string>> all{
      {"i", "int32"},    {"I", "uint32"},   {"l", "int64"},       {"L", "uint64"},
      {"f", "float"},    {"g", "double"},   {"tdD", "int32"},     {"tdm", "int64"},
      {"tts", "int32"},  {"ttm", "int32"},  {"ttu", "int64"},     {"ttn", "int64"},
      {"tss:", "int64"}, {"tsm:", "int64"}, {"tsn:UTC", "int64"}, {"tDs", "int64"},
      {"tDn", "int64"},  {"w:1", "bytes1"}, {"w:8", "bytes8"}};
  for (const auto& [format, name] : all) {
    const made_array array(format, 2, {nullptr, cells.data()}, 1);
    const column made = column_of(array.array, array.schema);
    EXPECT_EQ(to_string(made.format), name) << format;
    EXPECT_EQ(made.data, cells.data() + made.format.width) << format;
    EXPECT_EQ(made.validity, nullptr) << format;
    EXPECT_TRUE(std::holds_alternative<column>(key_part_of(array.array, array.schema))) << format;
  }
  for (const char* const format : {"u", "U", "z", "Z"}) {
    const made_array array(format, 2, {nullptr, cells.data(), cells.data()});
    const key_part part = key_part_of(array.array, array.schema);
    EXPECT_EQ(std::get<string_column>(part).size, 2) << format;
  }
}

TEST(arrow_types, that_are_no_keys_are_refused_with_advice) {
  const std::vector<std::pair<const char*, std::string>> all{
      {"+s", "is a struct; give its columns"},
      {"+l", "is nested"},
      {"+w:4", "is nested"},
      {"+us:0,1", "is nested"},
      {"+r", "is nested"},
      {"+vl", "is nested"},
      {"n", "has no cells"},
      {"b", "cast it to int32"},
      {"c", "cast it to int32"},
      {"S", "cast it to uint32"},
      {"e", "cast it to float"},
      {"vu", "cast it to large_utf8"},
      {"w:9", "cast it to binary"},
      {"w:0", "cast it to binary"},
      {"w:x", "is no key; keys are"},
      {"w:8x", "is no key; keys are"},
      {"d:10,2", "is no key; keys are"},
      {"tiM", "is no key; keys are"},
      {"", "is no key; keys are"},
      {"no such type", "is no key; keys are"}};
  for (const auto& [format, advice] : all) {
    const made_array array(format, 2, {nullptr, cells.data()});
    for (const bool as_part : {false, true}) {
      expect_error<invalid_argument>(
          [&] {
            if (as_part) {
              key_part_of(array.array, array.schema);
            } else {
              column_of(array.array, array.schema);
            }
          },
          {"array", quoted(format), advice});
    }
  }
}

TEST(arrow_layouts, that_are_damaged_are_refused) {
  const auto refused = [](const made_array& array, const char* word) {
    expect_error<invalid_argument>([&] { key_part_of(array.array, array.schema); }, {word});
  };
  refused(made_array("i", -1, {nullptr, cells.data()}), "a length or an offset that is none");
  refused(made_array("i", 1, {nullptr, cells.data()}, -1), "a length or an offset that is none");
  refused(made_array("i", 1, {nullptr, cells.data()}, std::int64_t{1} << 60), "that is none");
  refused(made_array("i", 1, {nullptr}), "too few buffers");
  refused(made_array("i", 1, {nullptr, nullptr}), "has no cells");
  refused(made_array("u", 1, {nullptr, cells.data()}), "too few buffers");
  refused(made_array("u", 1, {nullptr, nullptr, cells.data()}), "has no cells");
  made_array array("i", 1, {nullptr, cells.data()});
  ArrowSchema values{};
  array.schema.dictionary = &values;
  refused(array, "dictionary-encoded; cast it");
  array.schema.dictionary = nullptr;
  array.array.release = nullptr;
  refused(array, "array: it was released");
  array.schema.release = nullptr;
  refused(array, "schema: it was released");
}

TEST(arrow_layouts, without_cells_need_no_buffer) {
  const made_array array("l", 0, {nullptr, nullptr}, 5);
  EXPECT_EQ(column_of(array.array, array.schema).data, nullptr);
  EXPECT_EQ(column_of(array.array, array.schema).size, 0);
}

TEST(arrow_layouts, whose_missing_cells_are_counted_as_none_have_no_bitmap) {
  made_array array("i", 2, {cells.data(), cells.data()}, 3);
  EXPECT_EQ(column_of(array.array, array.schema).validity.offset, 3);
  array.array.null_count = 0;
  EXPECT_EQ(column_of(array.array, array.schema).validity, nullptr);
}

}  // namespace
}  // namespace raydex::test
