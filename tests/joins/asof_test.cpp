// SPDX-License-Identifier: Apache-2.0
// As-of joins take the build row that a walk over all of them takes: in every direction, with and
// without a tolerance, among all rows and among those of a key.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/joins/tables.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {
namespace {

// How far two times are apart; NaN from nothing but itself.
template <class T>
auto distance_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool equal = !key_less{}(a, b) && !key_less{}(b, a);
    return equal ? 0.0 : static_cast<double>(std::abs(a - b));
  } else {
    const auto wide = [](T time) { return static_cast<std::uint64_t>(time); };
    return a < b ? wide(b) - wide(a) : wide(a) - wide(b);
  }
}

template <class T, class Distance>
bool is_within(Distance distance, const std::optional<key_distance>& tolerance) {
  if (!tolerance) return true;
  if constexpr (std::is_floating_point_v<T>) {
    return distance <= static_cast<T>(tolerance->real());  // NaN is not
  } else {
    return distance <= tolerance->whole();
  }
}

// Times and the keys beside them.
template <class T>
struct timed_rows {
  cells_of<T> times;
  table by;
};

// The rows that are taken.
template <class T>
std::vector<std::uint32_t> take(const timed_rows<T>& build, const timed_rows<T>& probe,
                                const asof_options& how) {
  const auto build_keys = keys_of(build.by, build.times.size());
  const auto probe_keys = keys_of(probe.by, probe.times.size());
  const bool equal_too = how.which == closeness::or_equal;
  std::vector<std::uint32_t> taken;
  for (std::size_t p = 0; p < probe.times.size(); ++p) {
    std::optional<std::size_t> before;
    std::optional<std::size_t> after;
    for (std::size_t b = 0; b < build.times.size() && probe.times[p]; ++b) {
      if (!build.times[b] || build_keys[b] != probe_keys[p] ||
          !can_match(build_keys[b], /*missing_equal=*/false))
        continue;
      const T& time = *build.times[b];
      const bool less = key_less{}(time, *probe.times[p]);
      const bool greater = key_less{}(*probe.times[p], time);
      const bool equal = !less && !greater && equal_too;
      if ((less || equal) && (!before || !key_less{}(time, *build.times[*before]))) before = b;
      if ((greater || equal) && (!after || key_less{}(time, *build.times[*after]))) after = b;
    }
    if (how.direction == asof_direction::forward) before.reset();
    if (how.direction == asof_direction::backward) after.reset();
    const auto distance = [&](std::size_t row) {
      return distance_of(*build.times[row], *probe.times[p]);
    };
    std::optional<std::size_t> row = before;
    if (after && (!before || key_less{}(distance(*after), distance(*before)))) row = after;
    if (row && !is_within<T>(distance(*row), how.tolerance)) row.reset();
    taken.push_back(row ? static_cast<std::uint32_t>(*row) : not_found<std::uint32_t>);
  }
  return taken;
}

constexpr std::array directions{asof_direction::backward, asof_direction::forward,
                                asof_direction::nearest};

template <class T>
class asof : public backend_test {
 protected:
  // Times that repeat, of which some are missing and some, if `odd`, extreme.
  static cells_of<T> times(std::size_t size, bool odd, std::mt19937_64& random) {
    cells_of<T> all(size);
    for (auto& cell : all) {
      const std::uint64_t kind = below(random, 10);
      if (kind == 0) continue;
      const std::uint64_t time = below(random, 2000);
      if constexpr (std::is_floating_point_v<T>) {
        cell = odd && kind == 1 ? value_of<T>(below(random, 6)) : static_cast<T>(time) / 4 - 200;
      } else {
        const std::vector<T> extremes = extreme_keys<T>();
        cell = odd && kind == 1 ? extremes[below(random, extremes.size())] : static_cast<T>(time);
      }
    }
    return all;
  }

  static std::vector<std::optional<key_distance>> tolerances() {
    if constexpr (std::is_floating_point_v<T>) {
      return {std::nullopt, 0, 0.25, 10, 1e30, std::numeric_limits<double>::infinity()};
    } else {
      constexpr auto most = std::numeric_limits<std::uint64_t>::max();
      return {std::nullopt, 0, 1, 25, 0x1p31, 0x1p32, 0x1p63, most - 1, 0x1p64, most / 2, most};
    }
  }

  void check(const timed_rows<T>& build, const timed_rows<T>& probe,
             key_comparison keys = key_comparison::column) const {
    const placed build_times(at(), build.times);
    const placed_table build_by(at(), build.by);
    const placed probe_times(at(), probe.times);
    const placed_table probe_by(at(), probe.by, true);
    const auto tested = build_asof_join(tested_backend(), at(), build_times.view, build_by.parts);
    EXPECT_EQ(tested->info().where, tested_backend());
    EXPECT_EQ(tested->info().keys, keys);
    buffer<std::uint32_t> out(at(), probe.times.size());
    for (const asof_direction direction : directions) {
      for (const closeness which : {closeness::or_equal, closeness::strict}) {
        for (const std::optional<key_distance>& tolerance : tolerances()) {
          SCOPED_TRACE("direction " + std::to_string(static_cast<int>(direction)) +
                       (which == closeness::strict ? ", strictly" : "") +
                       (tolerance ? ", within " + std::to_string(tolerance->real()) : ""));
          const asof_options how{.direction = direction, .which = which, .tolerance = tolerance};
          tested->match(at(), probe_times.view, probe_by.parts, how, out);
          ASSERT_EQ(at().download(out), take(build, probe, how));
        }
      }
    }
  }

  // Rows of the columns of `shape`, of few different keys.
  static timed_rows<T> rows(std::size_t size, const table& shape, bool missing,
                            std::mt19937_64& random) {
    return {times(size, true, random), make_table(shape, size, 12, missing, random)};
  }

  void check_by(const table& shape, key_comparison keys) const {
    auto random = generator();
    for (const bool missing : {false, true}) {
      SCOPED_TRACE(missing ? "some keys missing" : "all keys there");
      check(rows(300, shape, missing, random), rows(120, shape, missing, random), keys);
      if (this->HasFatalFailure()) return;
    }
    check(rows(0, shape, false, random), rows(20, shape, false, random), keys);
    check(rows(20, shape, false, random), rows(0, shape, false, random), keys);
  }
};

using time_types =
    testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(asof, time_types);

TYPED_TEST(asof, among_all_rows) {
  auto random = generator();
  for (const bool odd : {false, true}) {
    SCOPED_TRACE(odd ? "extremes, too" : "no extremes");
    this->check({this->times(400, odd, random), {}}, {this->times(200, odd, random), {}});
    if (this->HasFatalFailure()) return;
  }
  this->check({{}, {}}, {this->times(20, true, random), {}});
  this->check({this->times(20, true, random), {}}, {{}, {}});
  this->check({cells_of<TypeParam>(20), {}}, {this->times(20, true, random), {}});
  this->check({cells_of<TypeParam>(300, TypeParam{7}), {}},
              {{TypeParam{6}, TypeParam{7}, TypeParam{8}, std::nullopt}, {}});
}

using int32_asof = asof<std::int32_t>;
using int64_asof = asof<std::int64_t>;
using float_asof = asof<float>;
using double_asof = asof<double>;

TEST_F(int32_asof, by_a_number) {
  check_by({cells_of<std::int32_t>{}}, key_comparison::packed);
}
TEST_F(int32_asof, by_bytes) {
  check_by({cells_of<bytes3>{}, cells_of<bytes1>{}}, key_comparison::packed);
}
TEST_F(int32_asof, by_a_long_number) {
  check_by({cells_of<std::int64_t>{}}, key_comparison::hashed);
}
TEST_F(int64_asof, by_strings) {
  check_by({cells_of<std::string>{}}, key_comparison::hashed);
}
TEST_F(int64_asof, by_a_number) {
  check_by({cells_of<std::int64_t>{}}, key_comparison::hashed);
}
TEST_F(float_asof, by_a_number) {
  check_by({cells_of<float>{}}, key_comparison::packed);
}
TEST_F(double_asof, by_two_columns) {
  check_by({cells_of<std::int32_t>{}, cells_of<std::string>{}}, key_comparison::hashed);
}
TEST_F(double_asof, by_as_many_columns_as_there_may_be) {
  check_by(table(most_key_parts, cells_of<std::int32_t>{}), key_comparison::hashed);
}

// Differences that a signed number does not hold.
TEST_F(int64_asof, of_times_as_far_apart_as_can_be) {
  using limits = std::numeric_limits<std::int64_t>;
  const timed_rows<std::int64_t> ends{{limits::min(), limits::max()}, {}};
  const timed_rows<std::int64_t> between{{-1, 0, 1, limits::min(), limits::max()}, {}};
  check(ends, between);
  check(between, ends);
  check({{limits::max()}, {}}, {{limits::min()}, {}});
  check({{limits::min()}, {}}, {{limits::max()}, {}});
}

// More probes than are looked up at a time.
TEST_F(int32_asof, of_more_probes_than_a_stretch_has) {
  if (few_combinations()) GTEST_SKIP() << "too many probes";
  const std::int32_t keys = 100;
  timed_rows<std::int32_t> build;
  cells_of<std::int32_t> build_by;
  for (std::int32_t i = 0; i < 10 * keys; ++i) {
    build.times.emplace_back(10 * (i / keys));
    build_by.emplace_back(i % keys);
  }
  std::vector<std::int32_t> times((1 << 22) + 77);
  std::vector<std::int32_t> by(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i] = static_cast<std::int32_t>(i / keys % 100);
    by[i] = static_cast<std::int32_t>(i % keys);
  }
  const placed build_times(at(), build.times);
  const placed build_keys(at(), build_by);
  const auto times_there = at().upload(times);
  const auto by_there = at().upload(by);
  const auto tested =
      build_asof_join(tested_backend(), at(), build_times.view, key_parts{build_keys.view});
  buffer<std::uint32_t> out(at(), times.size());
  tested->match(at(), column(times_there), key_parts{column(by_there)}, {}, out);
  const auto rows = at().download(out);
  for (std::size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(rows[i], static_cast<std::uint32_t>(times[i] / 10 * keys + by[i])) << i;
}

}  // namespace
}  // namespace raydex::test
