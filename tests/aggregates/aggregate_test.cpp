// SPDX-License-Identifier: Apache-2.0
// Aggregates over every structure, key type, value type and width of row ids answer as a walk over
// all rows does.
#include "raydex/aggregate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

// Cells; some may be missing.
template <class T>
struct cells {
  std::vector<T> all;
  std::vector<std::uint8_t> bits;  // empty: none is missing

  explicit cells(std::vector<T> values) : all(std::move(values)) {}
  void leave_out(std::mt19937_64& random) {
    bits.resize(all.size() / 8 + 1);
    for (std::uint8_t& byte : bits)
      byte = static_cast<std::uint8_t>(random());
  }
  bool has(std::size_t i) const { return bits.empty() || (bits[i / 8] >> (i % 8) & 1) != 0; }
};

template <class T>
struct placed {
  buffer<T> all;
  buffer<std::uint8_t> bits;

  placed(const session& at, const cells<T>& of)
      : all(at.upload(of.all)), bits(at.upload(of.bits)) {}
  column view() const { return column(all, bits.data()); }
};

template <class Key, class Value, class RowId>
struct shape {
  using key = Key;
  using value = Value;
  using row_id = RowId;
};

// Wholes of quarters, so that sums of doubles are exact; now and then something infinite.
template <class T>
T any_value(std::mt19937_64& random, bool finite) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!finite && below(random, 40) == 0) {
      const std::array unusual{std::numeric_limits<T>::infinity(),
                               -std::numeric_limits<T>::infinity(),
                               std::numeric_limits<T>::quiet_NaN()};
      return unusual[below(random, unusual.size())];
    }
    return static_cast<T>(static_cast<double>(below(random, 4000)) / 4 - 500);
  } else {
    return random_key<T>(random);
  }
}

template <class Shape>
class aggregates : public backend_test {
 protected:
  using key = typename Shape::key;
  using value = typename Shape::value;
  using row_id = typename Shape::row_id;
  using sum =
      std::conditional_t<std::is_floating_point_v<value>, double,
                         std::conditional_t<std::is_signed_v<value>, std::int64_t, std::uint64_t>>;

  struct answer {
    std::uint64_t count = 0;
    std::uint64_t values = 0;
    sum total = 0;
    long double exact = 0;     // of floating values
    std::int64_t uppers = 0;   // of integers, the upper halves; sums of both are exact
    std::uint64_t lowers = 0;  // and the lower halves
    double mean() const {
      if constexpr (std::is_floating_point_v<value>) {
        return static_cast<double>(exact / values);
      } else {
        const auto all =
            static_cast<long double>(uppers) * 0x1p32L + static_cast<long double>(lowers);
        return static_cast<double>(all / values);
      }
    }
    std::optional<value> least, most;
    row_id first = not_found<row_id>;
  };

  answer walk(const key& lower, const key& upper) const {
    answer found;
    for (std::size_t i = 0; i < keys_.all.size(); ++i) {
      if (!keys_.has(i) || key_less{}(keys_.all[i], lower) || key_less{}(upper, keys_.all[i]))
        continue;
      const row_id row = rows_[i];
      ++found.count;
      found.first = std::min(found.first, row);
      if (!values_.has(row)) continue;
      const value& one = values_.all[row];
      ++found.values;
      if constexpr (std::is_floating_point_v<value>) {
        found.total += one;
        found.exact += static_cast<long double>(one);
      } else {
        found.total = static_cast<sum>(static_cast<std::uint64_t>(found.total) +
                                       static_cast<std::uint64_t>(one));
        if constexpr (std::is_signed_v<value>) {
          found.uppers += std::int64_t{one} >> 32;
        } else {
          found.uppers += static_cast<std::int64_t>(std::uint64_t{one} >> 32);
        }
        found.lowers += static_cast<std::uint64_t>(one) & 0xffff'ffff;
      }
      if (!found.least || key_less{}(one, *found.least)) found.least = one;
      if (!found.most || key_less{}(*found.most, one)) found.most = one;
    }
    return found;
  }

  static value of_nothing(bool largest) {
    if constexpr (std::is_floating_point_v<value>) return std::numeric_limits<value>::quiet_NaN();
    return largest ? std::numeric_limits<value>::lowest() : std::numeric_limits<value>::max();
  }

  template <class T>
  static bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return a == b || (std::isnan(a) && std::isnan(b));
    return a == b;
  }

  void check(const std::string& structure, std::mt19937_64& random) const {
    SCOPED_TRACE(structure);
    const placed keys(at(), keys_);
    const placed values(at(), values_);
    const auto rows = at().upload(rows_);
    const auto built = build(structure, tested_backend(), at(), keys.view(), column(rows));
    const auto of = build_aggregate(at(), *built, values.view());
    EXPECT_EQ(of->info().entries, built->info().entries);
    EXPECT_GE(of->info().resident_bytes, of->info().entries);
    check_answers(*of, random);

    const auto file = to_bytes(at(), *of);
    for (const bool verify : {true, false}) {
      SCOPED_TRACE(verify ? "from a file, verified" : "from a file");
      const auto kept = aggregate_from_bytes(tested_backend(), at(), file, {.verify = verify});
      EXPECT_EQ(kept.held->info().resident_bytes, of->info().resident_bytes);
      check_answers(*kept.held, random);
    }
  }

  void check_answers(const aggregate& of, std::mt19937_64& random) const {
    const std::vector<key> extremes = extreme_keys<key>();
    cells<key> lower({});
    cells<key> upper({});
    for (int i = 0; i < 150; ++i) {
      const auto any = [&] {
        if (keys_.all.empty() || below(random, 8) == 0)
          return extremes[below(random, extremes.size())];
        return keys_.all[below(random, keys_.all.size())];
      };
      lower.all.push_back(any());
      upper.all.push_back(any());
      if (i % 3 != 0 && key_less{}(upper.all.back(), lower.all.back()))
        std::swap(upper.all.back(), lower.all.back());
    }
    lower.leave_out(random);
    const placed lower_there(at(), lower);
    const placed upper_there(at(), upper);
    for (const bool ranged : {false, true}) {
      const probes batch =
          ranged ? ranges(lower_there.view(), upper_there.view()) : points(lower_there.view());
      const std::uint64_t size = batch.size();
      const auto asked = [&]<class T>(T, const auto& call) {
        buffer<T> out(at(), size);
        call(out);
        return at().download(out);
      };
      const context on = at();
      const auto counts = asked(std::uint64_t{}, [&](auto& out) { of.count(on, batch, out); });
      const auto present =
          asked(std::uint64_t{}, [&](auto& out) { of.count_values(on, batch, out); });
      const auto sums = asked(sum{}, [&](auto& out) { of.sum(on, batch, out); });
      const auto means = asked(double{}, [&](auto& out) { of.mean(on, batch, out); });
      const auto minima =
          asked(value{}, [&](auto& out) { of.minimum(on, batch, value_span(out)); });
      const auto maxima =
          asked(value{}, [&](auto& out) { of.maximum(on, batch, value_span(out)); });
      const auto firsts = asked(row_id{}, [&](auto& out) { of.first(on, batch, out); });
      for (std::size_t i = 0; i < size; ++i) {
        SCOPED_TRACE((ranged ? "range " : "point ") + std::to_string(i));
        const answer wanted =
            lower.has(i) ? walk(lower.all[i], ranged ? upper.all[i] : lower.all[i]) : answer{};
        ASSERT_EQ(counts[i], wanted.count);
        ASSERT_EQ(present[i], wanted.values);
        ASSERT_TRUE(same(sums[i], wanted.total)) << sums[i] << " is not " << wanted.total;
        const double mean = wanted.mean();
        ASSERT_TRUE(same(means[i], mean) || std::abs(means[i] - mean) <= 1e-14 * std::abs(mean))
            << means[i] << " is not " << mean;
        ASSERT_TRUE(same(minima[i], wanted.least.value_or(of_nothing(false)))) << minima[i];
        ASSERT_TRUE(same(maxima[i], wanted.most.value_or(of_nothing(true)))) << maxima[i];
        ASSERT_EQ(firsts[i], wanted.first);
      }
    }
  }

  void check_all() {
    for (const capability& can : capabilities()) {
      const bool takes_keys = std::ranges::find(can.keys, format_of<key>.type) != can.keys.end();
      if (can.where != tested_backend() || !can.available || !can.ranges || !takes_keys) continue;
      auto random = generator();
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3000}}) {
        for (const bool some_missing : {false, true}) {
          SCOPED_TRACE(std::to_string(size) + (some_missing ? " rows, some missing" : " rows"));
          keys_ = cells<key>({});
          rows_.clear();
          for (std::size_t i = 0; i < size; ++i) {
            keys_.all.push_back(dense_key<key>(below(random, size)));
            rows_.push_back(static_cast<row_id>(below(random, size + 50)));
          }
          values_ = cells<value>({});
          for (std::size_t i = 0; i < size + 50; ++i)
            values_.all.push_back(any_value<value>(random, !some_missing));
          if (some_missing) {
            keys_.leave_out(random);
            values_.leave_out(random);
          }
          check(can.structure, random);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }

 private:
  cells<key> keys_{{}};
  cells<value> values_{{}};
  std::vector<row_id> rows_;
};

using shapes = testing::Types<
    shape<std::uint32_t, std::int32_t, std::uint32_t>,
    shape<std::int32_t, std::uint32_t, std::uint64_t>,
    shape<std::int64_t, std::int64_t, std::uint32_t>, shape<double, std::uint64_t, std::uint32_t>,
    shape<std::array<char, 7>, double, std::uint64_t>, shape<float, float, std::uint32_t>>;
TYPED_TEST_SUITE(aggregates, shapes);

TYPED_TEST(aggregates, answer_as_a_walk_over_all_rows) {
  this->check_all();
}

class one_aggregate : public backend_test {};

// A range of small values after huge ones: what the prefix has lost must not show.
TEST_F(one_aggregate, keeps_small_sums_behind_large_ones) {
  std::vector<std::uint32_t> keys;
  std::vector<double> values;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    keys.push_back(i);
    values.push_back(i < 1000 ? 1e15 / 3 + i : 1.0 / (i + 1));
  }
  const auto keys_there = at().upload(keys);
  const auto values_there = at().upload(values);
  const std::string structure = tested_backend() == backend::optix ? "rx" : "sorted_array";
  const auto built = build(structure, tested_backend(), at(), column(keys_there));
  const auto of = build_aggregate(at(), *built, column(values_there));
  long double exact = 0;
  for (std::uint32_t i = 1000; i < 2000; ++i)
    exact += values[i];
  const auto lower = at().upload(std::vector<std::uint32_t>{1000});
  const auto upper = at().upload(std::vector<std::uint32_t>{1999});
  buffer<double> out(at(), 1);
  of->sum(at(), ranges(column(lower), column(upper)), out);
  EXPECT_NEAR(at().download(out)[0], static_cast<double>(exact), 1e-13);
}

// What lies outside a range takes nothing from its sum, however large it is.
TEST_F(one_aggregate, keeps_sums_apart_from_values_far_away) {
  auto random = generator();
  const std::string structure = tested_backend() == backend::optix ? "rx" : "sorted_array";
  const auto sums_of = [&](const std::vector<double>& values) {
    std::vector<std::uint32_t> keys(values.size());
    std::iota(keys.begin(), keys.end(), 0U);
    const auto keys_there = at().upload(keys);
    const auto values_there = at().upload(values);
    const auto built = build(structure, tested_backend(), at(), column(keys_there));
    const auto of = build_aggregate(at(), *built, column(values_there));
    std::vector<std::uint32_t> lower = keys;
    std::vector<std::uint32_t> upper = keys;
    for (std::uint32_t i = 0; i < 200; ++i) {
      lower.push_back(static_cast<std::uint32_t>(below(random, keys.size())));
      upper.push_back(lower.back() + static_cast<std::uint32_t>(below(random, keys.size())));
    }
    const auto lower_there = at().upload(lower);
    const auto upper_there = at().upload(upper);
    buffer<double> out(at(), lower.size());
    of->sum(at(), ranges(column(lower_there), column(upper_there)), out);
    const auto got = at().download(out);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      // No two values that are not 0 or small wholes are in a sum of these inputs, or else it is
      // infinite.
      double huge = 0;
      double small = 0;
      for (std::size_t k = lower[i]; k <= upper[i] && k < values.size(); ++k)
        (std::abs(values[k]) < 1e6 ? small : huge) += values[k];
      EXPECT_EQ(got[i], huge + small) << lower[i] << " to " << upper[i];
    }
  };
  sums_of({1, 1e308, 1e308, 2, 3});
  sums_of({1e300, 1e200, 1, 2});
  for (const std::size_t size : {7U, 8U, 9U, 63U, 64U, 65U, 500U, 4097U}) {
    std::vector<double> values(size);
    for (double& one : values)
      one = static_cast<double>(below(random, 100));
    sums_of(values);
    values[below(random, size)] = 1e308;
    values[below(random, size)] = -1e200;
    sums_of(values);
  }
}

// Of which the sum of halves, or a double, has lost the last bits.
TEST_F(one_aggregate, means_of_integers_are_of_exact_sums) {
  const std::uint32_t size = small_scale() || tested_by_emulation() ? 2000 : 1 << 18;
  const std::string structure = tested_backend() == backend::optix ? "rx" : "sorted_array";
  std::vector<std::uint32_t> keys(size);
  std::iota(keys.begin(), keys.end(), 0U);
  const auto keys_there = at().upload(keys);
  const auto built = build(structure, tested_backend(), at(), column(keys_there));
  const auto lower = at().upload(std::vector<std::uint32_t>{0, 0, 1});
  const auto upper = at().upload(std::vector<std::uint32_t>{size, 0, 1});
  // Of pairs of values whose sum is as a long double holds it.
  const auto check = [&]<class Value>(Value first, Value second) {
    std::vector<Value> values(size);
    for (std::uint32_t i = 0; i < size; ++i)
      values[i] = i % 2 == 0 ? first : second;
    const auto values_there = at().upload(values);
    const auto of = build_aggregate(at(), *built, column(values_there));
    buffer<double> out(at(), 3);
    of->mean(at(), ranges(column(lower), column(upper)), out);
    const long double pair = static_cast<long double>(first) + static_cast<long double>(second);
    EXPECT_EQ(at().download(out),
              (std::vector<double>{static_cast<double>(pair * (size / 2)) / size,
                                   static_cast<double>(first), static_cast<double>(second)}));
  };
  constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max();
  check(large, 3 - large);
  check(std::int64_t{1}, std::int64_t{-1});
  check(-large, std::int64_t{5});
  check(std::numeric_limits<std::uint64_t>::max() - 7, std::uint64_t{7});
  check((std::uint64_t{1} << 40) + 1, std::uint64_t{7});
}

// More probes than are answered at a time.
TEST_F(one_aggregate, of_more_probes_than_a_stretch_has) {
  if (small_scale() || tested_by_emulation()) GTEST_SKIP() << "too many probes";
  const std::uint32_t size = 1000;
  std::vector<std::uint32_t> keys(size);
  std::vector<std::int64_t> values(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    keys[i] = i;
    values[i] = -std::int64_t{i};
  }
  std::vector<std::uint32_t> lower((1 << 23) + 77);
  for (std::uint32_t i = 0; i < lower.size(); ++i)
    lower[i] = i % size;
  std::vector<std::uint8_t> bits(lower.size() / 8 + 1, 0x7f);
  const auto keys_there = at().upload(keys);
  const auto values_there = at().upload(values);
  const auto lower_there = at().upload(lower);
  const auto upper_there = at().upload(std::vector<std::uint32_t>(lower.size(), size));
  const auto bits_there = at().upload(bits);
  const std::string structure = tested_backend() == backend::optix ? "rx" : "pivot_tree";
  const auto built = build(structure, tested_backend(), at(), column(keys_there));
  const auto of = build_aggregate(at(), *built, column(values_there));
  const probes batch = ranges(column(lower_there, bits_there.data()), column(upper_there));
  buffer<std::int64_t> sums(at(), lower.size());
  buffer<std::int64_t> minima(at(), lower.size());
  of->sum(at(), batch, sums);
  of->minimum(at(), batch, value_span(minima));
  const auto summed = at().download(sums);
  const auto least = at().download(minima);
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const bool missing = i % 8 == 7;
    const std::int64_t begin = lower[i];
    const std::int64_t expected = -(std::int64_t{size} * (size - 1) / 2 - begin * (begin - 1) / 2);
    ASSERT_EQ(summed[i], missing ? 0 : expected) << i;
    ASSERT_EQ(least[i],
              missing ? std::numeric_limits<std::int64_t>::max() : 1 - std::int64_t{size});
  }
}

}  // namespace
}  // namespace raydex::test
