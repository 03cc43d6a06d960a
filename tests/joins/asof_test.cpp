// SPDX-License-Identifier: Apache-2.0
// As-of joins take the build row that a walk over all of them takes: in every direction, with and
// without a tolerance, among all rows and among those of a key.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
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

__extension__ using uint128 = unsigned __int128;

// The largest distance that each probe tolerates; nothing if that is any, or none.
template <class T>
class tolerated {
 public:
  using distance = decltype(distance_of(T{}, T{}));

  explicit tolerated(const asof_options& how, const cells_of<T>& each = {})
      : how_(how), each_(each) {}

  bool operator()(std::size_t probe, const T& time, distance apart) const {
    if (how_.tolerances) return each_[probe] && is_within(apart, *each_[probe]);
    if (how_.relative_tolerance) return is_share(apart, time);
    if (!how_.tolerance) return true;
    if constexpr (std::is_floating_point_v<T>) {
      return apart <= static_cast<T>(how_.tolerance->real());  // NaN is not
    } else {
      return apart <= how_.tolerance->whole();
    }
  }

 private:
  static bool is_within(distance apart, const T& most) {
    if constexpr (std::is_floating_point_v<T>) {
      return apart <= most;
    } else {
      return most >= 0 && apart <= static_cast<std::uint64_t>(most);
    }
  }
  bool is_share(distance apart, const T& time) const {
    const double share = *how_.relative_tolerance;
    if constexpr (std::is_floating_point_v<T>) {
      const T most = static_cast<T>(share) * std::abs(time);
      return apart <= (std::isnan(most) ? T{0} : most);
    } else {
      // Those in between are a number of 53 bits over a power of two.
      const std::uint64_t number = distance_of(time, T{0});
      if (share >= 0x1p64) return apart == 0 || number != 0;
      if (share <= 0x1p-64) return apart == 0;
      int exponent = 0;
      const auto bits = static_cast<uint128>(std::ldexp(std::frexp(share, &exponent), 53));
      return uint128{apart} << (53 - exponent) <= bits * number;
    }
  }

  const asof_options& how_;
  const cells_of<T>& each_;
};

// Times and the keys beside them.
template <class T>
struct timed_rows {
  cells_of<T> times;
  table by;
};

// The rows that are taken of each probe, the closest one first.
template <class T>
found_rows take(const timed_rows<T>& build, const timed_rows<T>& probe, const asof_options& how,
                const cells_of<T>& tolerances = {}, bool missing_equal = false) {
  const auto build_keys = keys_of(build.by, build.times.size());
  const auto probe_keys = keys_of(probe.by, probe.times.size());
  const tolerated<T> tolerates(how, tolerances);
  found_rows taken(probe.times.size());
  for (std::size_t p = 0; p < probe.times.size(); ++p) {
    if (!probe.times[p]) continue;
    const T& time = *probe.times[p];
    const auto distance = [&](std::size_t row) { return distance_of(*build.times[row], time); };
    // Of one side by time; of rows of one time the last ones before the probe are closest, and the
    // first ones after it.
    std::vector<std::size_t> sides[2];
    for (std::size_t b = 0; b < build.times.size(); ++b) {
      if (!build.times[b] || build_keys[b] != probe_keys[p] ||
          !can_match(build_keys[b], missing_equal))
        continue;
      const bool less = key_less{}(*build.times[b], time);
      const bool greater = key_less{}(time, *build.times[b]);
      if (!less && !greater && how.which == closeness::strict) continue;
      const bool is_after = greater || (!less && how.direction == asof_direction::forward);
      if (how.direction == (is_after ? asof_direction::backward : asof_direction::forward))
        continue;
      if (tolerates(p, time, distance(b))) sides[is_after ? 1 : 0].push_back(b);
    }
    const auto earlier = [&](std::size_t a, std::size_t b) {
      return key_less{}(*build.times[a], *build.times[b]);
    };
    std::stable_sort(sides[0].begin(), sides[0].end(), earlier);
    std::reverse(sides[0].begin(), sides[0].end());
    std::stable_sort(sides[1].begin(), sides[1].end(), earlier);
    std::vector<std::uint64_t> all;
    std::merge(sides[0].begin(), sides[0].end(), sides[1].begin(), sides[1].end(),
               std::back_inserter(all),
               [&](std::size_t a, std::size_t b) { return key_less{}(distance(a), distance(b)); });
    if (all.size() > how.neighbours) all.resize(how.neighbours);
    taken[p] = all;
  }
  return taken;
}

// The same as a join writes them: so many for each probe.
std::vector<std::uint32_t> side_by_side(const found_rows& taken, std::uint64_t neighbours) {
  std::vector<std::uint32_t> all;
  for (const auto& rows : taken) {
    for (std::size_t n = 0; n < neighbours; ++n)
      all.push_back(n < rows.size() ? static_cast<std::uint32_t>(rows[n])
                                    : not_found<std::uint32_t>);
  }
  return all;
}

// Rows `begin` to `end` of a table.
template <class T>
timed_rows<T> part_of(const timed_rows<T>& rows, std::size_t begin, std::size_t end) {
  const auto part = [&](const auto& cells) {
    return std::decay_t<decltype(cells)>(cells.begin() + static_cast<std::ptrdiff_t>(begin),
                                         cells.begin() + static_cast<std::ptrdiff_t>(end));
  };
  timed_rows<T> some{part(rows.times), {}};
  for (const table_column& one : rows.by)
    std::visit([&](const auto& cells) { some.by.emplace_back(part(cells)); }, one);
  return some;
}

constexpr std::array directions{asof_direction::backward, asof_direction::forward,
                                asof_direction::nearest};

template <class T>
class asof : public backend_test {
 protected:
  // Times that repeat; some are missing and some, if `odd`, extreme.
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

  // What is asked of each pair of tables, and tolerances that some of it goes with.
  static std::vector<asof_options> requests() {
    std::vector<asof_options> all;
    for (const asof_direction direction : directions) {
      for (const closeness which : {closeness::or_equal, closeness::strict}) {
        for (const std::uint64_t neighbours : {1U, 3U}) {
          const asof_options how{.direction = direction, .which = which, .neighbours = neighbours};
          for (const std::optional<key_distance>& tolerance : tolerances()) {
            all.push_back(how);
            all.back().tolerance = tolerance;
          }
          for (const double share : {0.0, 0.1, 0x1p-9, 1.5, 3.0, 0x1p-70, 0x1p70}) {
            all.push_back(how);
            all.back().relative_tolerance = share;
          }
        }
      }
    }
    return all;
  }

  static std::string text_of(const asof_options& how) {
    return "direction " + std::to_string(static_cast<int>(how.direction)) +
           (how.which == closeness::strict ? ", strictly" : "") +
           (how.tolerance ? ", within " + std::to_string(how.tolerance->real()) : "") +
           (how.relative_tolerance
                ? ", within a share of " + std::to_string(*how.relative_tolerance)
                : "") +
           (how.tolerances ? ", within one each" : "") + ", " + std::to_string(how.neighbours);
  }

  void check_one(const asof_join& tested, const timed_rows<T>& build, const timed_rows<T>& probe,
                 const column& times, const key_parts& by, const asof_options& how,
                 const cells_of<T>& tolerances, bool missing_equal) const {
    SCOPED_TRACE(text_of(how));
    const found_rows expected = take(build, probe, how, tolerances, missing_equal);
    buffer<std::uint32_t> out(at(), probe.times.size() * how.neighbours);
    tested.match(at(), times, by, how, out);
    ASSERT_EQ(at().download(out), side_by_side(expected, how.neighbours));
    if (how.which == closeness::strict || how.relative_tolerance) return;
    for (const join_kind kind : join_kinds)
      check_joined(at(), *tested.match(at(), times, by, how, kind), kind, expected);
  }

  // Some of what can be asked, or all.
  void check_all(const asof_join& tested, const timed_rows<T>& build, const timed_rows<T>& probe,
                 bool some, bool missing_equal) const {
    const placed times(at(), probe.times);
    const placed_table by(at(), probe.by, true);
    const placed each(at(), probe.times);  // as good as others
    const std::uint64_t of_some = few_combinations() ? 40 : 8;
    auto random = generator(build.times.size());
    for (asof_options how : requests()) {
      if (below(random, some ? of_some : share_divisor()) != 0) continue;
      check_one(tested, build, probe, times.view, by.parts, how, {}, missing_equal);
      if (this->HasFatalFailure()) return;
      if (how.tolerance || how.relative_tolerance) continue;
      how.tolerances = each.view;
      check_one(tested, build, probe, times.view, by.parts, how, probe.times, missing_equal);
      if (this->HasFatalFailure()) return;
    }
  }

  // Keys are compared as `keys` says, if given.
  void check(const timed_rows<T>& build, const timed_rows<T>& probe,
             std::optional<key_comparison> keys = {}) const {
    const placed build_times(at(), build.times);
    const placed_table build_by(at(), build.by);
    for (const bool missing_equal : {false, true}) {
      if (missing_equal && build.by.empty()) return;
      SCOPED_TRACE(missing_equal ? "missing keys are equal" : "missing keys match nothing");
      const auto tested =
          build_asof_join(tested_backend(), at(), build_times.view, build_by.parts, missing_equal);
      EXPECT_EQ(tested->info().where, tested_backend());
      if (!missing_equal) {
        EXPECT_EQ(tested->info().keys, keys.value_or(tested->info().keys));
      }
      check_all(*tested, build, probe, missing_equal || few_combinations(), missing_equal);
      if (this->HasFatalFailure()) return;
      check_appended(build, probe, missing_equal);
      if (this->HasFatalFailure()) return;
    }
  }

  // Rows that are appended in batches of several sizes are found like those of the build.
  void check_appended(const timed_rows<T>& build, const timed_rows<T>& probe,
                      bool missing_equal) const {
    const std::size_t all = build.times.size();
    std::size_t end = all / 3;
    const timed_rows<T> first = part_of(build, 0, end);
    const placed times(at(), first.times);
    const placed_table by(at(), first.by);
    const auto tested =
        build_asof_join(tested_backend(), at(), times.view, by.parts, missing_equal);
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{1}, std::size_t{0},
                                   std::size_t{40}, std::size_t{3}, std::size_t{2}, all}) {
      const std::size_t begin = std::min(end, all);
      end = std::min(begin + size, all);
      const timed_rows<T> some = part_of(build, begin, end);
      tested->append(context(at()).stream, placed(at(), some.times).view,
                     placed_table(at(), some.by, begin % 2 == 0).parts);
      SCOPED_TRACE(std::to_string(begin) + " and " + std::to_string(end - begin) + " rows");
      check_all(*tested, part_of(build, 0, end), probe, true, missing_equal);
      if (this->HasFatalFailure()) return;
    }
    SCOPED_TRACE("from a file");
    const auto kept = asof_join_from_bytes(tested_backend(), at(), to_bytes(at(), *tested),
                                           {.verify = missing_equal});
    check_all(*kept.held, build, probe, true, missing_equal);
  }

  // Rows of the columns of `shape`, of few different keys.
  static timed_rows<T> rows(std::size_t size, const table& shape, bool missing,
                            std::mt19937_64& random) {
    return {times(size, true, random), make_table(shape, size, 12, missing, random)};
  }

  void check_by(const table& shape, std::optional<key_comparison> keys = {}) const {
    auto random = generator();
    for (const bool missing : {false, true}) {
      SCOPED_TRACE(missing ? "some keys missing" : "all keys there");
      check(rows(300, shape, missing, random), rows(120, shape, missing, random), keys);
      if (this->HasFatalFailure()) return;
    }
    check(rows(0, shape, false, random), rows(20, shape, false, random));
    check(rows(20, shape, false, random), rows(0, shape, false, random));
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

// None is missing, and NaN and the like are among them.
TYPED_TEST(asof, among_rows_that_ascend) {
  using text = cells_of<std::string>;
  using number = cells_of<std::int32_t>;
  auto random = generator();
  const auto ascending = [&](std::size_t size, const table& shape, bool missing) {
    auto made = this->rows(size, shape, missing, random);
    for (auto& time : made.times)
      time = time.value_or(TypeParam{});
    std::ranges::sort(made.times, key_less{}, [](const auto& time) { return *time; });
    return made;
  };
  const std::size_t many = small_scale() ? 100 : 300;
  const std::size_t few = small_scale() ? 40 : 120;
  for (const table& shape : {table{}, table{number{}}, table{text{}}, table{number{}, text{}},
                             table{cells_of<float>{}}, table{cells_of<bytes3>{}}}) {
    for (const bool missing : {false, true}) {
      SCOPED_TRACE(std::to_string(shape.size()) + " columns" + (missing ? ", some missing" : ""));
      this->check(ascending(many, shape, false), ascending(few, shape, missing));
      this->check(ascending(few, shape, missing), ascending(many, shape, false));
      if (this->HasFatalFailure()) return;
    }
  }
}

// Rows whose times ascend or nearly do, all valid.
template <class T>
struct ascending_rows {
  std::vector<T> times;
  std::vector<std::int32_t> keys;

  // Of the last time not after each probe's, or of the first one not before it, the row; of rows of
  // its key, if there are keys. By a search among the rows of each key.
  std::vector<std::uint32_t> take(const ascending_rows& probe, bool by_key, bool backward,
                                  bool strict) const {
    std::map<std::int32_t, std::vector<std::uint32_t>> rows_of;
    for (std::size_t row = 0; row < times.size(); ++row)
      rows_of[by_key ? keys[row] : 0].push_back(static_cast<std::uint32_t>(row));
    for (auto& [key, rows] : rows_of)
      std::ranges::stable_sort(rows, key_less{}, [&](std::uint32_t row) { return times[row]; });
    std::vector<std::uint32_t> taken;
    for (std::size_t p = 0; p < probe.times.size(); ++p) {
      const std::vector<std::uint32_t>& rows = rows_of[by_key ? probe.keys[p] : 0];
      const T time = probe.times[p];
      const auto lower =
          std::lower_bound(rows.begin(), rows.end(), time,
                           [&](std::uint32_t row, T of) { return key_less{}(times[row], of); });
      const auto upper =
          std::upper_bound(rows.begin(), rows.end(), time,
                           [&](T of, std::uint32_t row) { return key_less{}(of, times[row]); });
      const auto end = backward == strict ? lower : upper;
      const bool none = backward ? end == rows.begin() : end == rows.end();
      taken.push_back(none ? not_found<std::uint32_t> : backward ? *(end - 1) : *end);
    }
    return taken;
  }
};

// What columns that are walked along in parts may look like.
struct walked_shape {
  std::size_t build;
  std::size_t probe;
  std::uint64_t different;  // times
  std::uint64_t keys;
  bool turns = false;      // whether some times descend
  std::int32_t apart = 1;  // keys
};

template <class T>
class ascending_asof : public backend_test {
 protected:
  static ascending_rows<T> rows(std::size_t size, const walked_shape& shape,
                                std::mt19937_64& random) {
    ascending_rows<T> made;
    for (std::size_t i = 0; i < size; ++i) {
      const auto time = static_cast<T>(below(random, shape.different));
      made.times.push_back(std::is_unsigned_v<T> ? time : static_cast<T>(time - 1000));
      // The first key is met at the begin only, the second one at the end.
      const auto key = static_cast<std::int32_t>(below(random, shape.keys) + 2);
      made.keys.push_back(shape.apart * (i < 3 ? 0 : size - i < 3 ? 1 : key));
    }
    std::ranges::sort(made.times, key_less{});
    return made;
  }

  void check(const asof_join& tested, const ascending_rows<T>& build,
             const ascending_rows<T>& probe, bool by_key, int repeats = 1) const {
    const auto times = at().upload(probe.times);
    const auto keys = at().upload(probe.keys);
    key_parts by;
    if (by_key) by.emplace_back(column(keys));
    buffer<std::uint32_t> out(at(), probe.times.size());
    for (const bool backward : {true, false}) {
      for (const bool strict : {false, true}) {
        SCOPED_TRACE((backward ? "backward" : "forward") + std::string(strict ? ", strictly" : ""));
        const auto taken = build.take(probe, by_key, backward, strict);
        for (int repeat = 0; repeat < repeats; ++repeat) {
          tested.match(at(), column(times), by,
                       {.direction = backward ? asof_direction::backward : asof_direction::forward,
                        .which = strict ? closeness::strict : closeness::or_equal},
                       out);
          ASSERT_EQ(at().download(out), taken);
        }
      }
    }
  }
};

TYPED_TEST_SUITE(ascending_asof, time_types);

// Walked along on a CPU: in parts, with runs of equal times longer than these; by keys that most
// parts do not have. One build side is asked in turn by probes that ascend, that nearly do, and by
// few of them.
TYPED_TEST(ascending_asof, as_a_search_finds) {
  // Many rows are for the CPU, which walks.
  const std::size_t scale = tested_backend() == backend::cpu ? 12 : 1;
  const walked_shape shapes[] = {
      {5000, 2500, 3, 1},
      {5000, 2500, 100'000, 100},
      {2000, 5000, 50'000, 3000},
      {5000, 50, 1'000'000, 5},
      {50, 5000, 1'000'000, 7},
      {3000, 3000, 200, 20, true},
      {3000, 3000, 5000, 30, false, 1'000'003},
      {3000, 3000, 5000, 20'000, false, 1003},
      {1, 2000, 2000, 1},
      {2000, 1, 2000, 1},
  };
  auto random = generator();
  for (const walked_shape& shape : shapes) {
    if (left_to_other_runs(std::to_string(&shape - shapes) + to_string(format_of<TypeParam>)))
      continue;
    const auto scaled = [&](std::size_t rows) { return rows < 100 ? rows : scale * rows; };
    auto build = this->rows(scaled(shape.build), shape, random);
    if (shape.turns) std::swap(build.times.front(), build.times.back());
    const auto times = this->at().upload(build.times);
    const auto keys = this->at().upload(build.keys);
    for (const bool by_key : {false, true}) {
      SCOPED_TRACE(std::to_string(shape.build) + " rows, " + std::to_string(shape.probe) +
                   " probes" + (by_key ? ", by a key" : ""));
      key_parts by;
      if (by_key) by.emplace_back(column(keys));
      const auto tested = build_asof_join(tested_backend(), this->at(), column(times), by);
      auto probe = this->rows(scaled(shape.probe), shape, random);
      for (const bool turn : {false, true, false}) {
        if (turn) std::swap(probe.times[probe.times.size() / 2], probe.times.back());
        this->check(*tested, build, probe, by_key);
        if (this->HasFatalFailure()) return;
        if (turn) std::swap(probe.times[probe.times.size() / 2], probe.times.back());
      }
      const auto few = this->rows(10, shape, random);
      this->check(*tested, build, few, by_key, 3);
      if (this->HasFatalFailure()) return;
    }
  }
}

using int32_asof = asof<std::int32_t>;
using int64_asof = asof<std::int64_t>;
using float_asof = asof<float>;
using double_asof = asof<double>;

TEST_F(int32_asof, by_a_number) {
  check_by({cells_of<std::int32_t>{}});
}
TEST_F(int32_asof, by_bytes) {
  check_by({cells_of<bytes3>{}, cells_of<bytes1>{}}, key_comparison::packed);
}
TEST_F(int32_asof, by_a_long_number) {
  check_by({cells_of<std::int64_t>{}});
}
TEST_F(int64_asof, by_strings) {
  check_by({cells_of<std::string>{}}, key_comparison::hashed);
}
TEST_F(int64_asof, by_a_number) {
  check_by({cells_of<std::int64_t>{}});
}
TEST_F(float_asof, by_a_number) {
  check_by({cells_of<float>{}});
}
TEST_F(double_asof, by_two_columns) {
  check_by({cells_of<std::int32_t>{}, cells_of<std::string>{}}, key_comparison::hashed);
}
TEST_F(double_asof, by_as_many_columns_as_there_may_be) {
  check_by(table(most_key_parts, cells_of<std::int32_t>{}));
}

// Where keys or times begin, and how far they are apart.
struct spread {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t operator()(std::uint64_t number) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                     number * static_cast<std::uint64_t>(step));
  }
};

// Rows of 60 different times and of some keys.
timed_rows<std::int64_t> spread_rows(std::size_t size, bool ascend, const spread& keys,
                                     std::uint64_t different, const spread& times,
                                     std::mt19937_64& random) {
  timed_rows<std::int64_t> rows;
  cells_of<std::int64_t> by(size);
  rows.times.resize(size);
  for (auto& time : rows.times)
    time = times(below(random, 60));
  if (ascend) std::sort(rows.times.begin(), rows.times.end());
  for (auto& key : by)
    key = keys(below(random, different));
  rows.by = {by};
  return rows;
}

// Numbers are packed by what they span: to the last bit, in 32 bits and in 64; what does not fit
// goes by a table, and then by ranks of the times. Probes lie outside of these spans, too.
TEST_F(int64_asof, by_what_columns_span) {
  using limits = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t wide = std::int64_t{1} << 57;
  struct shape {
    spread keys;
    spread times;
    key_comparison how;
  };
  const shape shapes[] = {
      {{0, 1}, {1000, 10}, key_comparison::packed},
      {{-7, 3}, {-100, 1}, key_comparison::packed},
      {{0, 1}, {limits::min(), wide / 60}, key_comparison::packed},
      {{-5, 1}, {limits::max() - 59, 1}, key_comparison::packed},
      {{limits::min(), limits::max() / 4}, {0, 1}, key_comparison::hashed},
      {{0, wide / 4}, {limits::min(), wide / 60}, key_comparison::hashed},
      {{7, 0}, {limits::min(), limits::max() / 31}, key_comparison::hashed},  // one key, 64 bits
      {{limits::min(), limits::max() / 4},
       {limits::min(), limits::max() / 31},
       key_comparison::hashed},
  };
  auto random = generator();
  for (const shape& each : shapes) {
    for (const bool ascend : {false, true}) {
      SCOPED_TRACE("keys from " + std::to_string(each.keys.first) + ", times from " +
                   std::to_string(each.times.first) + (ascend ? ", ascending" : ""));
      const auto build = spread_rows(150, ascend, each.keys, 5, each.times, random);
      auto probes = spread_rows(80, ascend, each.keys, 7, each.times, random);
      for (const std::int64_t time :
           {limits::min(), limits::min() + 1, each.times(~std::uint64_t{0}), each.times(60),
            std::int64_t{0}, limits::max() - 1, limits::max()}) {
        probes.times.emplace_back(time);
        std::get<cells_of<std::int64_t>>(probes.by.front()).emplace_back(each.keys(1));
      }
      check(build, probes, each.how);
      if (HasFatalFailure()) return;
    }
  }
}

// More keys than the first table takes.
TEST_F(int64_asof, by_many_strings) {
  constexpr std::size_t size = 40000;
  cells_of<std::string> names;
  std::vector<std::int64_t> times(size);
  for (std::size_t i = 0; i < size; ++i) {
    names.emplace_back(std::to_string(i / 2 * 7919));
    times[i] = static_cast<std::int64_t>(i);
  }
  const placed_table by(at(), {names});
  const auto there = at().upload(times);
  const auto tested = build_asof_join(tested_backend(), at(), column(there), by.parts);
  EXPECT_EQ(tested->info().keys, key_comparison::hashed);
  buffer<std::uint32_t> out(at(), size);
  tested->match(at(), column(there), by.parts, {.which = closeness::strict}, out);
  const auto rows = at().download(out);
  for (std::size_t i = 0; i < size; ++i)
    ASSERT_EQ(rows[i], i % 2 == 0 ? not_found<std::uint32_t> : static_cast<std::uint32_t>(i - 1));
}

// Adds up the bytes of all allocations.
class adding_resource final : public memory_resource {
 public:
  explicit adding_resource(memory_resource& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, stream_t stream) override {
    bytes_ += bytes;
    return upstream_.allocate(bytes, stream);
  }
  void deallocate(void* memory, std::size_t bytes, stream_t stream) noexcept override {
    upstream_.deallocate(memory, bytes, stream);
  }
  memory_space space() const noexcept override { return upstream_.space(); }
  std::size_t bytes() const { return bytes_; }

 private:
  memory_resource& upstream_;
  std::size_t bytes_ = 0;
};

// Four times as many batches take four times as much, and a logarithm more; it would be sixteen
// times if each put all rows in order.
TEST_F(int64_asof, takes_rows_at_the_cost_of_the_batch) {
  const auto bytes_of = [&](std::int64_t batches) {
    constexpr std::int64_t size = 256;
    adding_resource memory(context(at()).memory);
    std::unique_ptr<asof_join> tested;
    buffer<std::int64_t> first;
    for (std::int64_t begin = 0; begin < batches * size; begin += size) {
      std::vector<std::int64_t> times(size);
      std::iota(times.begin(), times.end(), begin);
      buffer<std::int64_t> there = at().upload(times);
      if (tested) {
        tested->append(context(at()).stream, column(there));
      } else {
        first = std::move(there);
        tested = build_asof_join(tested_backend(), {memory, context(at()).stream}, column(first));
      }
    }
    const auto last = at().upload(std::vector{batches * size});
    buffer<std::uint32_t> out(at(), 1);
    tested->match(at(), column(last), {}, {}, out);
    EXPECT_EQ(at().download(out).front(), batches * size - 1);
    return memory.bytes();
  };
  EXPECT_LT(bytes_of(128), 8 * bytes_of(32));
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
