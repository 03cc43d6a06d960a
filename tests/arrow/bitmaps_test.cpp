// SPDX-License-Identifier: Apache-2.0
// Slices of columns: bitmaps of missing cells that begin at any bit, at sizes where bytes, words
// and lines end. Nothing lies behind the last byte, so that sanitizers see who reads on.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t no_row = std::numeric_limits<std::uint64_t>::max();

// A slice of a column of small numbers: some are missing, and bits beside its own are set.
class slice {
 public:
  slice(const session& at, std::mt19937_64& random, std::uint64_t size, std::uint64_t offset)
      : cells_(size), there_(size) {
    std::vector<std::uint8_t> bits((offset + size + 7) / 8, 0xff);
    for (std::uint64_t i = 0; i < size; ++i) {
      cells_[i] = static_cast<std::int32_t>(below(random, 20));
      there_[i] = below(random, 4) != 0;
      const std::uint64_t bit = offset + i;
      if (!there_[i]) bits[bit / 8] = static_cast<std::uint8_t>(bits[bit / 8] & ~(1U << bit % 8));
    }
    placed_ = at.upload(cells_);
    bits_ = at.upload(bits);
    view_ = column(placed_, {bits_.data(), offset});
  }

  std::uint64_t size() const { return cells_.size(); }
  bool has(std::uint64_t i) const { return there_[i]; }
  std::int32_t operator[](std::uint64_t i) const { return cells_[i]; }
  const column& view() const { return view_; }

 private:
  std::vector<std::int32_t> cells_;
  std::vector<bool> there_;
  buffer<std::int32_t> placed_;
  buffer<std::uint8_t> bits_;
  column view_;
};

class bitmaps : public backend_test {
 protected:
  // Calls f(build side, probe side) for slices of many sizes that begin at each bit of two bytes.
  template <class F>
  void for_slices(const F& f) {
    for (const std::uint64_t size : {1U, 7U, 8U, 9U, 31U, 32U, 33U, 63U, 64U, 65U, 200U}) {
      for (std::uint64_t offset = 0; offset < 16; ++offset) {
        if (tested_by_emulation() && (size + offset) % 3 != 0) continue;
        SCOPED_TRACE(std::to_string(size) + " cells from bit " + std::to_string(offset));
        const slice build(at(), random_, size, offset);
        const slice probe(at(), random_, size, (offset * 7 + 3) % 16);
        f(build, probe);
        if (HasFailure()) return;
      }
    }
  }

  std::mt19937_64 random_ = generator();
};

TEST_F(bitmaps, of_keys_and_points) {
  for_slices([&](const slice& keys, const slice& points) {
    for (const char* const structure : {"pivot_tree", "hash_open"}) {
      const auto index = build(structure, at().where(), at(), keys.view());
      buffer<std::uint64_t> first(at(), points.size());
      buffer<std::uint64_t> count(at(), points.size());
      index->first(at(), raydex::points(points.view()), first);
      index->count(at(), raydex::points(points.view()), count);
      const auto firsts = at().download(first);
      const auto counts = at().download(count);
      for (std::uint64_t i = 0; i < points.size(); ++i) {
        std::uint64_t first_row = no_row;
        std::uint64_t rows = 0;
        for (std::uint64_t row = 0; row < keys.size(); ++row) {
          if (!points.has(i) || !keys.has(row) || keys[row] != points[i]) continue;
          first_row = std::min(first_row, row);
          ++rows;
        }
        ASSERT_EQ(firsts[i], first_row) << structure << ", point " << i;
        ASSERT_EQ(counts[i], rows) << structure << ", point " << i;
      }
    }
  });
}

TEST_F(bitmaps, of_ranges_and_values) {
  for_slices([&](const slice& values, const slice& upper) {
    // All keys are there; the ends of ranges and the values to sum are slices.
    std::vector<std::int32_t> keys(values.size());
    for (std::uint64_t row = 0; row < keys.size(); ++row)
      keys[row] = static_cast<std::int32_t>(row % 20);
    const auto placed = at().upload(keys);
    const auto index = build("sorted_array", at().where(), at(), column(placed));
    buffer<std::int64_t> out(at(), upper.size());
    index->sum(at(), ranges(values.view(), upper.view()), values.view(), out);
    const auto sums = at().download(out);
    for (std::uint64_t i = 0; i < sums.size(); ++i) {
      std::int64_t sum = 0;
      for (std::uint64_t row = 0; row < keys.size(); ++row) {
        const bool matches =
            values.has(i) && upper.has(i) && values[i] <= keys[row] && keys[row] <= upper[i];
        if (matches && values.has(row)) sum += values[row];
      }
      ASSERT_EQ(sums[i], sum) << "range " << i;
    }
  });
}

// The pairs of a join as the library has them, in order.
std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_of(const session& at,
                                                              const joined& rows) {
  buffer<std::uint64_t> probes(at, rows.size());
  buffer<std::uint64_t> builds(at, rows.size());
  rows.rows(at, gather_maps(probes, builds));
  const auto probe = at.download(probes);
  const auto build = at.download(builds);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::uint64_t i = 0; i < probe.size(); ++i)
    all.emplace_back(probe[i], build[i]);
  std::sort(all.begin(), all.end());
  return all;
}
template <class F>
std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_where(const slice& build,
                                                                 const slice& probe,
                                                                 const F& match) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::uint64_t p = 0; p < probe.size(); ++p) {
    for (std::uint64_t b = 0; b < build.size(); ++b) {
      if (probe.has(p) && build.has(b) && match(build[b], probe[p])) all.emplace_back(p, b);
    }
  }
  return all;
}

TEST_F(bitmaps, of_keys_of_joins) {
  for_slices([&](const slice& build, const slice& probe) {
    const auto equal = [](std::int32_t a, std::int32_t b) { return a == b; };
    const auto near = [](std::int32_t a, std::int32_t b) { return a - b <= 2 && b - a <= 2; };
    // Keys of two columns are laid side by side, so that the bitmaps are put together.
    const auto twice = build_join(at().where(), at(), key_parts{build.view(), build.view()});
    const auto found = twice->match(at(), key_parts{probe.view(), probe.view()}, join_kind::inner);
    ASSERT_EQ(pairs_of(at(), *found), pairs_where(build, probe, equal));
    const auto once = build_join(at().where(), at(), key_parts{build.view()});
    ASSERT_EQ(pairs_of(at(), *once->match_band(at(), probe.view(), 2, join_kind::inner)),
              pairs_where(build, probe, near));
  });
}

TEST_F(bitmaps, of_times_that_are_appended) {
  for_slices([&](const slice& first, const slice& second) {
    const auto join = build_asof_join(at().where(), at(), first.view());
    join->append(context(at()).stream, second.view());
    buffer<std::uint32_t> out(at(), second.size());
    join->match(at(), second.view(), {}, {}, out);
    const auto rows = at().download(out);
    const std::uint64_t all = first.size() + second.size();
    const auto has = [&](std::uint64_t row) {
      return row < first.size() ? first.has(row) : second.has(row - first.size());
    };
    const auto time = [&](std::uint64_t row) {
      return row < first.size() ? first[row] : second[row - first.size()];
    };
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      std::uint32_t expected = not_found<std::uint32_t>;
      for (std::uint64_t row = 0; row < all; ++row) {
        if (!second.has(i) || !has(row) || time(row) > second[i]) continue;
        if (expected == not_found<std::uint32_t> || time(row) >= time(expected))
          expected = static_cast<std::uint32_t>(row);
      }
      ASSERT_EQ(rows[i], expected) << "probe " << i;
    }
  });
}

}  // namespace
}  // namespace raydex::test
