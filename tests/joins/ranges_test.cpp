// SPDX-License-Identifier: Apache-2.0
// Joins by ranges, distances and comparisons: every ordered structure finds the rows that a walk
// over all build rows finds, by key and then by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/joins/joined_rows.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

// Keys close to the largest one, or of floats about 0 in steps of a quarter.
template <class T>
T close_key(std::uint64_t i) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(i) / 4 - 60;
  } else {
    return static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(i));
  }
}

// Cells: one in eight is missing, and as many are extremes if these are `sparse`.
template <class T>
cells_of<T> make_cells(std::size_t size, bool sparse, std::mt19937_64& random) {
  const std::vector<T> extremes = extreme_keys<T>();
  cells_of<T> all(size);
  for (auto& cell : all) {
    const std::uint64_t kind = below(random, 8);
    if (kind == 0) continue;
    cell = sparse && kind == 1 ? extremes[below(random, extremes.size())]
                               : close_key<T>(below(random, 500));
  }
  return all;
}

// A distance as it is given, and as a number of the keys' type, or of as many bits.
template <class T>
struct tested_distance {
  key_distance given;
  std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t> number;
};

// The distance of two keys is at most that, as the type of the keys computes it.
template <class T>
bool is_near(T build, T probe, const tested_distance<T>& distance) {
  if constexpr (std::is_floating_point_v<T>) {
    return build == probe || std::abs(build - probe) <= distance.number;
  } else {
    const std::uint64_t apart =
        build < probe ? static_cast<std::uint64_t>(probe) - static_cast<std::uint64_t>(build)
                      : static_cast<std::uint64_t>(build) - static_cast<std::uint64_t>(probe);
    return apart <= distance.number;
  }
}

constexpr std::array comparisons{comparison::less, comparison::less_equal, comparison::greater,
                                 comparison::greater_equal};

template <class T>
bool compares(comparison how, const T& build, const T& probe) {
  switch (how) {
    case comparison::less:
      return key_less{}(build, probe);
    case comparison::less_equal:
      return !key_less{}(probe, build);
    case comparison::greater:
      return key_less{}(probe, build);
    case comparison::greater_equal:
      return !key_less{}(build, probe);
  }
  return false;
}

template <class T>
class range_join : public backend_test {
 protected:
  // Calls check(structure, join, build cells, probe cells) for each ordered structure.
  template <class Check>
  void for_each_structure(const Check& check) const {
    auto random = generator();
    for (const join_subject& subject : join_subjects(format_of<T>.type)) {
      if (!subject.ordered) continue;
      SCOPED_TRACE(subject.name());
      const auto build_cells = make_cells<T>(1100, subject.sparse, random);
      const auto probe_cells = make_cells<T>(60, true, random);
      const placed build(at(), build_cells);
      const auto tested =
          build_join(tested_backend(), at(), key_parts{build.view}, subject.for_join());
      check(*tested, build_cells, probe_cells);
      if (this->HasFatalFailure()) return;
    }
  }

  // Checks what `match(probe column, kind)` finds, for all kinds.
  template <class Match>
  void check_kinds(const cells_of<T>& probe_cells, const found_rows& found,
                   const Match& match) const {
    const placed probe(at(), probe_cells);
    for (const join_kind kind : join_kinds) {
      check_joined(at(), *match(probe.view, kind), kind, found,
                   kind == join_kind::left ? asked_rows::in_stretches : asked_rows::both);
      if (this->HasFatalFailure()) return;
    }
  }

  static std::vector<tested_distance<T>> distances() {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr auto most = std::numeric_limits<T>::max();
      constexpr auto infinity = std::numeric_limits<T>::infinity();
      return {{0, 0},
              {0.25, T{0.25}},
              {0.1, static_cast<T>(0.1)},
              {10, 10},
              {1e30, static_cast<T>(1e30)},
              {most, most},
              {infinity, infinity}};
    } else {
      constexpr auto most = std::numeric_limits<std::uint64_t>::max();
      std::vector<tested_distance<T>> all{
          {0x1p64, most}, {std::numeric_limits<double>::infinity(), most}, {100.0, 100}};
      for (const std::uint64_t whole :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 31,
            (std::uint64_t{1} << 32) - 2, (std::uint64_t{1} << 32) - 1,
            (std::uint64_t{1} << 53) + 1, std::uint64_t{1} << 63, most - 1, most})
        all.push_back({whole, whole});
      return all;
    }
  }
};

using number_types =
    testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(range_join, number_types);

TYPED_TEST(range_join, by_distance) {
  this->for_each_structure([&](const join& tested, const auto& build, const auto& probe) {
    for (const auto& distance : this->distances()) {
      SCOPED_TRACE(distance.number);
      const found_rows found = find_where(
          build, positions(build.size()), probe,
          [&](const TypeParam& a, const TypeParam& b) { return is_near(a, b, distance); });
      this->check_kinds(probe, found, [&](const column& asked, join_kind kind) {
        return tested.match_band(this->at(), asked, distance.given, kind);
      });
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(range_join, by_comparison) {
  this->for_each_structure([&](const join& tested, const auto& build, const auto& probe) {
    for (const comparison how : comparisons) {
      SCOPED_TRACE(static_cast<int>(how));
      const found_rows found =
          find_where(build, positions(build.size()), probe,
                     [&](const TypeParam& a, const TypeParam& b) { return compares(how, a, b); });
      this->check_kinds(probe, found, [&](const column& asked, join_kind kind) {
        return tested.match_compared(this->at(), asked, how, kind);
      });
      if (this->HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(range_join, by_given_ends) {
  auto random = generator(1);
  this->for_each_structure([&](const join& tested, const auto& build, const auto& lower) {
    const auto upper = make_cells<TypeParam>(lower.size(), true, random);
    const oracle<TypeParam> entries(build, positions(build.size()));
    found_rows found;
    for (std::size_t i = 0; i < lower.size(); ++i)
      found.push_back(entries.rows(lower[i], upper[i]));
    const placed upper_there(this->at(), upper);
    this->check_kinds(lower, found, [&](const column& asked, join_kind kind) {
      return tested.match(this->at(), ranges(asked, upper_there.view), kind);
    });
  });
}

class one_range_join : public backend_test {};

// Byte strings have an order, but no distances.
TEST_F(one_range_join, of_byte_strings) {
  using text = std::array<char, 5>;
  auto random = generator();
  cells_of<text> build_cells(500);
  for (auto& cell : build_cells)
    cell = dense_key<text>(below(random, 300) << 30);
  cells_of<text> probe_cells(build_cells.begin(), build_cells.begin() + 20);
  for (const text& extreme : extreme_keys<text>())
    probe_cells.emplace_back(extreme);
  const placed build(at(), build_cells);
  const placed probe(at(), probe_cells);
  for (const join_subject& subject : join_subjects(key_type::bytes)) {
    if (!subject.ordered) continue;
    SCOPED_TRACE(subject.name());
    const auto tested =
        build_join(tested_backend(), at(), key_parts{build.view}, subject.for_join());
    for (const comparison how : comparisons) {
      const found_rows found =
          find_where(build_cells, positions(build_cells.size()), probe_cells,
                     [&](const text& a, const text& b) { return compares(how, a, b); });
      check_joined(at(), *tested->match_compared(at(), probe.view, how, join_kind::inner),
                   join_kind::inner, found);
    }
    EXPECT_THROW(tested->match_band(at(), probe.view, 1, join_kind::inner), invalid_argument);
  }
}

// With the row ids of an index.
TEST_F(one_range_join, over_an_index) {
  auto random = generator();
  const auto entries = make_cells<std::int32_t>(1100, false, random);
  const auto probe_cells = make_cells<std::int32_t>(60, true, random);
  std::vector<std::uint64_t> ids(entries.size());
  for (std::uint64_t& id : ids)
    id = below(random, 3000);
  const placed keys(at(), entries);
  const placed probe(at(), probe_cells);
  const auto ids_there = at().upload(ids);
  for (const join_subject& subject : join_subjects(key_type::int32)) {
    if (!subject.ordered) continue;
    SCOPED_TRACE(subject.name());
    const auto over = build(subject.structure, tested_backend(), at(), keys.view, column(ids_there),
                            subject.options);
    const auto tested = build_join(at(), *over);
    const found_rows found =
        find_where(entries, ids, probe_cells, [](std::int32_t a, std::int32_t b) {
          return is_near(a, b, {20, 20});
        });
    for (const join_kind kind : join_kinds)
      check_joined(at(), *tested->match_band(at(), probe.view, 20, kind), kind, found);
  }
}

// Different keys, in no order.
TEST_F(one_range_join, over_different_keys) {
  auto random = generator();
  cells_of<std::uint32_t> build_cells;
  for (std::uint32_t i = 0; i < 1500; ++i)
    build_cells.emplace_back(2 * i);
  std::shuffle(build_cells.begin(), build_cells.end(), random);
  cells_of<std::uint32_t> probe_cells;
  for (std::uint32_t i = 0; i < 1100; ++i)
    probe_cells.emplace_back(static_cast<std::uint32_t>(below(random, 3200)));
  const placed build(at(), build_cells);
  const placed probe(at(), probe_cells);
  const found_rows found = find_where(build_cells, positions(build_cells.size()), probe_cells,
                                      [](std::uint32_t a, std::uint32_t b) {
                                        return is_near(a, b, {9, 9});
                                      });
  for (const join_subject& subject : join_subjects(key_type::uint32)) {
    if (!subject.ordered) continue;
    SCOPED_TRACE(subject.name());
    const auto tested =
        build_join(tested_backend(), at(), key_parts{build.view}, subject.for_join());
    EXPECT_TRUE(tested->info().keys_differ);
    for (const join_kind kind : join_kinds)
      check_joined(at(), *tested->match_band(at(), probe.view, 9, kind), kind, found);
  }
}

TEST_F(one_range_join, is_refused_by_hash_tables) {
  const auto keys = at().upload(std::vector<std::uint32_t>{1, 2, 3});
  const column one(keys);
  for (const join_subject& subject : join_subjects(key_type::uint32)) {
    if (subject.ordered) continue;
    SCOPED_TRACE(subject.name());
    const auto tested = build_join(tested_backend(), at(), key_parts{one}, subject.for_join());
    EXPECT_THROW(tested->match(at(), ranges(one, one), join_kind::inner), unsupported);
    EXPECT_THROW(tested->match_band(at(), one, 0, join_kind::inner), unsupported);
    EXPECT_THROW(tested->match_compared(at(), one, comparison::less, join_kind::semi), unsupported);
  }
}

TEST_F(one_range_join, refuses_what_is_no_distance) {
  const auto integers = at().upload(std::vector<std::int64_t>{1, 2, 3});
  const auto floats = at().upload(std::vector<float>{1, 2, 3});
  const auto refused = [&](const column& keys, key_distance distance, const char* why) {
    const auto tested = build_join(tested_backend(), at(), key_parts{keys});
    expect_error<invalid_argument>(
        [&] { tested->match_band(at(), keys, distance, join_kind::inner); }, {"distance", why});
  };
  refused(column(integers), -1, "0 or more");
  refused(column(integers), -1.0, "0 or more");
  refused(column(integers), 0.5, "whole number");
  refused(column(integers), std::numeric_limits<double>::quiet_NaN(), "0 or more");
  refused(column(floats), -0.25, "0 or more");
  refused(column(floats), std::numeric_limits<double>::quiet_NaN(), "0 or more");
}

}  // namespace
}  // namespace raydex::test
