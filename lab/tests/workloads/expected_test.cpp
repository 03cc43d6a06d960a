// SPDX-License-Identifier: Apache-2.0
// Expected results compared with a plain scan of the generated column, and the judge of answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "lab/machine/machine.hpp"
#include "lab/tests/workloads/samples.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

std::vector<std::uint64_t> numbers(const key_span& keys) {
  std::vector<std::uint64_t> all(keys.size);
  for (std::uint64_t i = 0; i < keys.size; ++i)
    all[i] = number_at(keys.data, keys.bits, i);
  return all;
}

// The rows of all keys in [lower, upper], by looking at every key.
std::vector<std::uint64_t> scan(const std::vector<std::uint64_t>& keys, std::uint64_t lower,
                                std::uint64_t upper) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t row = 0; row < keys.size(); ++row) {
    if (lower <= keys[row] && keys[row] <= upper) rows.push_back(row);
  }
  return rows;
}

answer summary(const std::vector<std::uint64_t>& rows) {
  answer all;
  all.count = rows.size();
  all.sum = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
  if (!rows.empty()) all.first = *std::min_element(rows.begin(), rows.end());
  return all;
}

// What seven that share a walk find.
answer together(const key_set& keys, std::uint64_t lower, std::uint64_t upper) {
  answer all;
  for (std::uint64_t share = 0; share < 7; ++share) {
    const answer part = keys.expected(lower, upper, share, 7);
    all.first = std::min(all.first, part.first);
    all.count += part.count;
    all.sum += part.sum;
  }
  return all;
}

TEST(expected, equals_a_scan_on_every_workload) {
  const session here(backend::cpu);
  const auto host = make_machine(here);
  for (const workload& what : test::sample_workloads()) {
    SCOPED_TRACE(describe(what));
    const generated data(what, *host);
    const auto keys = numbers(data.keys());
    const auto lower = numbers(data.lower());
    const auto upper = numbers(data.upper());
    EXPECT_EQ(keys.size(), what.keys);
    EXPECT_EQ(lower.size(), what.probes);
    if (what.insert_order == order::sorted) {
      EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    }
    if (what.probe_order == order::sorted) {
      EXPECT_TRUE(std::is_sorted(lower.begin(), lower.end()));
      EXPECT_TRUE(std::is_sorted(upper.begin(), upper.end()));
    }
    std::uint64_t matches = 0;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const answer wanted = summary(scan(keys, lower[i], upper[i]));
      ASSERT_EQ(data.set().expected(lower[i], upper[i]), wanted) << lower[i];
      ASSERT_EQ(data.set().expected_count(lower[i], upper[i]), wanted.count) << lower[i];
      ASSERT_EQ(together(data.set(), lower[i], upper[i]), wanted) << lower[i];
      matches += wanted.count;
    }
    EXPECT_EQ(data.matches(), matches);
  }
}

TEST(expected, equals_a_scan_after_every_wave) {
  const session here(backend::cpu);
  const auto host = make_machine(here);
  const auto check = [&](workload what) {
    what.waves = 4;
    SCOPED_TRACE(describe(what));
    generated data(what, *host);
    const auto first = numbers(data.keys());
    const auto drawn = numbers(data.lower());
    std::vector<std::uint64_t> held = first;
    for (std::uint64_t wave = 1; wave <= 8; ++wave) {
      SCOPED_TRACE(wave);
      data.advance(*host, wave);
      const std::vector<std::uint64_t> before = std::exchange(held, numbers(data.keys()));
      ASSERT_EQ(held.size(), keys_after(what, wave));
      // Keys are added at the end, and removed from there.
      const auto differ = std::mismatch(held.begin(), held.end(), before.begin(), before.end());
      ASSERT_TRUE(differ.first == held.end() || differ.second == before.end());
      EXPECT_EQ(data.rows(7, 2).data,
                static_cast<std::byte*>(data.keys().data) + 7 * what.key_bits / 8);
      const auto lower = numbers(data.lower());
      const auto upper = numbers(data.upper());
      std::size_t hits = 0;
      for (std::size_t i = 0; i < lower.size(); ++i) {
        const answer wanted = summary(scan(held, lower[i], upper[i]));
        ASSERT_EQ(data.set().expected(lower[i], upper[i]), wanted) << lower[i];
        ASSERT_EQ(data.set().expected_count(lower[i], upper[i]), wanted.count) << lower[i];
        hits += wanted.count != 0 ? 1 : 0;
      }
      if (what.hit_rate == 100) {
        EXPECT_EQ(hits, lower.size());
      }
    }
    EXPECT_EQ(held, first);
    EXPECT_EQ(numbers(data.lower()), drawn);
  };
  for (const int bits : {32, 64}) {
    workload what = test::sized(503, 217);
    what.key_bits = bits;
    check(what);
    what.insert_order = what.probe_order = order::sorted;
    what.hit_rate = 60;
    check(what);
    what.shape = distribution::clumped;
    what.zipf = 1;
    check(what);
    what = test::sized(503, 217);
    what.key_bits = bits;
    what.uniformity = 0;
    what.range_hits = 24;
    check(what);
  }
}

TEST(expected, arbitrary_ranges_on_dense_keys) {
  const session here(backend::cpu);
  const auto host = make_machine(here);
  for (const std::uint64_t stride : {1u, 4u}) {
    workload what = test::sized(50, 0);
    what.uniformity = 0;
    what.stride = stride;
    what.multiplicity = 3;
    const generated data(what, *host);
    const auto keys = numbers(data.keys());
    for (std::uint64_t lower = 0; lower < 80; ++lower) {
      for (std::uint64_t upper = 0; upper < 80; ++upper) {
        const answer wanted = summary(scan(keys, lower, upper));
        ASSERT_EQ(data.set().expected(lower, upper), wanted) << lower << ".." << upper;
      }
    }
  }
}

// Answers by a scan, in the form that an index writes.
template <class RowId>
struct written {
  std::vector<RowId> rows;
  std::vector<RowId> probe_rows;  // beside them
  std::vector<std::uint64_t> offsets{0};
  std::vector<RowId> first;
  std::vector<std::uint64_t> count;
  std::vector<std::uint64_t> sum;

  written(const std::vector<std::uint64_t>& keys, const std::vector<std::uint64_t>& lower,
          const std::vector<std::uint64_t>& upper) {
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const auto found = scan(keys, lower[i], upper[i]);
      for (const std::uint64_t row : found)
        rows.push_back(static_cast<RowId>(row));
      probe_rows.resize(rows.size(), static_cast<RowId>(i));
      offsets.push_back(rows.size());
      const answer all = summary(found);
      first.push_back(static_cast<RowId>(all.first));
      count.push_back(all.count);
      sum.push_back(all.sum);
    }
  }
};

template <class RowId>
void test_judge(const workload& what) {
  const session here(backend::cpu);
  const auto host = make_machine(here);
  const generated data(what, *host);
  written<RowId> right(numbers(data.keys()), numbers(data.lower()), numbers(data.upper()));

  const auto judge = [&](result asked, const void* values) {
    answered_batch batch;
    batch.asked = asked;
    batch.key_bits = what.key_bits;
    batch.row_id_bits = std::numeric_limits<RowId>::digits;
    batch.size = what.probes;
    batch.lower = data.lower().data;
    batch.upper = data.upper().data;
    batch.values = values;
    batch.probe_rows = right.probe_rows.data();
    batch.offsets = right.offsets.data();
    batch.total = right.rows.size();
    return host->count_wrong(data.set(), batch);
  };
  const auto expect_caught = [&](result asked, auto& values) {
    SCOPED_TRACE(describe(what));
    EXPECT_EQ(judge(asked, values.data()), 0u);
    for (const std::size_t at : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
      ++values[at];
      EXPECT_GE(judge(asked, values.data()), 1u);
      EXPECT_LE(judge(asked, values.data()), 2u);
      --values[at];
    }
  };
  expect_caught(result::first, right.first);
  expect_caught(result::count, right.count);
  expect_caught(result::sum, right.sum);
  expect_caught(result::rows, right.rows);
  expect_caught(result::pairs, right.rows);
  for (const std::size_t at : {std::size_t{0}, right.rows.size() - 1}) {
    ++right.probe_rows[at];
    EXPECT_EQ(judge(result::pairs, right.rows.data()), 1u);
    EXPECT_EQ(judge(result::rows, right.rows.data()), 0u);
    --right.probe_rows[at];
  }
  for (const std::size_t at : {std::size_t{0}, right.offsets.size() - 1}) {
    ++right.offsets[at];
    EXPECT_GE(judge(result::rows, right.rows.data()), 1u);
    --right.offsets[at];
  }
}

TEST(expected, the_judge_accepts_right_answers_and_catches_wrong_ones) {
  for (const int bits : {32, 64}) {
    workload what = test::sized(301, 99);
    what.key_bits = bits;
    what.hit_rate = 80;
    what.multiplicity = 5;
    test_judge<std::uint32_t>(what);
    test_judge<std::uint64_t>(what);
    what.hit_rate = 100;
    what.uniformity = 0;
    what.range_hits = 20;
    test_judge<std::uint32_t>(what);
    test_judge<std::uint64_t>(what);
  }
}

}  // namespace
}  // namespace raydex::bench
