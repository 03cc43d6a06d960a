// SPDX-License-Identifier: Apache-2.0
// Joins of two columns that a GPU makes without an index, by a table and by parts, whichever would
// be chosen for columns of their sizes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/machines/cuda/joins/equal_rows.hpp"
#include "src/operations/joins/slices.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"
#include "tests/support/validity.hpp"

namespace raydex::test {
namespace {

using row = std::uint32_t;
using pairs = std::vector<std::pair<row, row>>;  // a probe row and a build row

template <class Key>
class equal_rows_test : public backend_test {
 protected:
  static constexpr Key factor = static_cast<Key>(0x9e37'79b9'7f4a'7c15);

  // Keys with numbers below `keys`.
  static std::vector<Key> keys_of(std::size_t size, std::uint64_t keys, std::mt19937_64& random) {
    std::vector<Key> made(size);
    for (Key& key : made)
      key = static_cast<Key>(below(random, keys) * factor);
    return made;
  }
  static std::vector<Key> different(std::size_t size, std::mt19937_64& random) {
    std::vector<Key> made(size);
    for (std::size_t i = 0; i < size; ++i)
      made[i] = static_cast<Key>(i * factor);
    std::ranges::shuffle(made, random);
    return made;
  }

  // The rows that probes found, those of a probe in their order.
  static pairs rows_of(const session& at, const found_rows<row>& found) {
    const std::vector<row> begins = at.download(found.begins);
    const std::vector<row> counts = at.download(found.counts);
    const std::vector<row> probe_rows = at.download(found.probe_rows);
    std::size_t listed = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 1) listed = std::max<std::size_t>(listed, begins[i] + counts[i]);
    std::vector<row> list(listed);
    at.copy_out(list.data(), found.list, list.size() * sizeof(row));
    pairs rows;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const row probe = probe_rows.empty() ? static_cast<row>(i) : probe_rows[i];
      const row alone = begins[i] == static_cast<row>(-1) ? 0 : 1;
      const row count = counts.empty() ? alone : counts[i];
      for (row k = 0; k < count; ++k)
        rows.emplace_back(probe, count == 1 ? begins[i] : list.at(begins[i] + k));
    }
    return rows;
  }

  // With `some_missing` every third build row and every fifth probe row lack their key.
  static bool is_missing(bool some_missing, std::size_t i, std::size_t every) {
    return some_missing && i % every == 0;
  }
  static pairs expected(const std::vector<Key>& build, const std::vector<Key>& probe,
                        bool some_missing) {
    std::map<Key, std::vector<row>> rows;
    for (std::size_t i = 0; i < build.size(); ++i)
      if (!is_missing(some_missing, i, 3)) rows[build[i]].push_back(static_cast<row>(i));
    pairs all;
    for (std::size_t i = 0; i < probe.size(); ++i) {
      const auto at = rows.find(probe[i]);
      if (at == rows.end() || is_missing(some_missing, i, 5)) continue;
      for (const row found : at->second)
        all.emplace_back(static_cast<row>(i), found);
    }
    return all;
  }

  void check_any_row(const found_rows<row>& found, const pairs& wanted) const {
    std::set<row> with_match;
    for (const auto& [probe_row, build_row] : wanted)
      with_match.insert(probe_row);
    EXPECT_EQ(found.rows, with_match.size());
    for (const auto& [probe_row, any] : rows_of(at(), found))
      ASSERT_EQ(with_match.erase(probe_row), 1);
    EXPECT_TRUE(with_match.empty());
  }

  void check(const std::vector<Key>& build, const std::vector<Key>& probe,
             bool some_missing = false) const {
    const session& at = this->at();
    const auto build_there = at.upload(build);
    const auto probe_there = at.upload(probe);
    const auto build_bits = at.upload(bits_without(build.size(), 3));
    const auto probe_bits = at.upload(bits_without(probe.size(), 5));
    column builds(build_there);
    column probes(probe_there);
    if (some_missing) {
      builds.validity = build_bits.data();
      probes.validity = probe_bits.data();
    }
    const pairs wanted = expected(build, probe, some_missing);
    check(build, builds, probes, wanted, {.seed = 7});
    if constexpr (sizeof(Key) == 8) {
      // As hashes of the same keys.
      const core::composite_cells build_keys = composite_of({builds}, false);
      const core::composite_cells probe_keys = composite_of({probes}, false);
      check(build, builds, probes, wanted,
            {.seed = 7, .build_keys = &build_keys, .probe_keys = &probe_keys});
    }
  }

 private:
  void check(const std::vector<Key>& build, const column& builds, const column& probes,
             const pairs& wanted, const equality& how) const {
    const session& at = this->at();
    const bool repeat = std::set<Key>(build.begin(), build.end()).size() != build.size();
    equality in_any_order = how;
    in_any_order.order = join_order::any;
    equality of_any_row = how;
    of_any_row.joining = core::joining::once_if_any;
    // Tables that are filled in any order, and by parts.
    for (const std::size_t in_l2 : {cuda::table_options{}.in_l2, std::size_t{0}}) {
      const cuda::table_options within{.in_l2 = in_l2};
      const auto by_table = cuda::find_by_table<Key>(at, builds, probes, how, within);
      ASSERT_EQ(by_table.has_value(), !repeat);
      if (by_table) {
        EXPECT_FALSE(by_table->confused);
        ASSERT_EQ(rows_of(at, by_table->rows), wanted);
        EXPECT_EQ(by_table->rows.rows, wanted.size());
        EXPECT_EQ(at.download(by_table->rows.tile_ends).at((probes.size - 1) / core::tile_probes),
                  wanted.size());
      }
      const auto any_row = cuda::find_by_table<Key>(at, builds, probes, of_any_row, within);
      ASSERT_TRUE(any_row);
      EXPECT_FALSE(any_row->confused);
      check_any_row(any_row->rows, wanted);
      for (const bool known : {false, true}) {
        const auto grouped = cuda::find_by_table<Key>(at, builds, probes, in_any_order,
                                                      {.in_l2 = in_l2, .keys_repeat = known});
        ASSERT_TRUE(grouped || (repeat && in_l2 == 0));
        if (!grouped) continue;
        EXPECT_FALSE(grouped->confused);
        EXPECT_EQ(grouped->rows.rows, wanted.size());
        EXPECT_EQ(grouped->rows.counts.size(), repeat || known ? probes.size : 0);
        pairs rows = rows_of(at, grouped->rows);
        std::ranges::sort(rows);
        ASSERT_EQ(rows, wanted);
      }
    }
    for (const auto& [order, known] :
         {std::pair(how, false), std::pair(in_any_order, false), std::pair(in_any_order, repeat)}) {
      const auto by_parts = cuda::find_by_parts<Key>(at, builds, probes, order, known);
      ASSERT_TRUE(by_parts);
      EXPECT_FALSE(by_parts->confused);
      EXPECT_LE(by_parts->entries, build.size());
      pairs rows = rows_of(at, by_parts->rows);
      // Of a probe they are in their order in any case.
      if (order.order == join_order::any)
        std::ranges::stable_sort(rows, {}, &std::pair<row, row>::first);
      ASSERT_EQ(rows, wanted);
    }
  }
};

using key_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(equal_rows_test, key_types);

TYPED_TEST(equal_rows_test, of_different_keys) {
  auto random = generator();
  for (const std::size_t builds : {1U, 2U, 1024U, 1025U, 5000U}) {
    for (const std::size_t probes : {1U, 255U, 256U, 257U, 3000U}) {
      this->check(this->different(builds, random), this->keys_of(probes, 2 * builds, random));
      if (this->HasFatalFailure()) return;
    }
  }
}

// The hash that marks an empty slot of a table is that of a key, too; a filter lets it pass.
TYPED_TEST(equal_rows_test, of_the_key_that_is_hashed_as_an_empty_slot) {
  auto random = generator();
  const TypeParam key = core::key_of(core::hash_by<TypeParam>(7), static_cast<TypeParam>(-1));
  for (const std::size_t size : {100U, 2000U}) {
    std::vector<TypeParam> probes{1, key, 0, key};
    if (size == 2000) {
      probes = this->keys_of(2 * size, 1'000'000, random);
      probes[1500] = key;
    }
    std::vector<TypeParam> builds = this->different(size, random);
    this->check(builds, probes);
    builds[size / 2] = key;
    this->check(builds, probes);
    builds[0] = key;
    this->check(builds, probes);
  }
}

// Of many build rows some are looked at first: whether their keys repeat.
TYPED_TEST(equal_rows_test, of_many_rows) {
  auto random = generator();
  const session& at = this->at();
  std::vector<TypeParam> builds = this->different((std::size_t{1} << 20) + 1, random);
  const auto find = [&] {
    const auto build_there = at.upload(builds);
    return cuda::find_by_table<TypeParam>(at, column(build_there),
                                          column(std::span(build_there.data(), 3000)), {.seed = 7});
  };
  const auto found = find();
  ASSERT_TRUE(found);
  std::vector<std::uint32_t> own(3000);
  std::iota(own.begin(), own.end(), 0);
  EXPECT_EQ(at.download(found->rows.begins), own);
  builds.back() = builds.front();
  EXPECT_FALSE(find());
  builds[100] = builds.front();
  EXPECT_FALSE(find());
}

// If few of the probes that are tried have a match, a filter is asked before the table.
TYPED_TEST(equal_rows_test, of_few_matches) {
  auto random = generator();
  for (const std::size_t size : {1U, 900U, 5000U, 20'000U}) {
    std::vector<TypeParam> builds = this->different(size, random);
    this->check(builds, this->keys_of(2 * size, 100 * size, random));
    this->check(builds, this->keys_of(3 * size, 100 * size, random), true);
    const std::size_t copies = size / 20;
    std::copy_n(builds.begin(), copies, builds.end() - static_cast<std::ptrdiff_t>(copies));
    this->check(builds, this->keys_of(2 * size, 100 * size, random));
    if (this->HasFatalFailure()) return;
  }
}

// A table that is too large for the filter has none, and one of too many rows no groups.
TYPED_TEST(equal_rows_test, of_tables_beyond_their_limits) {
  auto random = generator();
  const session& at = this->at();
  std::vector<TypeParam> builds = this->different(3000, random);
  const auto probes = at.upload(this->keys_of(6000, 300'000, random));
  const auto find = [&](const cuda::table_options& within, std::uint64_t& peak) {
    const auto there = at.upload(builds);
    const context plain = at;
    tracking_resource meter(plain.memory);
    const auto found =
        cuda::find_by_table<TypeParam>({meter, plain.stream}, column(there), column(probes),
                                       {.seed = 7, .order = join_order::any}, within);
    peak = meter.peak();
    return found.has_value();
  };
  std::uint64_t with_filter = 0;
  std::uint64_t without = 0;
  EXPECT_TRUE(find({.in_l2 = 0}, with_filter));
  EXPECT_TRUE(find({.in_l2 = 0, .filter = 4000}, without));
  EXPECT_GT(with_filter, without + 4000);
  builds[7] = builds[8];
  EXPECT_TRUE(find({.grouped = 3000}, without));
  EXPECT_FALSE(find({.grouped = 2999}, without));
}

using hashed_rows_test = equal_rows_test<std::uint64_t>;

// Keys that differ and have equal hashes are told, two of build rows and one of each side,
// whichever way is taken. So are those whose rows would not match in the end: another hash is
// tried.
TEST_F(hashed_rows_test, of_different_keys_with_equal_hashes) {
  const session& at = this->at();
  const auto confused = [&](const std::vector<std::uint64_t>& hashes,
                            const std::vector<std::string>& build_keys,
                            const std::string& probe_key, const equality& way, auto find) {
    const auto build_there = at.upload(hashes);
    const auto probe_there = at.upload(std::vector<std::uint64_t>{3, 5, 8});
    const auto strings_of = [&](const std::vector<std::string>& texts) {
      std::vector<char> bytes;
      std::vector<std::uint32_t> ends{0};
      for (const std::string& text : texts) {
        bytes.insert(bytes.end(), text.begin(), text.end());
        ends.push_back(static_cast<std::uint32_t>(bytes.size()));
      }
      return std::pair(at.upload(bytes), at.upload(ends));
    };
    const auto builds = strings_of(build_keys);
    const auto probes = strings_of({"no hash", probe_key, "no hash, too"});
    const auto part = [](const auto& strings, std::uint64_t size) -> key_part {
      return string_column{strings.first.data(), strings.second.data(), false, size};
    };
    const core::composite_cells of_build = composite_of({part(builds, hashes.size())}, false);
    const core::composite_cells of_probe = composite_of({part(probes, 3)}, false);
    equality how = way;
    how.build_keys = &of_build;
    how.probe_keys = &of_probe;
    return find(column(build_there), column(probe_there), how);
  };
  const auto by_table = [&](const column& build, const column& probe, const equality& how) {
    const auto found = cuda::find_by_table<std::uint64_t>(at, build, probe, how);
    return found ? std::optional(found->confused) : std::nullopt;
  };
  const auto by_parts = [&](const column& build, const column& probe, const equality& how) {
    const auto found = cuda::find_by_parts<std::uint64_t>(at, build, probe, how);
    return found ? std::optional(found->confused) : std::nullopt;
  };
  const equality in_order{.seed = 1};
  const equality any_order{.seed = 1, .order = join_order::any};
  const equality any_row{.seed = 1, .joining = core::joining::once_if_any};
  const std::string key = "longer than eight bytes, a";
  const std::string other = "longer than eight bytes, b";
  for (const equality& how : {in_order, any_order, any_row}) {
    EXPECT_EQ(confused({4, 5, 6}, {"", key, other}, key, how, by_table), false);
    EXPECT_EQ(confused({4, 5, 6}, {"", key, key}, other, how, by_table), true);
    EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, other, how, by_parts), true);
    EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, key, how, by_parts), false);
    EXPECT_EQ(confused({4, 7, 7}, {"", key, other}, key, how, by_parts), true);
  }
  EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, key, any_order, by_table), false);
  EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, other, any_order, by_table), true);
  EXPECT_EQ(confused({4, 7, 7}, {"", key, other}, key, any_order, by_table), true);
  EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, key, any_row, by_table), false);
  EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, other, any_row, by_table), true);
  EXPECT_EQ(confused({4, 5, 5}, {"", key, key}, key, in_order, by_table), std::nullopt);
}

TYPED_TEST(equal_rows_test, of_missing_keys) {
  auto random = generator();
  this->check(this->different(3001, random), this->keys_of(2000, 4000, random), true);
  this->check(this->different(3, random), this->different(1, random), true);
}

TYPED_TEST(equal_rows_test, of_keys_that_repeat) {
  auto random = generator();
  for (const std::uint64_t keys : {1U, 3U, 100U, 4000U})
    this->check(this->keys_of(4097, keys, random),
                this->keys_of(keys == 1 ? 20 : 500, keys + 3, random));
}

// More parts than a GPU looks up at once.
TYPED_TEST(equal_rows_test, of_keys_that_repeat_in_many_parts) {
  auto random = generator();
  const session& at = this->at();
  const std::size_t size = std::size_t{1} << (tested_by_emulation() ? 15 : 22);
  const std::vector<TypeParam> builds = this->keys_of(size, size / 16, random);
  const std::vector<TypeParam> probes = this->keys_of(2000, size / 16, random);
  std::map<TypeParam, row> counts;
  for (const TypeParam key : builds)
    ++counts[key];
  const auto build_there = at.upload(builds);
  const auto probe_there = at.upload(probes);
  const auto found =
      cuda::find_by_parts<TypeParam>(at, column(build_there), column(probe_there), {.seed = 3});
  ASSERT_TRUE(found);
  std::vector<row> wanted;
  for (const TypeParam key : probes)
    wanted.push_back(counts.contains(key) ? counts[key] : 0);
  EXPECT_EQ(at.download(found->rows.counts), wanted);
}

// What the header of `match_tables` says of a table that is filled by parts.
TYPED_TEST(equal_rows_test, memory_of_a_table) {
  auto random = generator();
  const session& at = this->at();
  const auto builds = at.upload(this->different(std::size_t{1} << 16, random));
  const auto many = at.upload(this->keys_of(2 * builds.size(), builds.size(), random));
  const context plain = at;
  constexpr cuda::table_options by_parts{.in_l2 = 0};
  for (const auto& [joining, probes] :
       {std::pair(core::joining::matches, column(std::span(builds.data(), 100))),
        std::pair(core::joining::once_if_any, column(std::span(builds.data(), 100))),
        std::pair(core::joining::matches, column(many)),
        std::pair(core::joining::once_if_any, column(many))}) {
    tracking_resource meter(plain.memory);
    const equality how{.seed = 7, .joining = joining};
    ASSERT_TRUE(cuda::find_by_table<TypeParam>({meter, plain.stream}, column(builds), probes, how,
                                               by_parts));
    const bool wide = sizeof(TypeParam) == 8;
    const std::size_t of_filter = probes.size > builds.size() ? 2 : 0;
    const std::size_t of_row = of_filter + (how.any_row() ? (wide ? 29 : 17) : (wide ? 45 : 25));
    EXPECT_LE(meter.peak(), of_row * builds.size() + sizeof(row) * probes.size + (1 << 16));
  }
}

// Of more than 2^14 probes of a part several blocks look up some each.
TYPED_TEST(equal_rows_test, of_a_key_that_most_probes_ask_for) {
  auto random = generator();
  std::vector<TypeParam> probes = this->keys_of(40'000, 3000, random);
  std::fill(probes.begin() + 1000, probes.end() - 1000,
            static_cast<TypeParam>(5 * TestFixture::factor));
  this->check(this->different(3000, random), probes);
  this->check(this->keys_of(3000, 2000, random), probes);
}

// Parts that have more build rows than most have are looked up again, with room for them; where a
// block has no room, by none.
TYPED_TEST(equal_rows_test, of_a_key_that_many_build_rows_have) {
  auto random = generator();
  const session& at = this->at();
  std::vector<TypeParam> builds = this->different(6000, random);
  std::fill_n(builds.begin() + 100, 3000, builds.front());
  this->check(builds, this->keys_of(50, 6000, random));
  const auto same = at.upload(std::vector<TypeParam>(20'000, 5));
  const column all(same);
  EXPECT_FALSE(cuda::find_by_parts<TypeParam>(at, all, all, {.seed = 1}));
  EXPECT_FALSE(cuda::find_by_table<TypeParam>(at, all, all, {.seed = 1}));
  // A part of a table has fewer slots, but without rows a table of one part is made then.
  const equality any_row{.seed = 1, .joining = core::joining::once_if_any};
  for (const std::size_t in_l2 : {cuda::table_options{}.in_l2, std::size_t{0}}) {
    const auto found = cuda::find_by_table<TypeParam>(at, all, all, any_row, {.in_l2 = in_l2});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rows.rows, all.size);
  }
}

}  // namespace
}  // namespace raydex::test
