// SPDX-License-Identifier: Apache-2.0
// Joins when calls fail: the error is raydex's own, nothing leaks, and the same call succeeds
// after that.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raydex/interval_coverage.hpp"
#include "raydex/join.hpp"
#include "raydex/nearest_join.hpp"
#include "raydex/order_join.hpp"
#include "raydex/raydex.hpp"
#include "raydex/window_join.hpp"
#include "tests/failures/sweep.hpp"

namespace raydex::test {
namespace {

using row = std::uint32_t;
using pairs = std::vector<std::pair<row, row>>;

class failing_joins : public failures {
 protected:
  void SetUp() override {
    failures::SetUp();
    if (IsSkipped()) return;
    meter_.emplace(context(at()).memory);
    for (std::int64_t& key : build_keys_)
      key = static_cast<std::int64_t>(below(random_, 400));
    for (std::int64_t& key : probe_keys_)
      key = static_cast<std::int64_t>(below(random_, 500));
    build_ = at().upload(build_keys_);
    probe_ = at().upload(probe_keys_);
  }

  context metered() const { return {*meter_, context(at()).stream}; }

  // The pairs of rows that `matches(build key, probe key)` holds for.
  template <class Predicate>
  pairs find(const Predicate& matches) const {
    std::vector<std::pair<std::int64_t, row>> entries;
    for (row i = 0; i < build_keys_.size(); ++i)
      entries.emplace_back(build_keys_[i], i);
    std::sort(entries.begin(), entries.end());
    pairs all;
    for (row i = 0; i < probe_keys_.size(); ++i) {
      for (const auto& [key, build_row] : entries) {
        if (matches(key, probe_keys_[i])) all.emplace_back(i, build_row);
      }
    }
    return all;
  }

  pairs rows_of(const joined& found) const {
    buffer<row> probe_rows(at(), found.size());
    buffer<row> build_rows(at(), found.size());
    found.rows(at(), gather_maps(probe_rows, build_rows));
    const auto probes = at().download(probe_rows);
    const auto builds = at().download(build_rows);
    pairs all;
    for (std::size_t i = 0; i < probes.size(); ++i)
      all.emplace_back(probes[i], builds[i]);
    return all;
  }

  // Makes `build` fail, then `match(join)`, whose rows are known.
  template <class Build, class Match>
  void check(const std::string& name, const Build& build, const Match& match,
             const pairs& expected) {
    SCOPED_TRACE(name);
    decltype(build()) built;
    fail_in_turn(
        "build", [&] { built = build(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
        [&] {
          EXPECT_EQ(rows_of(*match(*built)), expected);
          built.reset();
        });
    built = build();
    const std::size_t bytes = meter_->current();
    std::unique_ptr<joined> found;
    fail_in_turn(
        "match", [&] { found = match(*built); },
        [&] {
          EXPECT_EQ(meter_->current(), bytes);
          EXPECT_EQ(rows_of(*match(*built)), expected);
        },
        [&] {
          EXPECT_EQ(rows_of(*found), expected);
          found.reset();
        });
    built.reset();
    EXPECT_EQ(meter_->current(), 0);
  }

  std::mt19937_64 random_ = generator();
  mutable std::optional<tracking_resource> meter_;
  std::vector<std::int64_t> build_keys_ = std::vector<std::int64_t>(1000);
  std::vector<std::int64_t> probe_keys_ = std::vector<std::int64_t>(300);
  buffer<std::int64_t> build_;
  buffer<std::int64_t> probe_;
};

class failing_equal_joins : public failing_joins,
                            public testing::WithParamInterface<std::string> {};

std::vector<std::string> structures() {
  std::vector<std::string> all;
  for (const capability& can : capabilities())
    if (can.where == tested_backend()) all.push_back(can.structure);
  return all;
}

INSTANTIATE_TEST_SUITE_P(structures, failing_equal_joins, testing::ValuesIn(structures()),
                         [](const auto& tested) { return tested.param; });

// Of one column and of two, which are hashed; no hashes are dense.
TEST_P(failing_equal_joins, match) {
  const pairs expected = find([](std::int64_t a, std::int64_t b) { return a == b; });
  for (const std::size_t columns : {std::size_t{1}, std::size_t{2}}) {
    if (columns == 2 && GetParam() == "direct") continue;
    // Made here, where nothing fails.
    const key_parts build_key(columns, column(build_));
    const key_parts probe_key(columns, column(probe_));
    const join_options options{.structure = GetParam()};
    check(
        std::to_string(columns) + " columns",
        [&] { return build_join(tested_backend(), metered(), build_key, options); },
        [&](const join& built) { return built.match(metered(), probe_key, join_kind::inner); },
        expected);
    if (HasFailure()) return;
  }
}

TEST_F(failing_joins, of_two_tables) {
  const pairs expected = find([](std::int64_t a, std::int64_t b) { return a == b; });
  for (const std::size_t columns : {std::size_t{1}, std::size_t{2}}) {
    SCOPED_TRACE(columns);
    const key_parts build_key(columns, column(build_));
    const key_parts probe_key(columns, column(probe_));
    std::unique_ptr<joined> found;
    fail_in_turn(
        "match",
        [&] {
          found = match_tables(tested_backend(), metered(), build_key, probe_key, join_kind::inner);
        },
        [&] { EXPECT_EQ(meter_->current(), 0); },
        [&] {
          EXPECT_EQ(rows_of(*found), expected);
          found.reset();
        });
    EXPECT_EQ(meter_->current(), 0);
  }
}

// Build rows without a match come last.
TEST_F(failing_joins, with_unmatched_rows) {
  const key_parts build_key{column(build_)};
  const key_parts probe_key{column(probe_)};
  const auto equal = [](std::int64_t a, std::int64_t b) { return a == b; };
  pairs expected = find(equal);
  for (row i = 0; i < build_keys_.size(); ++i) {
    if (std::ranges::find(probe_keys_, build_keys_[i]) == probe_keys_.end())
      expected.emplace_back(not_found<row>, i);
  }
  check(
      "right", [&] { return build_join(tested_backend(), metered(), build_key); },
      [&](const join& built) { return built.match(metered(), probe_key, join_kind::right); },
      expected);
}

TEST_F(failing_joins, by_distance) {
  const key_parts build_key{column(build_)};
  check(
      "band", [&] { return build_join(tested_backend(), metered(), build_key); },
      [&](const join& built) {
        return built.match_band(metered(), column(probe_), 2, join_kind::inner);
      },
      find([](std::int64_t a, std::int64_t b) { return b - 2 <= a && a <= b + 2; }));
}

TEST_F(failing_joins, of_intervals) {
  check(
      "intervals of one point",
      [&] {
        return build_interval_join(tested_backend(), metered(), column(build_), column(build_));
      },
      [&](const interval_join& built) {
        return built.match(metered(), column(probe_), join_kind::inner);
      },
      find([](std::int64_t a, std::int64_t b) { return a == b; }));
}

TEST_F(failing_joins, of_closest_times) {
  const key_parts build_key{column(build_)};
  const key_parts probe_key{column(probe_)};
  const auto build = [&] {
    return build_asof_join(tested_backend(), metered(), column(build_), build_key);
  };
  std::vector<row> expected;
  for (const std::int64_t key : probe_keys_) {
    // The last one with this time.
    const auto found = std::find(build_keys_.rbegin(), build_keys_.rend(), key);
    expected.push_back(found == build_keys_.rend()
                           ? not_found<row>
                           : static_cast<row>(build_keys_.rend() - found - 1));
  }
  buffer<row> out(at(), expected.size());
  const auto match = [&](const asof_join& built) {
    built.match(metered(), column(probe_), probe_key, {.direction = asof_direction::nearest}, out);
  };
  std::unique_ptr<asof_join> built;
  fail_in_turn(
      "build", [&] { built = build(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        match(*built);
        EXPECT_EQ(at().download(out), expected);
        built.reset();
      });
  built = build();
  const std::size_t bytes = meter_->current();
  fail_in_turn(
      "match", [&] { match(*built); }, [&] { EXPECT_EQ(meter_->current(), bytes); },
      [&] { EXPECT_EQ(at().download(out), expected); });
  std::vector<row> behind = expected;
  for (row& one : behind)
    if (one != not_found<row>) one += static_cast<row>(build_keys_.size());
  const auto answers = [&](const std::vector<row>& rows) {
    match(*built);
    EXPECT_EQ(at().download(out), rows);
    built.reset();
  };
  fail_in_turn(
      "append",
      [&] {
        built.reset();
        built = build();
        built->append(context(at()).stream, column(build_), build_key);
      },
      [&] {
        if (built) answers(expected);
        EXPECT_EQ(meter_->current(), 0);
      },
      [&] { answers(behind); });
}

TEST_F(failing_joins, of_windows) {
  const key_parts build_key{column(build_)};
  const key_parts probe_key{column(probe_)};
  const auto build = [&] {
    return build_window_join(tested_backend(), metered(), column(build_), build_key,
                             column(build_));
  };
  std::vector<std::int64_t> expected;
  for (const std::int64_t key : probe_keys_)
    expected.push_back(key * std::count(build_keys_.begin(), build_keys_.end(), key));
  buffer<std::int64_t> sums(at(), expected.size());
  buffer<row> rows(at(), expected.size());
  const auto match = [&](const window_join& built) {
    const auto found = built.match(metered(), column(probe_), probe_key, {.before = 3});
    found->sum(metered(), sums);
    found->argmax(metered(), rows);
  };
  std::unique_ptr<window_join> built;
  fail_in_turn(
      "build", [&] { built = build(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        match(*built);
        EXPECT_EQ(at().download(sums), expected);
        built.reset();
      });
  built = build();
  const std::size_t bytes = meter_->current();
  fail_in_turn(
      "match", [&] { match(*built); }, [&] { EXPECT_EQ(meter_->current(), bytes); },
      [&] { EXPECT_EQ(at().download(sums), expected); });
}

TEST_F(failing_joins, of_nearest_intervals) {
  const key_parts build_key{column(build_)};
  const key_parts probe_key{column(probe_)};
  const auto build = [&] {
    return build_nearest_join(tested_backend(), metered(), column(build_), column(build_),
                              build_key);
  };
  std::vector<std::uint64_t> expected;
  for (const std::int64_t key : probe_keys_) {
    const auto at = std::find(build_keys_.begin(), build_keys_.end(), key);
    expected.push_back(at == build_keys_.end()
                           ? not_found<std::uint64_t>
                           : static_cast<std::uint64_t>(at - build_keys_.begin()));
  }
  buffer<std::uint64_t> rows(at(), expected.size());
  const auto match = [&](const nearest_join& built) {
    built.match(metered(), column(probe_), column(probe_), probe_key, {}, row_id_span(rows));
    built.match_ties(metered(), column(probe_), column(probe_), probe_key, {}, join_kind::inner);
  };
  std::unique_ptr<nearest_join> built;
  fail_in_turn(
      "build", [&] { built = build(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        match(*built);
        EXPECT_EQ(at().download(rows), expected);
        built.reset();
      });
  built = build();
  match(*built);  // what is built when it is first needed stays
  const std::size_t bytes = meter_->current();
  fail_in_turn(
      "match", [&] { match(*built); }, [&] { EXPECT_EQ(meter_->current(), bytes); },
      [&] { EXPECT_EQ(at().download(rows), expected); });
}

TEST_F(failing_joins, of_coverage) {
  const key_parts build_key{column(build_)};
  const key_parts probe_key{column(probe_)};
  std::vector<std::int64_t> ends = build_keys_;
  for (std::int64_t& end : ends)
    end += 2;
  const auto ends_there = at().upload(ends);
  std::vector<std::int64_t> asked = probe_keys_;
  for (std::int64_t& end : asked)
    end += 5;
  const auto asked_there = at().upload(asked);
  const auto build = [&] {
    return build_interval_coverage(tested_backend(), metered(), column(build_), column(ends_there),
                                   build_key);
  };
  std::vector<std::uint64_t> expected;
  for (const std::int64_t key : probe_keys_)
    expected.push_back(
        2 * static_cast<std::uint64_t>(std::count(build_keys_.begin(), build_keys_.end(), key)));
  buffer<std::uint64_t> lengths(at(), expected.size());
  const auto match = [&](const interval_coverage& built) {
    built.match(metered(), column(probe_), column(asked_there), probe_key, lengths);
  };
  std::unique_ptr<interval_coverage> built;
  fail_in_turn(
      "build", [&] { built = build(); }, [&] { EXPECT_EQ(meter_->current(), 0); },
      [&] {
        match(*built);
        EXPECT_EQ(at().download(lengths), expected);
        built.reset();
      });
  built = build();
  const std::size_t bytes = meter_->current();
  fail_in_turn(
      "match", [&] { match(*built); }, [&] { EXPECT_EQ(meter_->current(), bytes); },
      [&] { EXPECT_EQ(at().download(lengths), expected); });
}

}  // namespace
}  // namespace raydex::test
