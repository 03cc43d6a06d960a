// SPDX-License-Identifier: Apache-2.0
// Every structure for minima answers like the oracle: structure x options x value type x array x
// ranges, on the backend that this program was built for.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/minima/oracle.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

bool sparse() {
  return tested_by_emulation() || small_scale();
}

// The options that each structure is tested with, in addition to its defaults. Each is tested as it
// is, and with other ties, for maxima, or both.
const std::map<std::string, std::vector<option_map>>& tested_options() {
  static const std::map<std::string, std::vector<option_map>> all{
      {"rmq_cover", {{{"memory", "small"}}}},
      {"rmq_hierarchy",
       {{{"chunk", "2"}, {"cutoff", "2"}},
        {{"chunk", "4"}, {"cutoff", "9"}, {"group", "4"}},
        {{"chunk", "32"}, {"group", "32"}, {"assign", "multi"}},
        {{"load", "coalesced"}},
        {{"load", "coalesced"}, {"chunk", "8"}, {"group", "2"}, {"assign", "multi"}},
        {{"load", "coalesced"}, {"chunk", "1024"}, {"group", "1"}},
        {{"top", "rays"}, {"chunk", "4"}, {"cutoff", "100"}},
        {{"top", "rays"}, {"chunk", "32"}}}},
      {"rmq_rx", {{{"block", "32"}}, {{"block", "128"}, {"build", "trace"}}}},
  };
  return all;
}

enum class content {
  random,
  few_distinct,
  all_equal,
  extremes,
  ascending,
  descending,
  sawtooth,
  mountain
};

template <class T>
std::vector<T> make_values(content what, std::size_t size, std::mt19937_64& random) {
  const std::vector<T> extremes = extreme_keys<T>();
  const T equal = random_key<T>(random);
  const std::uint64_t period = 1 + below(random, 100);
  std::vector<T> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    switch (what) {
      case content::random:
        values[i] = random_key<T>(random);
        break;
      case content::few_distinct:
        values[i] = static_cast<T>(below(random, 4));
        break;
      case content::all_equal:
        values[i] = equal;
        break;
      case content::extremes:
        values[i] = extremes[below(random, extremes.size())];
        break;
      case content::ascending:
        values[i] = static_cast<T>(i);
        break;
      case content::descending:
        values[i] = static_cast<T>(size - i);
        break;
      case content::sawtooth:
        values[i] = static_cast<T>(i % period);
        break;
      case content::mountain:
        values[i] = static_cast<T>(std::min(i, size - 1 - i));
        break;
    }
  }
  return values;
}

struct range {
  std::uint64_t lower;
  std::uint64_t upper;
};

// All ranges of a small array; for a large one, ranges of all lengths, at its ends and at multiples
// of powers of two. Also empty ranges, and ranges that reach beyond the array. For signed types, -1
// as an unsigned number and those just below it are negative positions.
std::vector<range> make_ranges(std::uint64_t size, std::mt19937_64& random) {
  const std::uint64_t negative = ~below(random, 100);
  std::vector<range> ranges{{0, 0},
                            {1, 0},
                            {size, size},
                            {0, size},
                            {0, 2 * size},
                            {size + 5, 0},
                            {0, size / 2},
                            {negative, size},
                            {negative, size / 3},
                            {size, negative},
                            {negative, ~std::uint64_t{0}}};
  if (size == 0) return ranges;
  if (size <= (sparse() ? 33 : 70)) {
    for (std::uint64_t lower = 0; lower < size; ++lower)
      for (std::uint64_t upper = lower; upper < size; ++upper)
        ranges.push_back({lower, upper});
    return ranges;
  }
  const std::size_t count = sparse() ? 300 : 3000;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t length =
        1 + below(random, std::min(size, std::uint64_t{2} << below(random, 25)));
    std::uint64_t lower = below(random, size - length + 1);
    if (i % 4 == 0) lower &= ~std::uint64_t{0} << below(random, 20);
    if (i % 4 == 1) lower = (lower | 31) < size ? lower | 31 : lower;
    if (i % 16 == 2) lower = 0;
    if (i % 16 == 6) lower = size - length;
    ranges.push_back({lower, lower + length - 1});
  }
  return ranges;
}

template <class Position>
std::vector<Position> ends_of(const std::vector<range>& ranges) {
  std::vector<Position> ends;
  for (const auto& [lower, upper] : ranges) {
    ends.push_back(static_cast<Position>(lower));
    ends.push_back(static_cast<Position>(upper));
  }
  return ends;
}

template <class Position>
probes pairs(const buffer<Position>& ends) {
  column lower(format_of<Position>, ends.data(), ends.size() / 2);
  lower.stride = 2 * sizeof(Position);
  column upper = lower;
  upper.data = ends.data() + 1;
  return ranges(lower, upper);
}

// The position of the minimum of a range.
template <class T, class Position>
std::optional<std::uint64_t> expected(const rmq_oracle<T>& oracle, Position lower, Position upper) {
  if (lower > upper || upper < 0) return std::nullopt;
  return oracle.position(static_cast<std::uint64_t>(std::max(lower, Position{0})),
                         static_cast<std::uint64_t>(upper));
}

std::string to_text(const option_map& options) {
  std::string text;
  for (const auto& [name, value] : options)
    text += " " + name + "=" + value;
  return text;
}

// Whether the tested backend has these options.
bool is_had(const option_map& options) {
  if (!options.contains("top")) return true;
  return options.at("top") == "rays" ? tested_backend() != backend::cuda
                                     : tested_backend() == backend::optix;
}

class rmq_conformance : public backend_test {
 protected:
  template <class T, class Position>
  void check_answers(const rmq& built, const std::vector<T>& values, const rmq_oracle<T>& oracle,
                     const std::vector<range>& wanted) const {
    const std::vector<Position> host_ends = ends_of<Position>(wanted);
    const auto ends = at().upload(host_ends);
    buffer<T> minima(at(), wanted.size());
    buffer<std::uint64_t> positions(at(), wanted.size());
    const bool largest = built.info().extreme == rmq_extreme::maximum;
    largest ? built.maximum(at(), pairs(ends), value_span(minima))
            : built.minimum(at(), pairs(ends), value_span(minima));
    built.position(at(), pairs(ends), std::span(positions.data(), positions.size()));
    ASSERT_EQ(repairs(built, context(at()).stream), 0);
    const auto found_values = at().download(minima);
    const auto found_positions = at().download(positions);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto position = expected(oracle, host_ends[2 * i], host_ends[2 * i + 1]);
      const T found = found_values[i];
      if (!position) {
        ASSERT_EQ(found_positions[i], no_position) << i;
        if constexpr (std::is_floating_point_v<T>) {
          ASSERT_TRUE(std::isnan(found));
        } else {
          using limits = std::numeric_limits<T>;
          ASSERT_EQ(found, largest ? limits::lowest() : limits::max());
        }
        continue;
      }
      const auto text = [&] {
        return testing::Message() << "range " << i << ": [" << host_ends[2 * i] << ", "
                                  << host_ends[2 * i + 1] << "] of " << values.size() << " values";
      };
      ASSERT_EQ(found_positions[i], *position) << text();
      const T expected = values[*position];
      ASSERT_FALSE(key_less{}(found, expected) || key_less{}(expected, found))
          << text() << ": " << found << ", not " << expected;
      if constexpr (std::is_floating_point_v<T>) {
        ASSERT_FALSE(found == 0 && std::signbit(found));
      }
    }
  }

  template <class T>
  void check(const std::string& structure, const option_map& options, const std::vector<T>& values,
             std::size_t misaligned, std::mt19937_64& random) const {
    // The array begins `misaligned` values after a boundary, and nothing may be read beside it.
    std::vector<T> padded(misaligned);
    padded.insert(padded.end(), values.begin(), values.end());
    const auto array = at().upload(padded);
    const column cells(format_of<T>, array.data() + misaligned, values.size());
    auto built = build_rmq(structure, tested_backend(), at(), cells, options);
    // Some go through the bytes of a file.
    if (below(random, 4) == 0) {
      built = rmq_from_bytes(tested_backend(), at(), to_bytes(at(), *built),
                             {.verify = below(random, 2) == 0})
                  .held;
    }
    SCOPED_TRACE(testing::Message() << structure << to_text(options) << ", "
                                    << to_string(format_of<T>) << " x " << values.size());
    const rmq_oracle<T> oracle(
        values, options.contains("ties") ? rmq_ties::rightmost : rmq_ties::leftmost,
        options.contains("extreme") ? rmq_extreme::maximum : rmq_extreme::minimum);
    const std::vector<range> wanted = make_ranges(values.size(), random);
    switch (below(random, 4)) {
      case 0:
        return check_answers<T, std::uint32_t>(*built, values, oracle, wanted);
      case 1:
        return check_answers<T, std::uint64_t>(*built, values, oracle, wanted);
      case 2:
        return check_answers<T, std::int32_t>(*built, values, oracle, wanted);
      default:
        return check_answers<T, std::int64_t>(*built, values, oracle, wanted);
    }
  }

  // All structures and options that this backend has.
  template <class Function>
  void for_each_structure(std::mt19937_64& random, const Function& f) const {
    for (const rmq_capability& able : rmq_capabilities()) {
      if (able.where != tested_backend()) continue;
      std::vector<option_map> sets{{}};
      const auto own = tested_options().find(able.structure);
      if (own != tested_options().end())
        sets.insert(sets.end(), own->second.begin(), own->second.end());
      for (option_map& options : sets) {
        if (!is_had(options)) continue;
        f(able.structure, options);
        const std::uint64_t changed = below(random, 3);
        if (changed != 0) options["ties"] = "rightmost";
        if (changed != 1) options["extreme"] = "maximum";
        f(able.structure, options);
      }
    }
  }

  template <class T>
  void check_type(std::uint64_t salt) const {
    auto random = generator(salt);
    const std::vector<std::size_t> sizes =
        sparse()
            ? std::vector<std::size_t>{0, 1, 2, 7, 31, 33, 70, 1025, 5000}
            : std::vector<std::size_t>{0,   1,   2,   3,    4,    5,    8,    15,    16,    17,
                                       31,  32,  33,  63,   64,   65,   70,   127,   128,   129,
                                       511, 512, 513, 1023, 1024, 1025, 4099, 16384, 33333, 100001};
    for (const std::size_t size : sizes) {
      for (const content what :
           {content::random, content::few_distinct, content::all_equal, content::extremes,
            content::ascending, content::descending, content::sawtooth, content::mountain}) {
        if (size > 1000 && below(random, 3) != 0 && sparse()) continue;
        if (below(random, share_divisor()) != 0) continue;
        const std::vector<T> values = make_values<T>(what, size, random);
        const std::size_t misaligned = below(random, 16 / sizeof(T));
        for_each_structure(random, [&](const std::string& structure, const option_map& options) {
          check(structure, options, values, misaligned, random);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
};

TEST_F(rmq_conformance, float_values) {
  check_type<float>(1);
}
TEST_F(rmq_conformance, double_values) {
  check_type<double>(2);
}
TEST_F(rmq_conformance, int32_values) {
  check_type<std::int32_t>(3);
}
TEST_F(rmq_conformance, uint32_values) {
  check_type<std::uint32_t>(4);
}
TEST_F(rmq_conformance, int64_values) {
  check_type<std::int64_t>(5);
}
TEST_F(rmq_conformance, uint64_values) {
  check_type<std::uint64_t>(6);
}

}  // namespace
}  // namespace raydex::test
