// SPDX-License-Identifier: Apache-2.0
// Joins by keys of several columns and of strings find the rows that a map of texts has, however
// keys are compared; and the joins of whole tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/joins/tables.hpp"

namespace raydex::test {
namespace {

using int32s = cells_of<std::int32_t>;
using int64s = cells_of<std::int64_t>;
using uint64s = cells_of<std::uint64_t>;
using floats = cells_of<float>;
using doubles = cells_of<double>;
using strings = cells_of<std::string>;

// Columns of a key, and how it is compared.
struct key_shape {
  std::string name;
  table columns;
  key_comparison keys;
  key_comparison keys_if_missing_equal;

  friend void PrintTo(const key_shape& printed, std::ostream* to) { *to << printed.name; }
};

std::vector<key_shape> shapes() {
  constexpr key_comparison packed = key_comparison::packed;
  constexpr key_comparison hashed = key_comparison::hashed;
  return {{"int32", {int32s{}}, key_comparison::column, packed},
          {"uint64", {uint64s{}}, key_comparison::column, hashed},
          {"int32_int32", {int32s{}, int32s{}}, packed, hashed},
          {"bytes3_int32", {cells_of<bytes3>{}, int32s{}}, packed, packed},
          {"float_float", {floats{}, floats{}}, packed, hashed},
          {"bytes3_bytes3_bytes2",
           {cells_of<bytes3>{}, cells_of<bytes3>{}, cells_of<bytes2>{}},
           packed,
           hashed},
          {"six_bytes1", table(6, cells_of<bytes1>{}), packed, packed},
          {"int64_int64", {int64s{}, int64s{}}, hashed, hashed},
          {"double_float", {doubles{}, floats{}}, hashed, hashed},
          {"int32_float_int32", {int32s{}, floats{}, int32s{}}, hashed, hashed},
          {"sixteen_int32", table(16, int32s{}), hashed, hashed},
          {"string", {strings{}}, hashed, hashed},
          {"string_int32", {strings{}, int32s{}}, hashed, hashed},
          {"int64_string_string", {int64s{}, strings{}, strings{}}, hashed, hashed}};
}

std::string name_of(const testing::TestParamInfo<key_shape>& shape) {
  return shape.param.name;
}

constexpr std::size_t build_size = 700;
constexpr std::size_t probe_size = 600;
constexpr std::uint64_t different_rows = 150;

std::uint64_t rows_that_can_match(const table& build, bool missing_equal) {
  const auto keys = keys_of(build, rows_in(build));
  return static_cast<std::uint64_t>(std::count_if(
      keys.begin(), keys.end(), [&](const row_key& key) { return can_match(key, missing_equal); }));
}

class composite_join : public backend_test, public testing::WithParamInterface<key_shape> {
 protected:
  table make(std::size_t size, bool missing) {
    return make_table(GetParam().columns, size, different_rows, missing, random_);
  }

  void check(const table& build, const table& probe, const join_options& options,
             bool wide_offsets) const {
    const placed_table build_there(at(), build, wide_offsets);
    const placed_table probe_there(at(), probe, !wide_offsets);
    const auto tested = build_join(tested_backend(), at(), build_there.parts, options);
    EXPECT_EQ(tested->info().keys,
              options.missing_equal ? GetParam().keys_if_missing_equal : GetParam().keys);
    EXPECT_EQ(tested->info().entries, rows_that_can_match(build, options.missing_equal));
    const found_rows found = find_equal(build, probe, options.missing_equal);
    for (const join_kind kind : all_join_kinds) {
      const bool in_stretches = kind == join_kind::inner || kind == join_kind::full;
      check_joined(at(), *tested->match(at(), probe_there.parts, kind), kind, found,
                   in_stretches ? asked_rows::in_stretches : asked_rows::both, rows_in(build));
      if (HasFatalFailure()) return;
    }
  }

 private:
  std::mt19937_64 random_ = generator();
};

INSTANTIATE_TEST_SUITE_P(shapes, composite_join, testing::ValuesIn(shapes()), name_of);

TEST_P(composite_join, finds_rows_that_agree_in_all_columns) {
  for (const bool build_misses : {false, true}) {
    for (const bool probe_misses : {false, true}) {
      const table build = make(build_size, build_misses);
      const table probe = make(probe_size, probe_misses);
      for (const bool missing_equal : {false, true}) {
        SCOPED_TRACE(std::string(build_misses ? "missing build cells, " : "") +
                     (probe_misses ? "missing probe cells, " : "") +
                     (missing_equal ? "which are equal" : "which match nothing"));
        check(build, probe, {.missing_equal = missing_equal}, build_misses);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(composite_join, of_empty_tables) {
  for (const auto& [build, probe] :
       {std::pair(0, 0), std::pair(0, 100), std::pair(100, 0), std::pair(1, 1)}) {
    SCOPED_TRACE(std::to_string(build) + " build rows, " + std::to_string(probe) + " probe rows");
    for (const bool missing_equal : {false, true})
      check(make(static_cast<std::size_t>(build), false),
            make(static_cast<std::size_t>(probe), false), {.missing_equal = missing_equal}, false);
  }
}

TEST_P(composite_join, by_every_structure) {
  const table build = make(build_size, true);
  const table probe = make(probe_size, true);
  for (const join_subject& subject : join_subjects(key_type::uint64)) {
    if (!subject.sparse) continue;
    SCOPED_TRACE(subject.name());
    check(build, probe, subject.for_join(), true);
    if (HasFatalFailure()) return;
  }
}

// Pairs of rows; the second is 0 where a join has none.
using row_pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class joined_tables : public composite_join {
 protected:
  // The rows as they are.
  row_pairs pairs_of(const join_rows& got) const {
    const auto read = [&](const buffer<std::byte>& from) {
      std::vector<std::uint64_t> rows(got.size);
      if (from.size() == 0) return rows;
      if (got.type == row_id_type::uint64) {
        at().copy_out(rows.data(), from.data(), got.size * sizeof(std::uint64_t));
        return rows;
      }
      std::vector<std::uint32_t> narrow(got.size);
      at().copy_out(narrow.data(), from.data(), got.size * sizeof(std::uint32_t));
      for (std::size_t i = 0; i < narrow.size(); ++i)
        rows[i] = narrow[i] != not_found<std::uint32_t> ? narrow[i] : not_found<std::uint64_t>;
      return rows;
    };
    const auto probe_rows = read(got.probe_rows);
    const auto build_rows = read(got.build_rows);
    row_pairs all;
    for (std::size_t i = 0; i < probe_rows.size(); ++i)
      all.emplace_back(probe_rows[i], build_rows[i]);
    return all;
  }
  static row_pairs pairs_of(const expected_rows& expected) {
    row_pairs all;
    for (std::size_t i = 0; i < expected.size(); ++i)
      all.emplace_back(expected.probe_rows[i], expected.pairs ? expected.build_rows[i] : 0);
    return all;
  }
};

std::vector<key_shape> one_of_each_comparison() {
  std::vector<key_shape> some = shapes();
  std::erase_if(some, [](const key_shape& shape) {
    return shape.name != "int32" && shape.name != "int32_int32" && shape.name != "string_int32";
  });
  return some;
}

INSTANTIATE_TEST_SUITE_P(shapes, joined_tables, testing::ValuesIn(one_of_each_comparison()),
                         name_of);

TEST_P(joined_tables, whichever_is_indexed) {
  for (const auto& [builds, probes] : {std::pair(700, 300), std::pair(300, 700), std::pair(0, 9)}) {
    const table build = make(static_cast<std::size_t>(builds), true);
    const table probe = make(static_cast<std::size_t>(probes), true);
    const placed_table build_there(at(), build);
    const placed_table probe_there(at(), probe);
    for (const bool missing_equal : {false, true}) {
      const found_rows found = find_equal(build, probe, missing_equal);
      for (const join_kind kind : all_join_kinds) {
        const row_pairs expected = pairs_of(expected_rows(found, kind, rows_in(build)));
        for (const join_side side : {join_side::automatic, join_side::build, join_side::probe}) {
          SCOPED_TRACE(std::to_string(builds) + " build rows, " + std::string(to_string(kind)) +
                       ", side " + std::to_string(static_cast<int>(side)));
          const auto ask = [&] {
            return join_tables(tested_backend(), at(), build_there.parts, probe_there.parts, kind,
                               side, {.missing_equal = missing_equal});
          };
          if (side == join_side::probe && kind != join_kind::inner) {
            EXPECT_THROW(ask(), invalid_argument);
            continue;
          }
          const join_rows got = ask();
          EXPECT_EQ(got.type, row_id_type::uint32);
          ASSERT_EQ(got.size, expected.size());
          EXPECT_EQ(got.probe_rows.size(), got.size * sizeof(std::uint32_t));
          const bool pairs = kind != join_kind::semi && kind != join_kind::anti;
          EXPECT_EQ(got.build_rows.size(), pairs ? got.probe_rows.size() : 0);
          row_pairs rows = pairs_of(got);
          if (side == join_side::probe) {
            EXPECT_TRUE(std::ranges::is_sorted(
                rows, {}, [](const auto& pair) { return std::pair(pair.second, pair.first); }));
          }
          // Otherwise they are in order already.
          if (kind == join_kind::inner && side != join_side::build) std::ranges::sort(rows);
          ASSERT_EQ(rows, expected);
        }
      }
    }
  }
}

class composite_columns : public backend_test {};

// Some bytes apart, and with others between them.
TEST_F(composite_columns, may_lie_in_rows) {
  struct record {
    std::int32_t number;
    float ratio;
    std::int64_t wide;
    std::array<char, 3> text;
    char rest[5];
  };
  auto random = generator();
  const auto make = [&](std::size_t size) {
    std::vector<record> all(size);
    for (record& one : all) {
      one = {value_of<std::int32_t>(below(random, 20)),
             value_of<float>(below(random, 20)),
             value_of<std::int64_t>(below(random, 20)),
             value_of<bytes3>(below(random, 20)),
             {'r', 'e', 's', 't', static_cast<char>(below(random, 100))}};
    }
    return all;
  };
  const auto build = make(900);
  const auto probe = make(500);
  const auto build_there = at().upload(build);
  const auto probe_there = at().upload(probe);
  const auto table_of = [](const std::vector<record>& records, int which) {
    int32s numbers;
    floats ratios;
    int64s wides;
    cells_of<bytes3> texts;
    for (const record& one : records) {
      numbers.emplace_back(one.number);
      ratios.emplace_back(one.ratio);
      wides.emplace_back(one.wide);
      texts.emplace_back(one.text);
    }
    return which == 0 ? table{texts, ratios} : table{numbers, wides, texts};
  };
  const auto parts_of = [](const buffer<record>& there, int which) {
    const auto part = [&](key_format format, std::size_t offset) {
      column one(format, reinterpret_cast<const char*>(there.data()) + offset, there.size());
      one.stride = sizeof(record);
      return key_part(one);
    };
    const key_part text = part(format_of<bytes3>, offsetof(record, text));
    if (which == 0) return key_parts{text, part(format_of<float>, offsetof(record, ratio))};
    return key_parts{part(format_of<std::int32_t>, offsetof(record, number)),
                     part(format_of<std::int64_t>, offsetof(record, wide)), text};
  };
  for (const int which : {0, 1}) {
    SCOPED_TRACE(which);
    const auto tested = build_join(tested_backend(), at(), parts_of(build_there, which));
    EXPECT_EQ(tested->info().keys, which == 0 ? key_comparison::packed : key_comparison::hashed);
    const found_rows found =
        find_equal(table_of(build, which), table_of(probe, which), /*missing_equal=*/false);
    for (const join_kind kind : all_join_kinds)
      check_joined(at(), *tested->match(at(), parts_of(probe_there, which), kind), kind, found,
                   asked_rows::both, build.size());
  }
}

// Ranges are of one column.
TEST_F(composite_columns, have_no_ranges) {
  const auto numbers = at().upload(std::vector<std::int32_t>{1, 2, 3});
  const column one(numbers);
  const auto tested = build_join(tested_backend(), at(), key_parts{one, one});
  EXPECT_THROW(tested->match(at(), ranges(one, one), join_kind::inner), unsupported);
  EXPECT_THROW(tested->match(at(), points(one), join_kind::inner), unsupported);
  EXPECT_THROW(tested->match_band(at(), one, 1, join_kind::inner), unsupported);
  EXPECT_THROW(tested->match_compared(at(), one, comparison::less, join_kind::inner), unsupported);
}

// No strings need no offsets.
TEST_F(composite_columns, of_no_strings) {
  const placed_strings some(at(), {"a", std::nullopt, ""}, false);
  const key_parts none{string_column{}};
  const auto over_none = build_join(tested_backend(), at(), none);
  EXPECT_EQ(over_none->info().keys, key_comparison::hashed);
  const auto over_some = build_join(tested_backend(), at(), key_parts{some.view});
  for (const join_kind kind : all_join_kinds) {
    check_joined(at(), *over_none->match(at(), none, kind), kind, {});
    check_joined(at(), *over_none->match(at(), key_parts{some.view}, kind), kind, found_rows(3));
    check_joined(at(), *over_some->match(at(), none, kind), kind, {}, asked_rows::both, 3);
  }
}

// More probes than are packed at a time.
TEST_F(composite_columns, of_more_probes_than_a_stretch_has) {
  if (few_combinations()) GTEST_SKIP() << "too many probes";
  const std::int32_t size = 1000;
  std::vector<std::int32_t> upper(size);
  std::vector<std::int32_t> lower(size);
  for (std::int32_t i = 0; i < size; ++i) {
    upper[static_cast<std::size_t>(i)] = -i;
    lower[static_cast<std::size_t>(i)] = i;
  }
  std::vector<std::int32_t> probe_upper((1 << 22) + 77);
  std::vector<std::int32_t> probe_lower(probe_upper.size());
  for (std::size_t i = 0; i < probe_upper.size(); ++i) {
    probe_upper[i] = -static_cast<std::int32_t>(i % size);
    probe_lower[i] = static_cast<std::int32_t>(i % size) + (i % 2 == 0 ? 0 : 1);
  }
  const auto upper_there = at().upload(upper);
  const auto lower_there = at().upload(lower);
  const auto probe_upper_there = at().upload(probe_upper);
  const auto probe_lower_there = at().upload(probe_lower);
  const auto tested =
      build_join(tested_backend(), at(), key_parts{column(upper_there), column(lower_there)});
  const auto got = tested->match(
      at(), key_parts{column(probe_upper_there), column(probe_lower_there)}, join_kind::inner);
  ASSERT_EQ(got->size(), (probe_upper.size() + 1) / 2);
  buffer<std::uint32_t> probe_rows(at(), got->size());
  buffer<std::uint32_t> build_rows(at(), got->size());
  got->rows(at(), gather_maps(probe_rows, build_rows));
  const auto probes = at().download(probe_rows);
  const auto builds = at().download(build_rows);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    ASSERT_EQ(probes[i], 2 * i);
    ASSERT_EQ(builds[i], 2 * i % size);
  }
}

}  // namespace
}  // namespace raydex::test
