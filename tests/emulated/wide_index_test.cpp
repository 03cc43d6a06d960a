// SPDX-License-Identifier: Apache-2.0
// Columns of more rows than a structure numbers are divided into slices. Here slices are small.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t of_slice = 64;

struct entry {
  std::int32_t key;
  std::uint64_t row;
  auto operator<=>(const entry&) const = default;
};

class sliced : public testing::TestWithParam<std::pair<backend, std::string>> {
 protected:
  void SetUp() override {
    auto random = generator(3);
    for (int i = 0; i < 1000; ++i) {
      // One key is repeated more often than a slice has entries.
      const auto key = static_cast<std::int32_t>(below(random, 400)) - 100;
      entries_.push_back({i % 8 == 0 ? 77 : key, below(random, std::uint64_t{1} << 40)});
    }
  }

  std::unique_ptr<index> build_in_slices() const {
    std::vector<std::int32_t> keys;
    std::vector<std::uint64_t> rows;
    for (const entry& each : entries_) {
      keys.push_back(each.key);
      rows.push_back(each.row);
    }
    const auto keys_there = at().upload(keys);
    const auto rows_there = at().upload(rows);
    return build_in_slices(column(keys_there), column(rows_there));
  }

  std::unique_ptr<index> build_in_slices(const column& given, const column& rows) const {
    const auto& [where, structure] = GetParam();
    const structure_facts facts{.name = structure, .backends = all_backends};
    const auto make = [&](const context& own, const column& codes) {
      auto made = build(structure, GetParam().first, own, codes);
      ++slices_;
      bytes_of_slices_ += made->info().resident_bytes;
      return made;
    };
    return operation_on(where, &operation_table::build_wide)(
        info_of(facts, where, given, rows), true, at(), given, rows, make, of_slice);
  }

  answers expected(const std::vector<std::int32_t>& lower,
                   const std::vector<std::int32_t>& upper) const {
    answers all;
    all.offsets.push_back(0);
    for (std::size_t i = 0; i < lower.size(); ++i) {
      std::uint64_t first = not_found<std::uint64_t>;
      std::uint64_t sum = 0;
      for (const entry& each : entries_) {
        if (each.key < lower[i] || upper[i] < each.key) continue;
        first = std::min(first, each.row);
        sum += each.row;
        all.rows.push_back(each.row);
      }
      all.first.push_back(first);
      all.sums.push_back(sum);
      all.counts.push_back(all.rows.size() - all.offsets.back());
      all.offsets.push_back(all.rows.size());
    }
    return all;
  }

  void compare(const index& built) {
    std::sort(entries_.begin(), entries_.end());
    std::vector<std::int32_t> lower(450);
    std::iota(lower.begin(), lower.end(), -120);
    const auto there = at().upload(lower);
    EXPECT_TRUE(ask(at(), built, points(column(there))) == expected(lower, lower));
    if (!is_ordered()) return;
    std::vector<std::int32_t> upper;
    for (const std::int32_t key : lower)
      upper.push_back(key + 90 - key % 97);
    const auto upper_there = at().upload(upper);
    EXPECT_TRUE(ask(at(), built, ranges(column(there), column(upper_there))) ==
                expected(lower, upper));
    compare_places(built, lower, there);
  }

  void compare_places(const index& built, const std::vector<std::int32_t>& points_here,
                      const buffer<std::int32_t>& there) const {
    buffer<std::uint64_t> out(at(), points_here.size());
    const auto compare_each = [&](const auto& answer) {
      const auto got = at().download(out);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], answer(points_here[i])) << "of " << points_here[i];
    };
    const auto before = [&](std::int32_t key) {
      return std::lower_bound(entries_.begin(), entries_.end(), entry{key, 0});
    };
    const auto row_of = [&](auto at_entry) {
      return at_entry == entries_.end() ? not_found<std::uint64_t> : at_entry->row;
    };
    const auto rank = [&](std::int32_t key) {
      return static_cast<std::uint64_t>(before(key) - entries_.begin());
    };
    built.rank(at(), points(column(there)), out);
    compare_each(rank);
    built.rank_right(at(), points(column(there)), out);
    compare_each([&](std::int32_t key) { return rank(key + 1); });
    built.successor(at(), points(column(there)), out);
    compare_each([&](std::int32_t key) { return row_of(before(key)); });
    built.predecessor(at(), points(column(there)), out, closeness::strict);
    compare_each([&](std::int32_t key) {
      const auto above = before(key);
      return above == entries_.begin() ? not_found<std::uint64_t>
                                       : row_of(before(std::prev(above)->key));
    });
  }

  bool is_ordered() const { return !GetParam().second.starts_with("hash"); }
  const session& at() const { return at_; }

  session at_{GetParam().first};
  std::vector<entry> entries_;
  mutable int slices_ = 0;
  mutable std::uint64_t bytes_of_slices_ = 0;
};

TEST_P(sliced, answer_as_one) {
  const auto built = build_in_slices();
  EXPECT_GT(slices_, 10);
  EXPECT_EQ(built->info().entries, entries_.size());
  EXPECT_EQ(built->info().row_ids, row_id_type::uint64);
  compare(*built);
}

TEST_P(sliced, hold_a_key_and_a_row_id_of_each_entry_beside_what_finds_them) {
  const auto built = build_in_slices();
  EXPECT_EQ(built->info().resident_bytes, (4 + 8) * entries_.size() + bytes_of_slices_);
}

TEST_P(sliced, are_edited_as_one) {
  const auto built = build_in_slices();
  const auto keys = at().upload(std::vector<std::int32_t>{-120, 77, 500});
  const auto rows = at().upload(std::vector<std::uint64_t>{5, std::uint64_t{1} << 50, 7});
  const auto erased = at().upload(std::vector<std::int32_t>{12, 13});
  const auto& given = at();
  built->edit(context(given).stream, {column(keys), column(rows), column(erased), std::nullopt});
  std::erase_if(entries_, [](const entry& each) { return each.key == 12 || each.key == 13; });
  entries_.insert(entries_.end(), {{-120, 5}, {77, std::uint64_t{1} << 50}, {500, 7}});
  EXPECT_EQ(built->info().entries, entries_.size());
  EXPECT_EQ(built->info().max_row_id, std::uint64_t{1} << 50);
  compare(*built);
}

TEST_P(sliced, are_aggregated_and_joined_as_one) {
  if (!is_ordered()) GTEST_SKIP() << "knows no ranks";
  const auto built = build_in_slices();
  std::sort(entries_.begin(), entries_.end());
  const std::vector<std::int32_t> lower{-200, 0, 77, 300};
  const std::vector<std::int32_t> upper{400, 150, 77, 299};
  const auto lower_there = at().upload(lower);
  const auto upper_there = at().upload(upper);
  const auto batch = ranges(column(lower_there), column(upper_there));
  buffer<std::uint64_t> first(at(), lower.size());
  build_aggregate(at(), *built)->first(at(), batch, first);
  EXPECT_EQ(at().download(first), expected(lower, upper).first);

  const auto joined =
      build_join(at(), *built)->match(at(), points(column(lower_there)), join_kind::inner);
  EXPECT_EQ(joined->size(), expected(lower, lower).rows.size());
}

// Of a table, whose build rows without a match are asked for.
TEST_P(sliced, are_joined_in_full) {
  std::vector<std::int32_t> keys;
  for (const entry& each : entries_)
    keys.push_back(each.key);
  std::vector<std::uint64_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::int32_t> probes(150);
  std::iota(probes.begin(), probes.end(), -20);
  const auto keys_there = at().upload(keys);
  const auto rows_there = at().upload(rows);
  const auto probes_there = at().upload(probes);
  const auto tested = operation_on(GetParam().first, &operation_table::build_join)(
      at(), {column(keys_there)}, {}, [&](const context& /*own*/, const column& given) {
        return build_in_slices(given, column(rows_there));
      });
  const auto found = tested->match(at(), key_parts{column(probes_there)}, join_kind::full);

  std::vector<std::uint64_t> probe_rows;
  std::vector<std::uint64_t> build_rows;
  const auto add = [&](std::uint64_t probe, std::uint64_t build) {
    probe_rows.push_back(probe);
    build_rows.push_back(build);
  };
  for (std::size_t p = 0; p < probes.size(); ++p) {
    const std::size_t before = build_rows.size();
    for (const std::uint64_t row : rows)
      if (keys[row] == probes[p]) add(p, row);
    if (build_rows.size() == before) add(p, not_found<std::uint64_t>);
  }
  for (const std::uint64_t row : rows)
    if (keys[row] < probes.front() || probes.back() < keys[row]) add(not_found<std::uint64_t>, row);
  ASSERT_EQ(found->size(), build_rows.size());
  buffer<std::uint64_t> got_probe_rows(at(), found->size());
  buffer<std::uint64_t> got_build_rows(at(), found->size());
  found->rows(at(), gather_maps(got_probe_rows, got_build_rows));
  EXPECT_EQ(at().download(got_probe_rows), probe_rows);
  EXPECT_EQ(at().download(got_build_rows), build_rows);
}

std::vector<std::pair<backend, std::string>> tested() {
  std::vector<std::pair<backend, std::string>> all;
  for (const char* structure : {"sorted_array", "pivot_tree", "btree", "direct", "hash_open"})
    for (const backend where : {backend::cpu, backend::cuda})
      all.emplace_back(where, structure);
  all.emplace_back(backend::cpu, "cgrx");
  return all;
}
INSTANTIATE_TEST_SUITE_P(structures, sliced, testing::ValuesIn(tested()), [](const auto& one) {
  return one.param.second + "_on_" + std::string(to_string(one.param.first));
});

}  // namespace
}  // namespace raydex::test
