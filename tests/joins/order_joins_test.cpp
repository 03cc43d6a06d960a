// SPDX-License-Identifier: Apache-2.0
// Joins by order find, among rows of equal keys, the build rows that a walk over all of them finds:
// ranges, intervals of every kind, two inequalities, and few probes of many rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "raydex/order_join.hpp"
#include "tests/joins/tables.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

// Rows of two columns and of keys.
template <class T>
struct side {
  cells_of<T> first;
  cells_of<T> second;
  table by;

  std::size_t size() const { return first.size(); }
};

template <class T>
bool less(const T& a, const T& b) {
  return key_less{}(a, b);
}
template <class T>
bool less_equal(const T& a, const T& b) {
  return !key_less{}(b, a);
}

// The build rows in the order of a column, then by row: `descending` or not.
template <class T>
std::vector<std::size_t> ordered_rows(const cells_of<T>& column, bool descending = false) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < column.size(); ++i) {
    if (column[i]) rows.push_back(i);
  }
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
    return descending ? less(*column[b], *column[a]) : less(*column[a], *column[b]);
  });
  return rows;
}

// The build rows of each probe row that have its key, and that `matches(build row, probe row)`
// holds for, in an order. Missing cells match nothing.
template <class T, class Matches>
found_rows find(const side<T>& build, const side<T>& probe, const std::vector<std::size_t>& order,
                bool second_too, const Matches& matches) {
  const auto build_keys = keys_of(build.by, build.size());
  const auto probe_keys = keys_of(probe.by, probe.size());
  found_rows found(probe.size());
  for (std::size_t p = 0; p < probe.size(); ++p) {
    if (!probe.first[p] || (second_too && !probe.second[p]) || !can_match(probe_keys[p], false))
      continue;
    for (const std::size_t b : order) {
      if (!build.first[b] || !build.second[b] || build_keys[b] != probe_keys[p]) continue;
      if (matches(b, p)) found[p].push_back(b);
    }
  }
  return found;
}

constexpr std::array all_closed{closed_ends::both, closed_ends::left, closed_ends::right,
                                closed_ends::neither};
constexpr std::array relations{interval_relation::overlaps, interval_relation::within,
                               interval_relation::encloses};
constexpr std::array comparisons{comparison::less, comparison::less_equal, comparison::greater,
                                 comparison::greater_equal};

template <class T>
bool compares(const T& build, const T& probe, comparison how) {
  switch (how) {
    case comparison::less:
      return less(build, probe);
    case comparison::less_equal:
      return less_equal(build, probe);
    case comparison::greater:
      return less(probe, build);
    case comparison::greater_equal:
      break;
  }
  return less_equal(probe, build);
}

template <class T>
class order_joins : public backend_test {
 protected:
  // `builds`: how many build rows there are.
  void check(const joined& tested, join_kind kind, const found_rows& found,
             std::size_t builds) const {
    const bool in_stretches = kind == join_kind::inner || kind == join_kind::full;
    check_joined(at(), tested, kind, found,
                 in_stretches ? asked_rows::in_stretches : asked_rows::both, builds);
  }

  std::vector<join_kind> kinds() const {
    if (few_combinations()) return {join_kind::full, join_kind::semi};
    return {all_join_kinds.begin(), all_join_kinds.end()};
  }

  // Calls f(kind) until something fails.
  template <class F>
  void for_kinds(const F& f) const {
    for (const join_kind kind : kinds()) {
      f(kind);
      if (this->HasFatalFailure()) return;
    }
  }

  void check_intervals(const side<T>& build, const side<T>& probe) const {
    const placed lower(at(), build.first);
    const placed upper(at(), build.second);
    const placed_table by(at(), build.by);
    const placed from(at(), probe.first);
    const placed to(at(), probe.second);
    const placed_table probe_by(at(), probe.by, true);
    const auto ends = [&](std::size_t b) { return std::pair(*build.first[b], *build.second[b]); };
    for (const closed_ends closed : all_closed) {
      SCOPED_TRACE("closed " + std::to_string(static_cast<int>(closed)));
      const bool begins_with = closed == closed_ends::both || closed == closed_ends::left;
      const bool ends_with = closed == closed_ends::both || closed == closed_ends::right;
      const auto tested =
          build_interval_join(tested_backend(), at(), lower.view, upper.view, by.parts, closed);
      const auto by_lower = ordered_rows(build.first);
      const found_rows containing =
          find(build, probe, by_lower, false, [&](std::size_t b, std::size_t p) {
            const auto [begin, end] = ends(b);
            const T& point = *probe.first[p];
            return less_equal(begin, end) &&
                   (begins_with ? less_equal(begin, point) : less(begin, point)) &&
                   (ends_with ? less_equal(point, end) : less(point, end));
          });
      for_kinds([&](join_kind kind) {
        SCOPED_TRACE("points");
        check(*tested->match(at(), from.view, probe_by.parts, kind), kind, containing,
              build.first.size());
      });
      std::array<found_rows, relations.size()> related;
      for (const interval_relation how : relations) {
        if (this->HasFatalFailure()) return;
        SCOPED_TRACE("relation " + std::to_string(static_cast<int>(how)));
        const auto order = how == interval_relation::within ? ordered_rows(build.second) : by_lower;
        const found_rows found = find(build, probe, order, true, [&](std::size_t b, std::size_t p) {
          const auto [begin, end] = ends(b);
          const T& first = *probe.first[p];
          const T& last = *probe.second[p];
          if (!less_equal(begin, end) || !less_equal(first, last)) return false;
          if (how == interval_relation::within)
            return less_equal(first, begin) && less_equal(end, last);
          if (how == interval_relation::encloses)
            return less_equal(begin, first) && less_equal(last, end);
          return closed == closed_ends::both ? less_equal(begin, last) && less_equal(first, end)
                                             : less(begin, last) && less(first, end);
        });
        for_kinds([&](join_kind kind) {
          check(*tested->match(at(), from.view, to.view, probe_by.parts, how, kind), kind, found,
                build.first.size());
        });
        related[static_cast<std::size_t>(how)] = found;
      }
      if (this->HasFatalFailure()) return;
      check_first(*tested, from, to, probe_by.parts, containing, related, build.first.size());
      if (this->HasFatalFailure()) return;
    }
  }

  // Of each probe row the first match alone.
  void check_first(const interval_join& tested, const placed<T>& from, const placed<T>& to,
                   const key_parts& by, const found_rows& containing,
                   const std::array<found_rows, relations.size()>& related,
                   std::size_t builds) const {
    const auto firsts = [](found_rows found) {
      for (auto& rows : found)
        rows.resize(std::min<std::size_t>(rows.size(), 1));
      return found;
    };
    for_kinds([&](join_kind kind) {
      SCOPED_TRACE("first");
      check(*tested.match(at(), from.view, by, kind, matches_taken::first), kind,
            firsts(containing), builds);
      for (std::size_t i = 0; i < relations.size(); ++i) {
        check(*tested.match(at(), from.view, to.view, by, relations[i], kind, matches_taken::first),
              kind, firsts(related[i]), builds);
      }
    });
  }

  void check_inequalities(const side<T>& build, const side<T>& probe) const {
    const placed first(at(), build.first);
    const placed second(at(), build.second);
    const placed_table by(at(), build.by);
    const placed probe_first(at(), probe.first);
    const placed probe_second(at(), probe.second);
    const placed_table probe_by(at(), probe.by, true);
    for (const comparison one : comparisons) {
      for (const comparison other : comparisons) {
        SCOPED_TRACE("comparisons " + std::to_string(static_cast<int>(one)) + " and " +
                     std::to_string(static_cast<int>(other)));
        const auto tested = build_inequality_join(tested_backend(), at(), {first.view, one},
                                                  {second.view, other}, by.parts);
        const bool descending = one == comparison::greater || one == comparison::greater_equal;
        const found_rows found = find(build, probe, ordered_rows(build.first, descending), true,
                                      [&](std::size_t b, std::size_t p) {
                                        return compares(*build.first[b], *probe.first[p], one) &&
                                               compares(*build.second[b], *probe.second[p], other);
                                      });
        for_kinds([&](join_kind kind) {
          check(*tested->match(at(), probe_first.view, probe_second.view, probe_by.parts, kind),
                kind, found, build.first.size());
        });
        if (this->HasFatalFailure()) return;
      }
    }
  }

  void check_ranges(side<T> build, const side<T>& probe) const {
    build.second = build.first;  // only one column matters
    const placed values(at(), build.first);
    const placed_table by(at(), build.by);
    const placed from(at(), probe.first);
    const placed to(at(), probe.second);
    const placed_table probe_by(at(), probe.by, true);
    const auto tested = build_range_join(tested_backend(), at(), values.view, by.parts);
    const auto order = ordered_rows(build.first);
    const auto value = [&](std::size_t b) { return *build.first[b]; };
    const found_rows in_range = find(build, probe, order, true, [&](std::size_t b, std::size_t p) {
      return less_equal(*probe.first[p], value(b)) && less_equal(value(b), *probe.second[p]);
    });
    const found_rows equal = find(build, probe, order, false, [&](std::size_t b, std::size_t p) {
      return less_equal(*probe.first[p], value(b)) && less_equal(value(b), *probe.first[p]);
    });
    for_kinds([&](join_kind kind) {
      check(*tested->match(at(), ranges(from.view, to.view), probe_by.parts, kind), kind, in_range,
            build.first.size());
      check(*tested->match(at(), points(from.view), probe_by.parts, kind), kind, equal,
            build.first.size());
    });
    for (const comparison how : comparisons) {
      if (this->HasFatalFailure()) return;
      SCOPED_TRACE("comparison " + std::to_string(static_cast<int>(how)));
      const found_rows found = find(build, probe, order, false, [&](std::size_t b, std::size_t p) {
        return compares(value(b), *probe.first[p], how);
      });
      for_kinds([&](join_kind kind) {
        check(*tested->match_compared(at(), from.view, how, probe_by.parts, kind), kind, found,
              build.first.size());
      });
    }
    if constexpr (std::is_integral_v<T>) {
      const found_rows found = find(build, probe, order, false, [&](std::size_t b, std::size_t p) {
        const auto wide = [](T number) { return static_cast<std::uint64_t>(number); };
        const T& from_probe = *probe.first[p];
        return (value(b) < from_probe ? wide(from_probe) - wide(value(b))
                                      : wide(value(b)) - wide(from_probe)) <= 40;
      });
      for_kinds([&](join_kind kind) {
        check(*tested->match_band(at(), from.view, 40, probe_by.parts, kind), kind, found,
              build.first.size());
      });
    }
  }

  void check_all(const side<T>& build, const side<T>& probe) const {
    check_intervals(build, probe);
    if (this->HasFatalFailure()) return;
    check_inequalities(build, probe);
    if (this->HasFatalFailure()) return;
    check_ranges(build, probe);
  }

  // Intervals of a few lengths, 0 among them, and, if `odd`, missing and extreme ends.
  static side<T> some(std::size_t size, const table& shape, bool odd, std::mt19937_64& random) {
    side<T> all{cells_of<T>(size), cells_of<T>(size), make_table(shape, size, 6, odd, random)};
    const std::vector<T> extremes = extreme_keys<T>();
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t begin = below(random, 500);
      const std::uint64_t lengths[] = {0, below(random, 4), below(random, 60), below(random, 600)};
      all.first[i] = static_cast<T>(begin);
      all.second[i] = static_cast<T>(begin + lengths[below(random, 4)]);
      if (!odd) continue;
      for (auto* const end : {&all.first[i], &all.second[i]}) {
        const std::uint64_t kind = below(random, 20);
        if (kind == 0) end->reset();
        if (kind == 1) *end = extremes[below(random, extremes.size())];
      }
    }
    return all;
  }

  void check_shape(const table& shape) const {
    auto random = generator();
    for (const bool odd : {false, true}) {
      SCOPED_TRACE(odd ? "missing and extreme values, too" : "plain values");
      check_all(some(200, shape, odd, random), some(70, shape, odd, random));
      if (this->HasFatalFailure()) return;
    }
    check_all(some(0, shape, false, random), some(10, shape, true, random));
    check_all(some(10, shape, true, random), some(0, shape, false, random));
  }
};

using value_types = testing::Types<std::int32_t, std::uint64_t, double>;
TYPED_TEST_SUITE(order_joins, value_types);

TYPED_TEST(order_joins, among_all_rows) {
  this->check_shape({});
}
TYPED_TEST(order_joins, by_a_number) {
  this->check_shape({cells_of<std::int32_t>{}});
}

using int64_order_joins = order_joins<std::int64_t>;
using int32_order_joins = order_joins<std::int32_t>;
using float_order_joins = order_joins<float>;

TEST_F(int64_order_joins, by_strings) {
  check_shape({cells_of<std::string>{}});
}
TEST_F(float_order_joins, by_two_columns) {
  check_shape({cells_of<bytes2>{}, cells_of<std::int64_t>{}});
}

// Values that span all 64 bits, whose ranks stand in their place.
TEST_F(int64_order_joins, by_a_long_number) {
  auto random = generator();
  const table shape{cells_of<std::int64_t>{}};
  using limits = std::numeric_limits<std::int64_t>;
  for (const bool odd : {false, true}) {
    auto build = some(200, shape, odd, random);
    build.first[0] = limits::min();
    build.second[0] = limits::max();
    check_all(build, some(70, shape, true, random));
    if (HasFatalFailure()) return;
  }
}

// Sizes about those of nodes and words.
TEST_F(int32_order_joins, of_all_sizes) {
  auto random = generator();
  for (const std::size_t size : {1U, 2U, 31U, 32U, 33U, 64U, 1023U, 1024U, 1025U}) {
    SCOPED_TRACE(std::to_string(size) + " rows");
    check_intervals(some(size, {}, false, random), some(12, {}, false, random));
    if (HasFatalFailure()) return;
  }
}

// One interval that contains all probes; probes that all intervals contain: their rows are divided
// among groups, and each has to find its first one.
TEST_F(int32_order_joins, of_many_rows_of_few_probes) {
  constexpr std::int32_t size = 70'000;
  side<std::int32_t> build;
  for (std::int32_t i = 0; i < size; ++i) {
    // Some end before the probes.
    build.first.emplace_back(-(i * 7919LL % size) - 1);
    build.second.emplace_back(i % 5 == 0 ? 0 : 10 + i % 3);
  }
  const side<std::int32_t> probe{{5, 11, -size, 5}, {5, 12, size, 9}, {}};
  const placed lower(at(), build.first);
  const placed upper(at(), build.second);
  const placed from(at(), probe.first);
  const placed to(at(), probe.second);
  const auto tested = build_interval_join(tested_backend(), at(), lower.view, upper.view);
  found_rows found(probe.size());
  for (const std::size_t b : ordered_rows(build.first)) {
    for (std::size_t p = 0; p < probe.size(); ++p) {
      if (*build.first[b] <= *probe.second[p] && *probe.first[p] <= *build.second[b])
        found[p].push_back(b);
    }
  }
  for (const join_kind kind : kinds()) {
    check(*tested->match(at(), from.view, to.view, {}, interval_relation::overlaps, kind), kind,
          found, build.first.size());
    if (HasFatalFailure()) return;
  }
}

TEST_F(int32_order_joins, of_one_interval_that_contains_all) {
  auto random = generator();
  side<std::int32_t> build = some(40, {}, false, random);
  build.first[7] = 0;
  build.second[7] = 100'000;
  side<std::int32_t> probe;
  for (std::int32_t i = 0; i < 5000; ++i) {
    probe.first.emplace_back(i);
    probe.second.emplace_back(i + i % 3);
  }
  check_intervals(build, probe);
}

// Intervals in each other, 150 deep, beside few: lists of what is open are left out in the middle,
// though a probe that few enclose is there.
TEST_F(int32_order_joins, of_nested_intervals) {
  auto random = generator();
  side<std::int32_t> build;
  side<std::int32_t> probe;
  for (std::int32_t i = 0; i < 150; ++i) {
    build.first.emplace_back(1000 + i);
    build.second.emplace_back(2000 - i);
    const auto at = static_cast<std::int32_t>(random() % 3000);
    build.first.emplace_back(at);
    build.second.emplace_back(at + static_cast<std::int32_t>(random() % 40));
  }
  for (std::int32_t i = 0; i < 120; ++i) {
    const auto at = static_cast<std::int32_t>(random() % 3000);
    probe.first.emplace_back(at);
    probe.second.emplace_back(at + static_cast<std::int32_t>(random() % (i % 2 == 0 ? 9 : 900)));
  }
  check_intervals(build, probe);
}

// Keys and values beyond what was built.
TEST_F(int64_order_joins, with_probes_out_of_all_spans) {
  using limits = std::numeric_limits<std::int64_t>;
  const table keys{cells_of<std::int64_t>{5, 5, 6, 6, 6}};
  const side<std::int64_t> build{{10, 20, 10, 15, 30}, {12, 40, 10, 60, 31}, keys};
  side<std::int64_t> probe;
  cells_of<std::int64_t> by;
  for (const std::int64_t key : {limits::min(), std::int64_t{4}, std::int64_t{5}, std::int64_t{6},
                                 std::int64_t{7}, limits::max()}) {
    for (const std::int64_t value : {limits::min(), std::int64_t{9}, std::int64_t{10},
                                     std::int64_t{30}, std::int64_t{61}, limits::max()}) {
      for (const std::int64_t end : {value, std::int64_t{30}, limits::max()}) {
        by.emplace_back(key);
        probe.first.emplace_back(value);
        probe.second.emplace_back(end);
      }
    }
  }
  probe.by = {by};
  check_all(build, probe);
}

class order_join_arguments : public backend_test {};

TEST_F(order_join_arguments, are_checked) {
  const auto three = at().upload(std::vector<std::int32_t>{1, 2, 3});
  const auto two = at().upload(std::vector<std::int32_t>{4, 5});
  const auto others = at().upload(std::vector<std::uint32_t>{4, 5, 6});
  const backend where = tested_backend();
  const key_parts by{column(three)};
  expect_error<invalid_argument>([&] { build_range_join(where, at(), column(two), by); }, {"by"});
  expect_error<invalid_argument>(
      [&] { build_interval_join(where, at(), column(three), column(three), {}, closed_ends{9}); },
      {"closed"});
  expect_error<invalid_argument>(
      [&] {
        build_inequality_join(where, at(), {column(three), comparison::less},
                              {column(two), comparison::less});
      },
      {"3", "2"});
  expect_error<invalid_argument>(
      [&] {
        build_inequality_join(where, at(), {column(three), comparison{4}},
                              {column(three), comparison::less});
      },
      {"comparison"});
  const auto tested = build_interval_join(where, at(), column(three), column(three), by);
  const auto match = [&](const auto& from, const auto& to, const key_parts& keys,
                         interval_relation how) {
    tested->match(at(), column(from), column(to), keys, how, join_kind::inner);
  };
  expect_error<invalid_argument>([&] { match(three, three, {}, interval_relation::within); },
                                 {"by"});
  expect_error<invalid_argument>(
      [&] { match(three, three, {column(others)}, interval_relation::within); }, {"uint32"});
  expect_error<invalid_argument>([&] { match(three, two, by, interval_relation::within); },
                                 {"3", "2"});
  expect_error<invalid_argument>([&] { match(three, three, by, interval_relation{3}); },
                                 {"relation"});
  const auto ranged = build_range_join(where, at(), column(three), by);
  expect_error<invalid_argument>(
      [&] { ranged->match_band(at(), column(three), -1, by, join_kind::inner); }, {"distance"});
  expect_error<invalid_argument>(
      [&] { ranged->match_compared(at(), column(three), comparison{4}, by, join_kind::inner); },
      {"comparison"});
  expect_error<invalid_argument>(
      [&] { ranged->match(at(), points(column(others)), by, join_kind::inner); }, {"uint32"});
}

}  // namespace
}  // namespace raydex::test
