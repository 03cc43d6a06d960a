// SPDX-License-Identifier: Apache-2.0
// Joins of points with the intervals that contain them, compared with a walk over all intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/joins/joined_rows.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

template <class T>
class intervals : public backend_test {
 protected:
  using cells_t = cells_of<T>;

  // By lower end, then by row.
  static found_rows find(const cells_t& lower, const cells_t& upper, const cells_t& points) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      if (lower[i] && upper[i]) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return key_less{}(*lower[a], *lower[b]);
    });
    found_rows found(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!points[i]) continue;
      for (const std::size_t row : order) {
        if (!key_less{}(*points[i], *lower[row]) && !key_less{}(*upper[row], *points[i]))
          found[i].push_back(row);
      }
    }
    return found;
  }

  // The ends need not outlive the build, nor the points the match.
  void check(const std::string& name, const cells_t& lower, const cells_t& upper,
             const cells_t& points) const {
    SCOPED_TRACE(name);
    const auto tested = [&] {
      const placed lower_there(at(), lower);
      const placed upper_there(at(), upper);
      return build_interval_join(tested_backend(), at(), lower_there.view, upper_there.view);
    }();
    EXPECT_EQ(tested->info().where, tested_backend());
    EXPECT_LE(tested->info().entries, lower.size());
    const found_rows found = find(lower, upper, points);
    for (const join_kind kind : join_kinds) {
      const auto got = [&] {
        const placed points_there(at(), points);
        return tested->match(at(), points_there.view, kind);
      }();
      check_joined(at(), *got, kind, found,
                   kind == join_kind::inner ? asked_rows::in_stretches : asked_rows::both);
      if (this->HasFatalFailure()) return;
    }
  }

  static T number(std::uint64_t i) { return static_cast<T>(i); }

  // Numbers below `bound`, extremes, and missing cells.
  static cells_t some(std::size_t size, std::uint64_t bound, std::mt19937_64& random) {
    const std::vector<T> extremes = extreme_keys<T>();
    cells_t all(size);
    for (auto& cell : all) {
      const std::uint64_t kind = below(random, 12);
      if (kind == 0) continue;
      cell = kind == 1 ? extremes[below(random, extremes.size())] : number(below(random, bound));
    }
    return all;
  }
};

using end_types = testing::Types<std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(intervals, end_types);

TYPED_TEST(intervals, of_every_shape_contain_points) {
  auto random = generator();
  const auto number = [](std::uint64_t i) { return static_cast<TypeParam>(i); };
  const cells_of<TypeParam> points = this->some(300, 3000, random);
  this->check("none", {}, {}, points);
  this->check("no points", {number(1)}, {number(2)}, {});
  this->check("one", {number(10)}, {number(20)},
              {number(9), number(10), number(15), number(20), number(21), std::nullopt});
  cells_of<TypeParam> lower;
  cells_of<TypeParam> upper;
  for (std::uint64_t i = 0; i < 1100; ++i) {
    lower.emplace_back(number(i));
    upper.emplace_back(number(3000 - i));
  }
  this->check("nested", lower, upper, this->some(40, 3000, random));
  this->check("equal", cells_of<TypeParam>(300, number(100)), cells_of<TypeParam>(300, number(200)),
              {number(99), number(100), number(200), number(201), std::nullopt});
  this->check("that end before they begin", upper, lower, points);
  this->check("of one point", lower, lower, points);
  // All begin before the point, and few contain it.
  cells_of<TypeParam> beside = lower;
  beside[7] = number(2999);
  beside[1000] = number(2000);
  this->check("few of many", lower, beside, points);
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (i % 3 == 0) lower[i].reset();
    if (i % 5 == 0) upper[i].reset();
  }
  this->check("some ends missing", lower, upper, this->some(40, 3000, random));
  this->check("all ends missing", cells_of<TypeParam>(50), cells_of<TypeParam>(50), points);
}

TYPED_TEST(intervals, at_random_contain_points) {
  auto random = generator();
  const std::size_t size = 5000;
  const std::uint64_t bound = 100'000;
  cells_of<TypeParam> lower = this->some(size, bound, random);
  cells_of<TypeParam> upper(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t length = below(random, below(random, 50) == 0 ? bound : 200);
    const std::uint64_t begin = below(random, bound);
    if (lower[i] && below(random, 20) != 0) lower[i] = this->number(begin);
    if (below(random, 20) != 0) upper[i] = this->number(begin + length);
  }
  cells_of<TypeParam> points = this->some(200, bound, random);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto& end =
        below(random, 2) == 0 ? lower[below(random, size)] : upper[below(random, size)];
    points.push_back(end ? std::optional(neighbour(*end, below(random, 2) == 0)) : std::nullopt);
    points.push_back(end);
  }
  this->check("random", lower, upper, points);
  // With ends anywhere.
  this->check("extreme", this->some(300, 1000, random), this->some(300, 1000, random),
              this->some(60, 1000, random));
}

class one_interval_join : public backend_test {};

// More points than a tile has, and of few of them many rows.
TEST_F(one_interval_join, of_many_points) {
  cells_of<std::int32_t> lower;
  cells_of<std::int32_t> upper;
  for (std::int32_t i = 0; i < 40; ++i) {
    lower.emplace_back(-i);
    upper.emplace_back(i * i);
  }
  const placed lower_there(at(), lower);
  const placed upper_there(at(), upper);
  const auto tested =
      build_interval_join(tested_backend(), at(), lower_there.view, upper_there.view);
  auto random = generator();
  cells_of<std::int32_t> points;
  found_rows found;
  for (std::size_t p = 0; p < 3000; ++p) {
    const std::int32_t point = static_cast<std::int32_t>(below(random, p < 1500 ? 40 : 2000)) - 20;
    points.emplace_back(point);
    found.emplace_back();
    // The largest row has the smallest lower end.
    for (std::int32_t i = 39; i >= 0; --i) {
      if (-i <= point && point <= i * i) found.back().push_back(static_cast<std::uint64_t>(i));
    }
  }
  const placed points_there(at(), points);
  for (const join_kind kind : join_kinds) {
    check_joined(at(), *tested->match(at(), points_there.view, kind), kind, found,
                 asked_rows::in_stretches);
  }
}

TEST_F(one_interval_join, of_byte_strings) {
  using text = std::array<char, 3>;
  const placed<text> lower(at(), {text{'a', 'b', 'c'}, text{'a'}, std::nullopt});
  const placed<text> upper(at(), {text{'a', 'b', 'c'}, text{'b'}, text{'z'}});
  const placed<text> points(at(), {text{'a', 'b', 'c'}, text{'b'}, text{'b', 'a'}});
  const auto tested = build_interval_join(tested_backend(), at(), lower.view, upper.view);
  EXPECT_EQ(tested->info().entries, 2);
  check_joined(at(), *tested->match(at(), points.view, join_kind::left), join_kind::left,
               {{1, 0}, {1}, {}});
}

TEST_F(one_interval_join, refuses_what_does_not_fit) {
  const auto three = at().upload(std::vector<std::int32_t>{1, 2, 3});
  const auto two = at().upload(std::vector<std::int32_t>{4, 5});
  const auto others = at().upload(std::vector<std::uint32_t>{4, 5, 6});
  const auto built = [&](const auto& lower, const auto& upper) {
    return build_interval_join(tested_backend(), at(), column(lower), column(upper));
  };
  expect_error<invalid_argument>([&] { built(three, two); }, {"3 lower ends", "2 upper ends"});
  expect_error<invalid_argument>([&] { built(three, others); }, {"int32", "uint32"});
  const auto tested = built(three, three);
  expect_error<invalid_argument>([&] { tested->match(at(), column(others), join_kind::inner); },
                                 {"points", "int32", "uint32"});
}

}  // namespace
}  // namespace raydex::test
