// SPDX-License-Identifier: Apache-2.0
// Nearest intervals, ties among them, and coverage, beside a walk over all rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "raydex/interval_coverage.hpp"
#include "raydex/nearest_join.hpp"
#include "tests/joins/tables.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

template <class T>
struct side {
  cells_of<T> lower;
  cells_of<T> upper;
  table by;

  std::size_t size() const { return lower.size(); }
  bool is_valid(std::size_t row) const {
    return lower[row] && upper[row] && !key_less{}(*upper[row], *lower[row]);
  }
};

template <class T>
class nearest : public backend_test {
 protected:
  using distance = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  struct neighbour {
    std::uint64_t row;
    distance apart;
  };

  // Of two numbers; the second one is not less.
  static distance apart(T from, T to) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(to - from);
    } else {
      return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    }
  }
  static bool is_nearer(distance a, distance b) { return key_less{}(a, b); }

  // All neighbours of each probe row that are asked for, the nearest one first.
  static std::vector<std::vector<neighbour>> walk(const side<T>& build, const side<T>& probe,
                                                  const nearest_options& how) {
    const auto build_keys = keys_of(build.by, build.size());
    const auto probe_keys = keys_of(probe.by, probe.size());
    const auto less = [](const T& a, const T& b) { return key_less{}(a, b); };
    std::vector<std::vector<neighbour>> found(probe.size());
    for (std::size_t p = 0; p < probe.size(); ++p) {
      if (!probe.is_valid(p) || !can_match(probe_keys[p], false)) continue;
      std::vector<std::size_t> shared;
      std::vector<std::size_t> before;
      std::vector<std::size_t> after;
      for (std::size_t b = 0; b < build.size(); ++b) {
        if (!build.is_valid(b) || build_keys[b] != probe_keys[p]) continue;
        const bool ended = less(*build.upper[b], *probe.lower[p]);
        const bool begins = less(*probe.upper[p], *build.lower[b]);
        (ended ? before : begins ? after : shared).push_back(b);
      }
      const auto by_lower = [&](std::size_t a, std::size_t b) {
        return less(*build.lower[a], *build.lower[b]);
      };
      std::ranges::stable_sort(shared, by_lower);
      std::ranges::stable_sort(after, by_lower);
      std::ranges::stable_sort(before, [&](std::size_t a, std::size_t b) {
        return less(*build.upper[b], *build.upper[a]);
      });
      if (!how.overlaps) shared.clear();
      if (!how.before) before.clear();
      if (!how.after) after.clear();
      for (const std::size_t row : shared)
        found[p].push_back({row, 0});
      std::vector<neighbour> first;
      std::vector<neighbour> second;
      for (const std::size_t row : before)
        first.push_back({row, apart(*build.upper[row], *probe.lower[p])});
      for (const std::size_t row : after)
        second.push_back({row, apart(*probe.upper[p], *build.lower[row])});
      std::merge(first.begin(), first.end(), second.begin(), second.end(),
                 std::back_inserter(found[p]), [&](const neighbour& a, const neighbour& b) {
                   if (is_nearer(a.apart, b.apart)) return true;
                   return !is_nearer(b.apart, a.apart) && a.row < b.row;
                 });
    }
    return found;
  }

  static bool same(distance a, distance b) { return !is_nearer(a, b) && !is_nearer(b, a); }

  template <class Row>
  void check_rows(const nearest_join& tested, const placed<T>& lower, const placed<T>& upper,
                  const key_parts& by, const nearest_options& how,
                  const std::vector<std::vector<neighbour>>& found) const {
    buffer<Row> rows(at(), found.size() * how.count);
    buffer<distance> distances(at(), rows.size());
    tested.match(at(), lower.view, upper.view, by, how, row_id_span(rows),
                 std::span<distance>(distances.data(), distances.size()));
    const auto got = at().download(rows);
    const auto apart = at().download(distances);
    const distance far = std::is_floating_point_v<T>
                             ? static_cast<distance>(std::numeric_limits<double>::quiet_NaN())
                             : std::numeric_limits<distance>::max();
    for (std::size_t p = 0; p < found.size(); ++p) {
      for (std::uint64_t k = 0; k < how.count; ++k) {
        SCOPED_TRACE("probe " + std::to_string(p) + ", number " + std::to_string(k));
        const bool any = k < found[p].size();
        ASSERT_EQ(got[p * how.count + k], any ? static_cast<Row>(found[p][k].row) : not_found<Row>);
        ASSERT_TRUE(same(apart[p * how.count + k], any ? found[p][k].apart : far))
            << apart[p * how.count + k];
      }
    }
    buffer<Row> again(at(), rows.size());
    tested.match(at(), lower.view, upper.view, by, how, row_id_span(again));
    ASSERT_EQ(at().download(again), got);
  }

  void check_ties(const nearest_join& tested, const side<T>& build, const placed<T>& lower,
                  const placed<T>& upper, const key_parts& by, const nearest_options& how,
                  const std::vector<std::vector<neighbour>>& found) const {
    found_rows expected(found.size());
    for (std::size_t p = 0; p < found.size(); ++p) {
      for (std::size_t k = 0; k < found[p].size(); ++k) {
        if (k < how.count || same(found[p][k].apart, found[p][how.count - 1].apart))
          expected[p].push_back(found[p][k].row);
      }
      std::ranges::sort(expected[p], [&](std::uint64_t a, std::uint64_t b) {
        if (key_less{}(*build.lower[a], *build.lower[b])) return true;
        return !key_less{}(*build.lower[b], *build.lower[a]) && a < b;
      });
    }
    for (const join_kind kind : {join_kind::inner, join_kind::left}) {
      check_joined(at(), *tested.match_ties(at(), lower.view, upper.view, by, how, kind), kind,
                   expected);
      if (this->HasFatalFailure()) return;
    }
  }

  void check_nearest(const side<T>& build, const side<T>& probe) const {
    const placed lower(at(), build.lower);
    const placed upper(at(), build.upper);
    const placed_table by(at(), build.by);
    const placed from(at(), probe.lower);
    const placed to(at(), probe.upper);
    const placed_table probe_by(at(), probe.by, true);
    const auto tested =
        build_nearest_join(tested_backend(), at(), lower.view, upper.view, by.parts);
    for (unsigned parts = 0; parts < 8; ++parts) {
      for (const std::uint64_t count : {1U, 3U, 40U}) {
        SCOPED_TRACE("parts " + std::to_string(parts) + ", count " + std::to_string(count));
        const nearest_options how{count, (parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0};
        const auto found = walk(build, probe, how);
        check_rows<std::uint32_t>(*tested, from, to, probe_by.parts, how, found);
        if (this->HasFatalFailure()) return;
        if (count == 1) check_rows<std::uint64_t>(*tested, from, to, probe_by.parts, how, found);
        if (how.overlaps) check_ties(*tested, build, from, to, probe_by.parts, how, found);
        if (this->HasFatalFailure()) return;
      }
    }
  }

  void check_coverage(const side<T>& build, const side<T>& probe) const {
    const placed lower(at(), build.lower);
    const placed upper(at(), build.upper);
    const placed_table by(at(), build.by);
    const placed from(at(), probe.lower);
    const placed to(at(), probe.upper);
    const placed_table probe_by(at(), probe.by, true);
    const auto tested =
        build_interval_coverage(tested_backend(), at(), lower.view, upper.view, by.parts);
    const auto build_keys = keys_of(build.by, build.size());
    const auto probe_keys = keys_of(probe.by, probe.size());
    std::vector<std::uint64_t> expected(probe.size());
    std::vector<bool> too_many(probe.size());
    for (std::size_t p = 0; p < probe.size(); ++p) {
      if (!probe.is_valid(p) || !can_match(probe_keys[p], false)) continue;
      for (std::size_t b = 0; b < build.size(); ++b) {
        if (!build.is_valid(b) || build_keys[b] != probe_keys[p]) continue;
        const T begin = std::max(*build.lower[b], *probe.lower[p]);
        const T end = std::min(*build.upper[b], *probe.upper[p]);
        if (!(begin < end)) continue;
        const std::uint64_t shared =
            static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
        if (__builtin_add_overflow(expected[p], shared, &expected[p])) too_many[p] = true;
      }
    }
    for (std::size_t p = 0; p < probe.size(); ++p) {
      if (too_many[p] || expected[p] > ~(std::uint64_t{1} << 48)) expected[p] = ~std::uint64_t{0};
    }
    buffer<std::uint64_t> out(at(), probe.size());
    tested->match(at(), from.view, to.view, probe_by.parts, {out.data(), out.size()});
    ASSERT_EQ(at().download(out), expected);
  }

  // Intervals of a few lengths, 0 among them, and, if `odd`, with missing and extreme ends.
  static side<T> some(std::size_t size, const table& shape, bool odd, std::mt19937_64& random) {
    side<T> all{cells_of<T>(size), cells_of<T>(size), make_table(shape, size, 6, odd, random)};
    const std::vector<T> extremes = extreme_keys<T>();
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t begin = 100 + below(random, 500);
      const std::uint64_t lengths[] = {0, below(random, 4), below(random, 60)};
      all.lower[i] = static_cast<T>(begin);
      all.upper[i] = static_cast<T>(begin + lengths[below(random, 3)]);
      if (!odd) continue;
      const std::uint64_t kind = below(random, 20);
      if (kind < 2) (kind == 0 ? all.lower : all.upper)[i].reset();
      if (kind == 2) all.upper[i] = static_cast<T>(begin - 1);
      if (kind != 3) continue;
      all.lower[i] = extremes[below(random, extremes.size())];
      all.upper[i] = extremes[below(random, extremes.size())];
    }
    return all;
  }

  void check_shape(const table& shape) const {
    auto random = generator();
    for (const bool odd : {false, true}) {
      SCOPED_TRACE(odd ? "missing and extreme values, too" : "plain values");
      check_nearest(some(200, shape, odd, random), some(70, shape, odd, random));
      if (this->HasFatalFailure()) return;
      if constexpr (std::is_integral_v<T>)
        check_coverage(some(200, shape, odd, random), some(70, shape, odd, random));
      if (this->HasFatalFailure()) return;
    }
    check_nearest(some(0, shape, false, random), some(10, shape, true, random));
    check_nearest(some(10, shape, true, random), some(0, shape, false, random));
    if constexpr (std::is_integral_v<T>) {
      check_coverage(some(0, shape, false, random), some(10, shape, true, random));
      check_coverage(some(10, shape, true, random), some(0, shape, false, random));
    }
  }
};

using end_types =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(nearest, end_types);

TYPED_TEST(nearest, among_all_rows) {
  this->check_shape({});
}
TYPED_TEST(nearest, by_a_number) {
  this->check_shape({cells_of<std::int32_t>{}});
}

using int64_nearest = nearest<std::int64_t>;
using int32_nearest = nearest<std::int32_t>;

TEST_F(int32_nearest, by_strings) {
  check_shape({cells_of<std::string>{}});
}
TEST_F(int64_nearest, by_two_columns) {
  check_shape({cells_of<bytes2>{}, cells_of<std::int64_t>{}});
}

// Ends that span all 64 bits, whose ranks stand in their place.
TEST_F(int64_nearest, by_a_long_number) {
  auto random = generator();
  using limits = std::numeric_limits<std::int64_t>;
  const table shape{cells_of<std::int64_t>{}};
  auto build = some(200, shape, false, random);
  build.lower[0] = limits::min();
  build.upper[1] = limits::max();
  check_nearest(build, some(70, shape, true, random));
}

// Many intervals that share a point, and many at one distance.
TEST_F(int32_nearest, of_many_at_one_distance) {
  side<std::int32_t> build;
  for (std::int32_t i = 0; i < 5000; ++i) {
    build.lower.emplace_back(i % 3 * 100);
    build.upper.emplace_back(i % 3 * 100 + 10);
  }
  check_nearest(build, {{50, 105, 160}, {55, 105, 160}, {}});
  check_coverage(build, {{0, 5, -20, 205}, {1000, 105, 0, 207}, {}});
}

// Sums of ends pass 2^64 many times, those of lengths only for some probes.
TEST_F(int64_nearest, covers_far_ends) {
  using limits = std::numeric_limits<std::int64_t>;
  side<std::int64_t> build;
  for (std::int64_t i = 0; i < 3000; ++i) {
    build.lower.emplace_back(i % 2 == 0 ? limits::max() - 1000 : limits::min() + i);
    build.upper.emplace_back(*build.lower.back() + 1000);
  }
  for (int i = 0; i < 3; ++i) {
    build.lower.emplace_back(limits::min() / 2);
    build.upper.emplace_back(limits::max() / 2);
  }
  check_coverage(build,
                 {{limits::min(), 0, limits::max() - 5}, {limits::max(), 7, limits::max()}, {}});
}

class nearest_arguments : public backend_test {};

TEST_F(nearest_arguments, are_checked) {
  const backend where = tested_backend();
  const auto three = at().upload(std::vector<std::int32_t>{1, 2, 3});
  const auto two = at().upload(std::vector<std::int32_t>{4, 5});
  const auto others = at().upload(std::vector<std::uint32_t>{4, 5, 6});
  const auto letters = at().upload(std::vector<std::array<char, 1>>{{'a'}, {'b'}, {'c'}});
  const auto reals = at().upload(std::vector<double>{1, 2, 3});
  const column one(three);
  const key_parts by{one};
  expect_error<invalid_argument>([&] { build_nearest_join(where, at(), one, column(two)); },
                                 {"3", "2"});
  expect_error<invalid_argument>(
      [&] { build_nearest_join(where, at(), column(letters), column(letters)); }, {"lower"});
  const auto tested = build_nearest_join(where, at(), one, one, by);
  EXPECT_EQ(tested->info().entries, 3U);
  buffer<std::uint32_t> rows(at(), 6);
  buffer<std::uint32_t> few(at(), 5);
  buffer<double> floating(at(), 6);
  buffer<std::uint64_t> wide(at(), 5);
  const nearest_options how{.count = 2};
  const auto refuse = [&](const column& lower, const column& upper, const key_parts& keys,
                          const nearest_options& options, buffer<std::uint32_t>& out,
                          const std::vector<std::string>& parts) {
    expect_error<invalid_argument>(
        [&] { tested->match(at(), lower, upper, keys, options, row_id_span(out)); }, parts);
  };
  refuse(column(others), column(others), by, how, rows, {"lower", "uint32"});
  refuse(one, column(two), by, how, rows, {"3", "2"});
  refuse(one, one, {}, how, rows, {"by"});
  refuse(one, one, by, {.count = 0}, rows, {"count"});
  refuse(one, one, by, how, few, {"rows", "5", "3"});
  expect_error<invalid_argument>(
      [&] {
        tested->match(at(), one, one, by, how, row_id_span(rows),
                      std::span<double>(floating.data(), 6));
      },
      {"distances", "uint64"});
  expect_error<invalid_argument>(
      [&] {
        tested->match(at(), one, one, by, how, row_id_span(rows),
                      std::span<std::uint64_t>(wide.data(), 5));
      },
      {"distances", "5", "6"});
  expect_error<unsupported>(
      [&] { tested->match_ties(at(), one, one, by, {.overlaps = false}, join_kind::inner); },
      {"overlaps"});
  EXPECT_THROW(tested->match_ties(at(), one, one, by, {}, join_kind::right), unsupported);
  const auto covered = build_interval_coverage(where, at(), one, one, by);
  expect_error<invalid_argument>(
      [&] {
        covered->match(at(), one, one, by, {wide.data(), 2});
      },
      {"out", "2", "3"});
  expect_error<unsupported>(
      [&] { build_interval_coverage(where, at(), column(reals), column(reals)); },
      {"double", "integers"});
}

}  // namespace
}  // namespace raydex::test
