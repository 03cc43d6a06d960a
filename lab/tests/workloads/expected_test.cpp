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
  const session on(backend::cpu);
  const auto host = make_machine(on);
  for (const workload& spec : test::sample_workloads()) {
    SCOPED_TRACE(describe(spec));
    const generated data(spec, *host);
    const auto keys = numbers(data.keys());
    const auto lower = numbers(data.lower());
    const auto upper = numbers(data.upper());
    EXPECT_EQ(keys.size(), spec.keys);
    EXPECT_EQ(lower.size(), spec.probes);
    if (spec.insert_order == order::sorted) {
      EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    }
    if (spec.probe_order == order::sorted) {
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
  const session on(backend::cpu);
  const auto host = make_machine(on);
  const auto check = [&](workload spec) {
    spec.waves = 4;
    SCOPED_TRACE(describe(spec));
    generated data(spec, *host);
    const auto first = numbers(data.keys());
    const auto drawn = numbers(data.lower());
    std::vector<std::uint64_t> held = first;
    for (std::uint64_t wave = 1; wave <= 8; ++wave) {
      SCOPED_TRACE(wave);
      data.advance(*host, wave);
      const std::vector<std::uint64_t> before = std::exchange(held, numbers(data.keys()));
      ASSERT_EQ(held.size(), keys_after(spec, wave));
      // Keys are added at the end, and removed from there.
      const auto differ = std::mismatch(held.begin(), held.end(), before.begin(), before.end());
      ASSERT_TRUE(differ.first == held.end() || differ.second == before.end());
      EXPECT_EQ(data.rows(7, 2).data,
                static_cast<std::byte*>(data.keys().data) + 7 * spec.key_bits / 8);
      const auto lower = numbers(data.lower());
      const auto upper = numbers(data.upper());
      std::size_t hits = 0;
      for (std::size_t i = 0; i < lower.size(); ++i) {
        const answer wanted = summary(scan(held, lower[i], upper[i]));
        ASSERT_EQ(data.set().expected(lower[i], upper[i]), wanted) << lower[i];
        ASSERT_EQ(data.set().expected_count(lower[i], upper[i]), wanted.count) << lower[i];
        hits += wanted.count != 0 ? 1 : 0;
      }
      if (spec.hit_rate == 100) {
        EXPECT_EQ(hits, lower.size());
      }
    }
    EXPECT_EQ(held, first);
    EXPECT_EQ(numbers(data.lower()), drawn);
  };
  for (const int bits : {32, 64}) {
    workload spec = test::sized(503, 217);
    spec.key_bits = bits;
    check(spec);
    spec.insert_order = spec.probe_order = order::sorted;
    spec.hit_rate = 60;
    check(spec);
    spec.shape = distribution::clumped;
    spec.zipf = 1;
    check(spec);
    spec = test::sized(503, 217);
    spec.key_bits = bits;
    spec.uniformity = 0;
    spec.range_hits = 24;
    check(spec);
  }
}

TEST(expected, arbitrary_ranges_on_dense_keys) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  for (const std::uint64_t stride : {1u, 4u}) {
    workload spec = test::sized(50, 0);
    spec.uniformity = 0;
    spec.stride = stride;
    spec.multiplicity = 3;
    const generated data(spec, *host);
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
void test_judge(const workload& spec) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  const generated data(spec, *host);
  written<RowId> right(numbers(data.keys()), numbers(data.lower()), numbers(data.upper()));

  const auto judge = [&](result kind, const void* values) {
    answered_batch batch;
    batch.kind = kind;
    batch.key_bits = spec.key_bits;
    batch.row_id_bits = std::numeric_limits<RowId>::digits;
    batch.size = spec.probes;
    batch.lower = data.lower().data;
    batch.upper = data.upper().data;
    batch.values = values;
    batch.probe_rows = right.probe_rows.data();
    batch.offsets = right.offsets.data();
    batch.total = right.rows.size();
    return host->count_wrong(data.set(), batch);
  };
  const auto expect_caught = [&](result kind, auto& values) {
    SCOPED_TRACE(describe(spec));
    EXPECT_EQ(judge(kind, values.data()), 0u);
    for (const std::size_t at : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
      ++values[at];
      EXPECT_GE(judge(kind, values.data()), 1u);
      EXPECT_LE(judge(kind, values.data()), 2u);
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
    workload spec = test::sized(301, 99);
    spec.key_bits = bits;
    spec.hit_rate = 80;
    spec.multiplicity = 5;
    test_judge<std::uint32_t>(spec);
    test_judge<std::uint64_t>(spec);
    spec.hit_rate = 100;
    spec.uniformity = 0;
    spec.range_hits = 20;
    test_judge<std::uint32_t>(spec);
    test_judge<std::uint64_t>(spec);
  }
}

}  // namespace
}  // namespace raydex::bench
