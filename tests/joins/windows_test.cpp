// SPDX-License-Identifier: Apache-2.0
// Window joins aggregate, for each probe row, the build rows that a walk over all of them finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/window_join.hpp"
#include "tests/joins/tables.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

template <class Time, class Value>
struct shape {
  using time = Time;
  using value = Value;
};

// Rows with a time, a key and, on the build side, a value.
template <class Time, class Value>
struct side {
  cells_of<Time> times;
  cells_of<Value> values;
  table by;

  std::size_t size() const { return times.size(); }
};

constexpr std::array all_closed{closed_ends::both, closed_ends::left, closed_ends::right,
                                closed_ends::neither};

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a == b || (std::isnan(a) && std::isnan(b));
  return a == b;
}

template <class Shape>
class windows : public backend_test {
 protected:
  using time = typename Shape::time;
  using value = typename Shape::value;
  using rows = side<time, value>;
  using sum =
      std::conditional_t<std::is_floating_point_v<value>, double,
                         std::conditional_t<std::is_signed_v<value>, std::int64_t, std::uint64_t>>;

  struct answer {
    std::vector<std::size_t> rows;  // by time, then by row
    sum total = 0;
    double mean = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t argmin = not_found<std::uint64_t>;
    std::uint64_t argmax = not_found<std::uint64_t>;
  };

  // Whether a time lies within a distance on one side of a probe, as `time_window` says.
  static bool is_near(time from, time to, const key_distance& distance, bool closed) {
    if constexpr (std::is_integral_v<time>) {
      const std::uint64_t apart =
          static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);  // from <= to
      if (std::isinf(distance.real())) return true;
      return closed ? apart <= distance.whole() : apart < distance.whole();
    } else {
      if (std::isinf(distance.real())) return true;
      const time apart = from == to ? time{0} : to - from;
      const auto most = static_cast<time>(distance.real());
      return closed ? apart <= most : apart < most;
    }
  }
  static bool is_near(time of_build, time of_probe, const time_window& window) {
    if constexpr (std::is_floating_point_v<time>) {
      if (std::isnan(of_build) || std::isnan(of_probe)) return false;
    }
    const bool at_left = window.closed == closed_ends::both || window.closed == closed_ends::left;
    const bool at_right = window.closed == closed_ends::both || window.closed == closed_ends::right;
    return (of_build > of_probe || is_near(of_build, of_probe, window.before, at_left)) &&
           (of_build < of_probe || is_near(of_probe, of_build, window.after, at_right));
  }

  // `is_in(build row, probe row)` says which rows a window has.
  template <class IsIn>
  static std::vector<answer> walk(const rows& build, const rows& probe, const IsIn& is_in) {
    const auto build_keys = keys_of(build.by, build.size());
    const auto probe_keys = keys_of(probe.by, probe.size());
    std::vector<std::size_t> order;
    for (std::size_t b = 0; b < build.size(); ++b) {
      if (build.times[b] && build.values[b]) order.push_back(b);
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return key_less{}(*build.times[a], *build.times[b]);
    });
    std::vector<answer> answers(probe.size());
    for (std::size_t p = 0; p < probe.size(); ++p) {
      if (!probe.times[p] || !can_match(probe_keys[p], false)) continue;
      answer& found = answers[p];
      for (const std::size_t b : order) {
        if (build_keys[b] == probe_keys[p] && is_in(b, p)) found.rows.push_back(b);
      }
      summarise(build.values, found);
    }
    return answers;
  }

  static void summarise(const cells_of<value>& values, answer& found) {
    long double upper = 0;  // exact, as the lower halves are
    long double lower = 0;
    for (const std::size_t row : found.rows) {
      const value one = *values[row];
      if constexpr (std::is_floating_point_v<value>) {
        found.total += one;
        upper += one;
      } else {
        found.total = static_cast<sum>(static_cast<std::uint64_t>(found.total) +
                                       static_cast<std::uint64_t>(one));
        upper += static_cast<long double>(static_cast<sum>(one) >> 32) * 0x1p32L;
        lower += static_cast<long double>(static_cast<std::uint64_t>(one) & 0xffff'ffff);
      }
      if (found.argmin == not_found<std::uint64_t> || key_less{}(one, *values[found.argmin]))
        found.argmin = row;
      if (found.argmax == not_found<std::uint64_t> || key_less{}(*values[found.argmax], one))
        found.argmax = row;
    }
    if (!found.rows.empty())
      found.mean =
          static_cast<double>((upper + lower) / static_cast<long double>(found.rows.size()));
  }

  static value of_nothing(bool largest) {
    if constexpr (std::is_floating_point_v<value>) return std::numeric_limits<value>::quiet_NaN();
    return largest ? std::numeric_limits<value>::lowest() : std::numeric_limits<value>::max();
  }

  template <class T, class Ask>
  std::vector<T> asked(std::uint64_t size, const Ask& ask) const {
    buffer<T> out(at(), size);
    ask(out);
    return at().download(out);
  }

  void check_windows(const windowed& tested, const rows& build,
                     const std::vector<answer>& expected) const {
    const std::uint64_t size = expected.size();
    ASSERT_EQ(tested.size(), size);
    const auto counts = asked<std::uint64_t>(size, [&](auto& out) { tested.count(at(), out); });
    const auto sums = asked<sum>(size, [&](auto& out) { tested.sum(at(), out); });
    const auto means = asked<double>(size, [&](auto& out) { tested.mean(at(), out); });
    const auto values = [&](auto ask) {
      return asked<value>(size, [&](auto& out) { (tested.*ask)(at(), value_span(out)); });
    };
    const auto narrow = [&](auto ask) {
      return asked<std::uint32_t>(size, [&](auto& out) { (tested.*ask)(at(), out); });
    };
    const auto wide = [&](auto ask) {
      return asked<std::uint64_t>(size, [&](auto& out) { (tested.*ask)(at(), out); });
    };
    const auto minima = values(&windowed::minimum);
    const auto maxima = values(&windowed::maximum);
    const auto firsts = values(&windowed::first);
    const auto lasts = values(&windowed::last);
    const auto argmins = wide(&windowed::argmin);
    const auto argmaxs = narrow(&windowed::argmax);
    const auto first_rows = narrow(&windowed::first_row);
    const auto last_rows = wide(&windowed::last_row);
    const auto value_at = [&](std::uint64_t row, bool largest) {
      return row == not_found<std::uint64_t> ? of_nothing(largest) : *build.values[row];
    };
    for (std::size_t i = 0; i < size; ++i) {
      SCOPED_TRACE("probe " + std::to_string(i));
      const answer& wanted = expected[i];
      const bool any = !wanted.rows.empty();
      const std::uint64_t first = any ? wanted.rows.front() : not_found<std::uint64_t>;
      const std::uint64_t last = any ? wanted.rows.back() : not_found<std::uint64_t>;
      ASSERT_EQ(counts[i], wanted.rows.size());
      ASSERT_TRUE(same(sums[i], wanted.total)) << sums[i] << " is not " << wanted.total;
      ASSERT_TRUE(same(means[i], wanted.mean) ||
                  std::abs(means[i] - wanted.mean) <= 1e-14 * std::abs(wanted.mean))
          << means[i] << " is not " << wanted.mean;
      ASSERT_TRUE(same(minima[i], value_at(wanted.argmin, false))) << minima[i];
      ASSERT_TRUE(same(maxima[i], value_at(wanted.argmax, true))) << maxima[i];
      ASSERT_TRUE(same(firsts[i], value_at(first, false))) << firsts[i];
      ASSERT_TRUE(same(lasts[i], value_at(last, false))) << lasts[i];
      ASSERT_EQ(argmins[i], wanted.argmin);
      ASSERT_EQ(argmaxs[i], static_cast<std::uint32_t>(wanted.argmax));
      ASSERT_EQ(first_rows[i], static_cast<std::uint32_t>(first));
      ASSERT_EQ(last_rows[i], last);
    }
  }

  static std::vector<time_window> distances() {
    std::vector<time_window> all{{0, 0}, {3, 0}, {0, 40}, {7, 60}, {INFINITY, 2}};
    if constexpr (std::is_floating_point_v<time>) {
      all.push_back({0.3, 4.1});
      all.push_back({std::numeric_limits<time>::max(), INFINITY});
    } else {
      all.push_back({std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<time>::max()});
    }
    return all;
  }

  void check_all(const rows& build, const rows& probe) const {
    const placed times(at(), build.times);
    const placed values(at(), build.values);
    const placed_table by(at(), build.by);
    const placed probe_times(at(), probe.times);
    const placed_table probe_by(at(), probe.by, true);
    const auto tested =
        build_window_join(tested_backend(), at(), times.view, by.parts, values.view);
    for (const time_window& distance : distances()) {
      for (const closed_ends closed : all_closed) {
        if (few_combinations() && closed == closed_ends::left) continue;
        SCOPED_TRACE(testing::Message()
                     << distance.before.real() << " before, " << distance.after.real()
                     << " after, closed " << static_cast<int>(closed));
        time_window window = distance;
        window.closed = closed;
        check_windows(*tested->match(at(), probe_times.view, probe_by.parts, window), build,
                      walk(build, probe, [&](std::size_t b, std::size_t p) {
                        return is_near(*build.times[b], *probe.times[p], window);
                      }));
        if (this->HasFatalFailure()) return;
      }
    }
    // Of the build rows themselves.
    for (const time_window& distance : distances()) {
      for (const closed_ends closed : all_closed) {
        SCOPED_TRACE(testing::Message()
                     << "own rows, " << distance.before.real() << " before, "
                     << distance.after.real() << " after, closed " << static_cast<int>(closed));
        time_window window = distance;
        window.closed = closed;
        check_windows(*tested->match_own(at(), times.view, by.parts, window), build,
                      walk(build, build, [&](std::size_t b, std::size_t p) {
                        return is_near(*build.times[b], *build.times[p], window);
                      }));
        if (this->HasFatalFailure()) return;
      }
    }
    // Ranges; some are reversed.
    cells_of<time> ends = probe.times;
    if (!ends.empty()) std::ranges::rotate(ends, ends.begin() + 1);
    const placed probe_ends(at(), ends);
    const auto ranged =
        tested->match(at(), ranges(probe_times.view, probe_ends.view), probe_by.parts);
    check_windows(*ranged, build, walk(build, probe, [&](std::size_t b, std::size_t p) {
      return ends[p] && !key_less{}(*build.times[b], *probe.times[p]) &&
             !key_less{}(*ends[p], *build.times[b]);
    }));
  }

  // Times with ties and, if `odd`, missing and extreme cells. Floating values are wholes of
  // quarters, so that sums of them are exact.
  static rows some(std::size_t size, const table& shape, bool odd, std::mt19937_64& random) {
    rows all{cells_of<time>(size), cells_of<value>(size), make_table(shape, size, 6, odd, random)};
    const std::vector<time> times = extreme_keys<time>();
    const std::vector<value> values = extreme_keys<value>();
    for (std::size_t i = 0; i < size; ++i) {
      all.times[i] = static_cast<time>(below(random, 300));
      all.values[i] = static_cast<value>(static_cast<double>(below(random, 4000)) / 4);
      if (!odd) continue;
      const std::uint64_t kind = below(random, 20);
      if (kind == 0) all.times[i].reset();
      if (kind == 1) all.times[i] = times[below(random, times.size())];
      if (kind == 2) all.values[i].reset();
      if (kind == 3 && std::is_integral_v<value>)
        all.values[i] = values[below(random, values.size())];
      if constexpr (std::is_floating_point_v<value>) {
        using limits = std::numeric_limits<value>;
        const std::array unusual{limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                                 -value{0}};
        if (below(random, 60) == 0) all.values[i] = unusual[below(random, unusual.size())];
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

using shapes = testing::Types<shape<std::int32_t, float>, shape<std::uint32_t, std::uint64_t>,
                              shape<std::int64_t, std::int64_t>, shape<std::uint64_t, std::int32_t>,
                              shape<float, std::uint32_t>, shape<double, double>>;
TYPED_TEST_SUITE(windows, shapes);

TYPED_TEST(windows, among_all_rows) {
  this->check_shape({});
}
TYPED_TEST(windows, by_a_number) {
  this->check_shape({cells_of<std::int32_t>{}});
}

using int64_windows = windows<shape<std::int64_t, double>>;
using int32_windows = windows<shape<std::int32_t, std::int32_t>>;

TEST_F(int32_windows, by_strings) {
  check_shape({cells_of<std::string>{}});
}
TEST_F(int64_windows, by_two_columns) {
  check_shape({cells_of<bytes2>{}, cells_of<std::int64_t>{}});
}

// Times that span all 64 bits, whose ranks stand in their place.
TEST_F(int64_windows, by_a_long_number) {
  auto random = generator();
  const table shape{cells_of<std::int64_t>{}};
  using limits = std::numeric_limits<std::int64_t>;
  for (const bool odd : {false, true}) {
    auto build = some(200, shape, odd, random);
    build.times[0] = limits::min();
    build.times[1] = limits::max();
    check_all(build, some(70, shape, true, random));
    if (HasFatalFailure()) return;
  }
}

// Keys and times beyond what was built, at the ends of their types.
TEST_F(int64_windows, of_probes_out_of_all_spans) {
  using limits = std::numeric_limits<std::int64_t>;
  const rows build{{10, 20, 10, 15, 30}, {1, 2, 4, 8, 16}, {cells_of<std::int64_t>{5, 5, 6, 6, 6}}};
  rows probe;
  cells_of<std::int64_t> by;
  for (const std::int64_t key : {limits::min(), std::int64_t{4}, std::int64_t{5}, std::int64_t{6},
                                 std::int64_t{7}, limits::max()}) {
    for (const std::int64_t at_time :
         {limits::min(), limits::min() + 6, std::int64_t{9}, std::int64_t{10}, std::int64_t{30},
          std::int64_t{37}, std::int64_t{61}, limits::max() - 6, limits::max()}) {
      by.emplace_back(key);
      probe.times.emplace_back(at_time);
    }
  }
  probe.by = {by};
  check_all(build, probe);
}

// More probe rows than are looked at in one go.
TEST_F(int32_windows, of_many_probe_rows) {
  if (few_combinations()) GTEST_SKIP() << "too many probe rows";
  constexpr std::int32_t size = 1000;
  std::vector<std::int32_t> times(size);
  for (std::int32_t i = 0; i < size; ++i)
    times[static_cast<std::size_t>(i)] = i * 7 % size;
  std::vector<std::int32_t> asked_times((std::size_t{1} << 22) + 77);
  for (std::size_t i = 0; i < asked_times.size(); ++i)
    asked_times[i] = static_cast<std::int32_t>(i % size);
  const std::vector<std::uint8_t> bits(asked_times.size() / 8 + 1, 0x7f);
  const auto times_there = at().upload(times);
  const auto probes_there = at().upload(asked_times);
  const auto bits_there = at().upload(bits);
  const column times_of_probes(probes_there, bits_there.data());
  const auto tested =
      build_window_join(tested_backend(), at(), column(times_there), {}, column(times_there));
  const auto found = tested->match(at(), times_of_probes, {}, {.before = 9});
  const auto sums = asked<std::int64_t>(found->size(), [&](auto& out) { found->sum(at(), out); });
  const auto least =
      asked<std::int32_t>(found->size(), [&](auto& out) { found->minimum(at(), value_span(out)); });
  const auto most =
      asked<std::uint32_t>(found->size(), [&](auto& out) { found->argmax(at(), out); });
  for (std::size_t i = 0; i < asked_times.size(); ++i) {
    const bool missing = i % 8 == 7;
    const std::int32_t last = asked_times[i];
    const std::int32_t first = std::max(0, last - 9);
    ASSERT_EQ(sums[i], missing ? 0 : (first + last) * (last - first + 1) / 2) << i;
    ASSERT_EQ(least[i], missing ? std::numeric_limits<std::int32_t>::max() : first) << i;
    ASSERT_TRUE(missing ? most[i] == not_found<std::uint32_t> : times[most[i]] == last) << i;
  }
}

class window_arguments : public backend_test {};

TEST_F(window_arguments, are_checked) {
  const backend where = tested_backend();
  const auto three = at().upload(std::vector<std::int32_t>{1, 2, 3});
  const auto two = at().upload(std::vector<std::int32_t>{4, 5});
  const auto others = at().upload(std::vector<std::uint32_t>{4, 5, 6});
  const auto bytes = at().upload(std::vector<bytes2>(3));
  const key_parts by{column(three)};
  const auto refuse_build = [&](const column& times, const key_parts& keys, const column& values,
                                const std::vector<std::string>& parts) {
    expect_error<invalid_argument>([&] { build_window_join(where, at(), times, keys, values); },
                                   parts);
  };
  refuse_build(column(bytes), {}, column(three), {"times", "bytes"});
  refuse_build(column(three), {}, column(bytes), {"values", "bytes"});
  refuse_build(column(three), {}, column(two), {"values", "2", "3"});
  refuse_build(column(two), by, column(two), {"by"});

  const auto tested = build_window_join(where, at(), column(three), by, column(others));
  EXPECT_EQ(tested->info().entries, 3U);
  EXPECT_GT(tested->info().resident_bytes, 0U);
  const auto refuse = [&](const column& times, const key_parts& keys, const time_window& window,
                          const std::vector<std::string>& parts) {
    expect_error<invalid_argument>([&] { tested->match(at(), times, keys, window); }, parts);
  };
  refuse(column(others), by, {}, {"times", "uint32"});
  refuse(column(three), {}, {}, {"by"});
  refuse(column(two), by, {}, {"by", "3", "2"});
  refuse(column(three), by, {.before = -1}, {"before", "-1"});
  refuse(column(three), by, {.after = 0.5}, {"after", "0.5"});
  refuse(column(three), by, {.closed = closed_ends{4}}, {"closed"});

  expect_error<invalid_argument>([&] { tested->match(at(), points(column(three)), by); },
                                 {"ranges", "points"});
  expect_error<invalid_argument>(
      [&] { tested->match(at(), ranges(column(three), column(two)), by); }, {"3", "2"});
  expect_error<invalid_argument>([&] { tested->match_own(at(), column(two), {column(two)}, {}); },
                                 {"times", "2", "3"});
  const auto found = tested->match(at(), column(three), by, time_window{});
  buffer<std::uint64_t> room(at(), 3);
  buffer<std::uint64_t> little(at(), 2);
  buffer<std::int64_t> sums(at(), 3);
  buffer<float> floats(at(), 3);
  expect_error<invalid_argument>([&] { found->count(at(), little); }, {"out", "2", "3"});
  expect_error<invalid_argument>([&] { found->argmin(at(), little); }, {"out", "2", "3"});
  expect_error<invalid_argument>([&] { found->sum(at(), sums); }, {"uint32", "int32 or int64"});
  expect_error<invalid_argument>([&] { found->minimum(at(), value_span(floats)); },
                                 {"out", "float", "uint32"});

  const auto bare = build_window_join(where, at(), column(three), by);
  const auto rows = bare->match(at(), column(three), by, {.before = 1, .after = 1});
  rows->count(at(), room);
  EXPECT_EQ(at().download(room), (std::vector<std::uint64_t>{1, 1, 1}));
  rows->last_row(at(), room);
  EXPECT_EQ(at().download(room), (std::vector<std::uint64_t>{0, 1, 2}));
  expect_error<unsupported>([&] { rows->sum(at(), room); }, {"without values"});
  expect_error<unsupported>([&] { rows->argmax(at(), room); }, {"without values"});

  const auto of_none = build_window_join(where, at(), column(three), by, column(others),
                                         {.sums = false, .minima = false, .maxima = false});
  const auto none = of_none->match(at(), column(three), by, time_window{});
  buffer<double> means(at(), 3);
  buffer<std::uint32_t> values(at(), 3);
  expect_error<unsupported>([&] { none->sum(at(), room); }, {"sums"});
  expect_error<unsupported>([&] { none->mean(at(), means); }, {"sums"});
  expect_error<unsupported>([&] { none->first(at(), value_span(values)); }, {"minima"});
  expect_error<unsupported>([&] { none->maximum(at(), value_span(values)); }, {"maxima"});
}

}  // namespace
}  // namespace raydex::test
