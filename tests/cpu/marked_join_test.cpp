// SPDX-License-Identifier: Apache-2.0
// Which probe rows have a match, by marks, of keys and of hashes that are given: as others would
// come about too rarely.
#include "src/machines/cpu/joins/marked_join.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::cpu {
namespace {

using test::below;

// A string a row, and its hash.
struct hashed_strings {
  std::string bytes;
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint8_t> validity;

  void add(const std::string& text, std::uint64_t hash, bool valid = true) {
    const std::size_t row = hashes.size();
    if (row % 8 == 0) validity.push_back(0);
    if (valid) validity.back() |= static_cast<std::uint8_t>(1U << row % 8);
    bytes += text;
    offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    hashes.push_back(hash);
  }
  core::composite_cells keys() const {
    core::composite_cells all;
    all.parts[0].bytes = bytes.data();
    all.parts[0].offsets = offsets.data();
    all.parts[0].is_strings = true;
    all.count = 1;
    return all;
  }
};

class marked_join : public testing::Test {
 protected:
  template <class Key, class RowId>
  std::optional<std::vector<bool>> find(const column& build, const column& probe,
                                        const equality& how) {
    const core::hash_function<Key> mix = core::hash_by<Key>(how.seed);
    std::vector<RowId> begins(probe.size, 7);
    marked_hashes<Key, RowId> tested(on_, {probe, mix}, how, begins.data());
    tested.mark_all({build, mix});
    if (!tested.put_begins()) return std::nullopt;
    std::vector<bool> found;
    for (const RowId begin : begins) {
      EXPECT_TRUE(begin == 0 || begin == std::numeric_limits<RowId>::max());
      found.push_back(begin == 0);
    }
    return found;
  }
  // Nothing if probes are confused.
  std::optional<std::vector<bool>> find(const hashed_strings& build, const hashed_strings& probe) {
    const core::composite_cells build_keys = build.keys();
    const core::composite_cells probe_keys = probe.keys();
    return find<std::uint64_t, std::uint32_t>(
        column(build.hashes, build.validity.data()), column(probe.hashes, probe.validity.data()),
        {.seed = seed, .build_keys = &build_keys, .probe_keys = &probe_keys});
  }

  static constexpr std::uint64_t seed = 5;
  host_memory_resource memory_;
  context on_{memory_};
};

using found = std::vector<bool>;

TEST_F(marked_join, of_build_rows_with_the_hash_of_another_key) {
  hashed_strings build;
  hashed_strings probe;
  EXPECT_EQ(find(build, probe), found());
  probe.add("one", 5);
  probe.add("", 8);
  probe.add("one", 5);
  EXPECT_EQ(find(build, probe), found({false, false, false}));
  build.add("two", 5);
  build.add("two", 8);
  build.add("", 5);
  EXPECT_EQ(find(build, probe), found({false, false, false}));
  build.add("", 8);
  EXPECT_EQ(find(build, probe), found({false, true, false}));
  build.add("one", 5, false);
  EXPECT_EQ(find(build, probe), found({false, true, false}));
  build.add("one", 5);
  build.add("two", 5);
  EXPECT_EQ(find(build, probe), found({true, true, true}));
}

TEST_F(marked_join, probes_of_equal_hashes_are_noticed) {
  // The last one is what marks an empty slot.
  for (const std::uint64_t hash :
       {std::uint64_t{5}, core::key_of(core::hash_by<std::uint64_t>(seed), std::uint64_t{0})}) {
    hashed_strings build;
    hashed_strings probe;
    probe.add("two", 9);
    build.add("one", hash);
    EXPECT_EQ(find(build, probe), found({false}));
    probe.add("two", hash, false);
    probe.add("one", hash);
    probe.add("one", hash);
    EXPECT_EQ(find(build, probe), found({false, false, true, true}));
    EXPECT_EQ(find(hashed_strings(), probe), found({false, false, false, false}));
    probe.add("two", hash);
    EXPECT_FALSE(find(build, probe));
    EXPECT_FALSE(find(hashed_strings(), probe));
  }
}

// By several threads: keys of many probes, and build rows that have the hash of another key.
TEST_F(marked_join, of_many_rows) {
  auto random = test::generator();
  for (const std::uint64_t keys : {3U, 3000U, 1'000'000U}) {
    hashed_strings build;
    hashed_strings probe;
    std::set<std::uint64_t> there;
    for (std::size_t i = 0; i < 60'000; ++i) {
      const std::uint64_t key = below(random, 2 * keys);
      const bool valid = below(random, 9) != 0;
      build.add(std::to_string(key), key / 2, valid);
      if (valid) there.insert(key);
    }
    found expected;
    for (std::size_t i = 0; i < 15'000; ++i) {
      const std::uint64_t key = 2 * below(random, keys) + 1;
      const bool valid = below(random, 9) != 0;
      probe.add(std::to_string(key), key / 2, valid);
      expected.push_back(valid && there.contains(key));
    }
    EXPECT_EQ(find(build, probe), expected);
    probe.add("0", 0);
    probe.add("1", 0);
    EXPECT_FALSE(find(build, probe));
  }
}

TEST_F(marked_join, of_keys_that_are_not_hashed) {
  auto random = test::generator();
  const auto check = [&]<class Key, class RowId>(Key, RowId) {
    for (const std::uint64_t keys : {1U, 700U, 100'000U}) {
      std::vector<Key> build(20'000);
      std::vector<Key> probe(9'000);
      for (Key& key : build)
        key = static_cast<Key>(below(random, keys));
      for (Key& key : probe)
        key = static_cast<Key>(below(random, 2 * keys));
      build[300] = probe[5] = core::key_of(core::hash_by<Key>(seed), Key{0});
      const std::set<Key> there(build.begin(), build.end());
      found expected;
      for (const Key key : probe)
        expected.push_back(there.contains(key));
      EXPECT_EQ((find<Key, RowId>(column(build), column(probe), {.seed = seed})), expected);
    }
  };
  check(std::uint32_t{}, std::uint32_t{});
  check(std::uint64_t{}, std::uint32_t{});
  check(std::uint64_t{}, std::uint64_t{});
}

TEST(marks_pay, where_probes_are_few) {
  constexpr std::uint64_t rows = 1 << 22;
  for (const bool most_pass : {false, true}) {
    EXPECT_TRUE(marks_pay(rows, rows / 16, false, most_pass));
    EXPECT_FALSE(marks_pay(rows, rows / 16 + 1, false, most_pass));
    for (const bool hashed : {false, true}) {
      EXPECT_TRUE(marks_pay(0, 0, hashed, most_pass));
      EXPECT_TRUE(marks_pay(400, 100, hashed, most_pass));
      EXPECT_FALSE(marks_pay(400, 101, hashed, most_pass));
    }
  }
  EXPECT_TRUE(marks_pay(rows, rows / 64, true, false));
  EXPECT_FALSE(marks_pay(rows, rows / 64 + 1, true, false));
  EXPECT_TRUE(marks_pay(rows, rows / 4, true, true));
  EXPECT_FALSE(marks_pay(2 * rows, rows / 4 + 1, true, true));
}

}  // namespace
}  // namespace raydex::cpu
