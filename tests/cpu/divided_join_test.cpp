// SPDX-License-Identifier: Apache-2.0
// Rows of equal keys by parts, of few rows in many parts: what larger tables have at their edges.
#include "src/machines/cpu/joins/divided_join.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::cpu {
namespace {

using test::below;

template <class Key>
struct side {
  std::vector<Key> keys;
  std::vector<std::uint8_t> validity;

  column view() const { return column(keys, validity.empty() ? nullptr : validity.data()); }
  bool valid(std::size_t i) const {
    return validity.empty() || (validity[i / 8] >> (i % 8) & 1) != 0;
  }
};

// So many rows of some keys, half of them of one where it is heavy; some missing.
template <class Key>
side<Key> make(std::size_t size, std::uint64_t keys, bool heavy, bool missing,
               std::mt19937_64& random) {
  side<Key> made;
  for (std::size_t i = 0; i < size; ++i)
    made.keys.push_back(heavy && below(random, 2) != 0 ? Key{3}
                                                       : static_cast<Key>(below(random, keys)));
  for (std::size_t i = 0; missing && i < (size + 7) / 8; ++i)
    made.validity.push_back(static_cast<std::uint8_t>(random()));
  return made;
}

template <class Key, class RowId>
divided_join<Key, RowId> divided(const context& on, const column& build, const column& probe,
                                 const core::hash_function<Key>& mix,
                                 const core::composite_cells* hashed, core::joining joining,
                                 unsigned bits) {
  key_filter<Key> probed =
      probed_keys(on, hashed_column<Key>(build, mix), hashed_column<Key>(probe, mix));
  return {on, build, probe, mix, std::move(probed), hashed, joining, bits};
}

template <class Types>
class divided_join_of : public testing::Test {
 protected:
  using key = typename Types::first_type;
  using row_id = typename Types::second_type;

  void check(const side<key>& build, const side<key>& probe, unsigned bits) {
    SCOPED_TRACE(std::to_string(build.keys.size()) + " build rows, " +
                 std::to_string(probe.keys.size()) + " probe rows, " + std::to_string(bits) +
                 " bits");
    std::map<key, std::vector<std::uint64_t>> rows;
    std::uint64_t entries = 0;
    for (std::size_t i = 0; i < build.keys.size(); ++i) {
      if (!build.valid(i)) continue;
      rows[build.keys[i]].push_back(i);
      ++entries;
    }
    const core::hash_function<key> mix = core::hash_by<key>(random_());
    divided_join<key, row_id> tested = divided<key, row_id>(on_, build.view(), probe.view(), mix,
                                                            nullptr, core::joining::matches, bits);
    EXPECT_FALSE(tested.confused());
    // Where probes are few, build rows that none of them may match are left out.
    const bool all_pass = probe.keys.size() > build.keys.size() / 4;
    EXPECT_LE(tested.entries(), entries);
    if (all_pass) {
      EXPECT_EQ(tested.entries(), entries);
    }
    const found_rows<row_id> found = tested.take();
    ASSERT_EQ(found.probes(), probe.keys.size());
    if (all_pass && (found.left_out == 0 || found.counts.size() != 0)) {
      EXPECT_EQ(found.counts.size(), rows.size() == entries ? 0 : found.begins.size());
    }
    std::vector<std::vector<std::uint64_t>> expected(probe.keys.size());
    for (std::size_t i = 0; i < probe.keys.size(); ++i) {
      const auto place = rows.find(probe.keys[i]);
      if (probe.valid(i) && place != rows.end()) expected[i] = place->second;
    }
    ASSERT_EQ(rows_of(found, join_kind::inner), expected);
    left_out_ = found.left_out;
    listed_ = found.probe_rows.size();
    check_others(build, probe, mix, bits, expected);
  }

  // The build rows of each probe row.
  static std::vector<std::vector<std::uint64_t>> rows_of(const found_rows<row_id>& found,
                                                         join_kind kind) {
    std::vector<std::vector<std::uint64_t>> rows(found.probes());
    const auto view = found.view(kind);
    for (std::uint64_t i = 0; i < found.begins.size(); ++i) {
      if (i != 0) {
        EXPECT_LT(view.probe_row(i - 1), view.probe_row(i));
      }
      for (std::uint64_t k = 0; k < view.matches(i); ++k)
        rows.at(view.probe_row(i)).push_back(view.build_row(i, k));
    }
    return rows;
  }

  // Of joins with probe rows without a match none is left out; of semi and anti joins no build rows
  // are listed.
  void check_others(const side<key>& build, const side<key>& probe,
                    const core::hash_function<key>& mix, unsigned bits,
                    const std::vector<std::vector<std::uint64_t>>& expected) {
    for (const join_kind kind : {join_kind::left, join_kind::semi, join_kind::anti}) {
      SCOPED_TRACE(to_string(kind));
      divided_join<key, row_id> tested = divided<key, row_id>(on_, build.view(), probe.view(), mix,
                                                              nullptr, joining_of(kind), bits);
      const found_rows<row_id> found = tested.take();
      ASSERT_EQ(found.probes(), probe.keys.size());
      EXPECT_EQ(found.left_out, kind == join_kind::semi ? left_out_ : 0);
      auto rows = rows_of(found, kind);
      if (kind == join_kind::left) {
        ASSERT_EQ(rows, expected);
        continue;
      }
      EXPECT_EQ(found.list, nullptr);
      EXPECT_EQ(found.own_list.size(), 0);
      for (std::size_t i = 0; i < rows.size(); ++i)
        ASSERT_EQ(rows[i].empty(), expected[i].empty()) << "probe row " << i;
    }
  }

  host_memory_resource memory_;
  context on_{memory_};
  std::mt19937_64 random_{7};
  std::uint64_t left_out_ = 0;  // probe rows, of the last inner join
  std::uint64_t listed_ = 0;    // the others, if any were
};

using types =
    testing::Types<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint32_t>,
                   std::pair<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(divided_join_of, types);

TYPED_TEST(divided_join_of, keys_in_any_parts) {
  using cell = typename TestFixture::key;
  for (const unsigned bits : {0U, 1U, 5U, 11U}) {
    for (const std::size_t builds : {0U, 1U, 2U, 700U, 3000U}) {
      for (const std::size_t probes : {0U, 1U, 511U, 512U, 513U, 2000U}) {
        for (const std::uint64_t keys : {2U, 900U, 100'000U}) {
          const bool heavy = keys == 900;
          const bool missing = below(this->random_, 2) != 0;
          if (builds * probes / keys > 200'000) continue;
          this->check(make<cell>(builds, keys, heavy, missing, this->random_),
                      make<cell>(probes, keys, false, missing, this->random_), bits);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

// Each part has more rows than it was expected to, and more probes than one thread looks up.
TYPED_TEST(divided_join_of, keys_in_heavy_parts) {
  using cell = typename TestFixture::key;
  this->check(make<cell>(20'000, 10'000, true, false, this->random_),
              make<cell>(3, 5, false, true, this->random_), 4);
  this->check(make<cell>(4, 4, false, false, this->random_),
              make<cell>(700'000, 300, true, true, this->random_), 2);
}

// If few probes have a match, most others are left out; from 128 probes a part on, and half as many
// as build rows.
TYPED_TEST(divided_join_of, few_matches) {
  using cell = typename TestFixture::key;
  const auto check = [&](std::size_t builds, std::size_t probes, std::uint64_t copies,
                         unsigned percent, bool missing) {
    auto build = make<cell>(builds, builds / copies + 1, false, missing, this->random_);
    auto probe = make<cell>(probes, builds / copies + 1, false, missing, this->random_);
    for (cell& one : probe.keys)
      if (below(this->random_, 100) >= percent) one += 1'000'000;
    this->check(build, probe, 3);
    return this->left_out_;
  };
  for (const bool missing : {false, true}) {
    EXPECT_EQ(check(100, 1023, 1, 0, missing), 0);
    EXPECT_GE(check(100, 1024, 1, 0, missing), 900);
    EXPECT_EQ(check(4000, 1999, 1, 10, missing), 0);
    EXPECT_GE(check(4000, 2000, 1, 10, missing), 1400);
    EXPECT_GE(check(2000, 140'000, 5, 1, missing), 120'000);
    EXPECT_EQ(check(2000, 30'000, 5, 100, false), 0);
    EXPECT_EQ(check(0, 1500, 1, 100, missing), 1500);
    if (this->HasFatalFailure()) return;
  }
}

// Nothing is listed if the probes that are tried tell nothing, or the wrong thing.
TYPED_TEST(divided_join_of, matches_that_are_not_few) {
  using cell = typename TestFixture::key;
  const auto build = make<cell>(4000, 4000, false, false, this->random_);
  for (std::size_t i = 0; i < 20; ++i) {
    this->check(build, {std::vector<cell>(64'000, build.keys[i]), {}}, 3);
    EXPECT_EQ(this->listed_, 0);
  }
  auto probe = make<cell>(64'000, 4000, false, false, this->random_);
  for (std::size_t i = 0; i < probe.keys.size(); ++i)
    probe.keys[i] = i % 1000 < 16 ? 1'000'000 : build.keys[i % 4000];
  this->check(build, probe, 3);
  EXPECT_EQ(this->listed_, 0);
}

// A part with more different keys than expected is put in a larger table.
TEST(part_table, grows) {
  host_memory_resource memory;
  part_table<std::uint64_t, std::uint32_t> tested(context{memory});
  const core::hash_function<std::uint64_t> mix;
  for (const std::uint64_t copies : {1U, 3U}) {
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t i = 0; i < 3000; ++i)
      hashes.push_back(mix(i / copies));
    tested.fill(hashes, 0, 2, true);
    EXPECT_EQ(tested.repeats(), copies != 1);
    for (std::uint64_t i = 0; i < 3000; ++i)
      ASSERT_EQ(tested.find(hashes[i]), i / copies * copies);
    EXPECT_EQ(tested.find(mix(3000)), (part_table<std::uint64_t, std::uint32_t>::none));
    tested.fill(hashes, 0, 2, false);
    EXPECT_FALSE(tested.repeats());
    for (std::uint64_t i = 0; i < 3000; ++i)
      ASSERT_EQ(tested.find(hashes[i]), i / copies * copies);
  }
}

// Rows whose hashes are equal and whose keys are not.
TEST(equal_hashes, are_noticed) {
  host_memory_resource memory;
  const context on{memory};
  const std::string bytes = "onetwoone";
  const std::vector<std::uint32_t> offsets{0, 3, 6, 9};
  core::composite_cells keys;
  keys.parts[0].bytes = bytes.data();
  keys.parts[0].offsets = offsets.data();
  keys.parts[0].is_strings = true;
  keys.count = 1;
  const core::hash_function<std::uint64_t> mix;
  for (const unsigned bits : {0U, 3U}) {
    const auto confused = [&](const std::vector<std::uint64_t>& hashes) {
      return divided<std::uint64_t, std::uint32_t>(on, column(hashes), column(hashes), mix, &keys,
                                                   core::joining::matches, bits)
          .confused();
    };
    EXPECT_FALSE(confused({5, 8, 5}));
    EXPECT_FALSE(confused({5, 8, 9}));
    EXPECT_TRUE(confused({5, 5, 5}));
    EXPECT_TRUE(confused({8, 5, 5}));
  }
}

// Few probes leave out what they do not ask for, unless most of it passes.
TEST(key_filter, is_made_where_probes_are_few) {
  host_memory_resource memory;
  const context on{memory};
  std::vector<std::uint32_t> build(20'000);
  std::iota(build.begin(), build.end(), 0);
  const auto entries = [&](const std::vector<std::uint32_t>& probe) {
    return divided<std::uint32_t, std::uint32_t>(on, column(build), column(probe), {}, nullptr,
                                                 core::joining::matches, 2)
        .entries();
  };
  const std::vector<std::uint32_t> many(build.begin(), build.begin() + 5001);
  const std::vector<std::uint32_t> few(build.begin(), build.begin() + 1000);
  EXPECT_EQ(entries(many), build.size());
  EXPECT_GE(entries(few), few.size());
  EXPECT_LT(entries(few), build.size() / 4);
  EXPECT_EQ(entries({}), 0);
  for (std::uint32_t& key : build)
    key %= 1000;
  EXPECT_EQ(entries(few), build.size());
}

TEST(part_bits, follow_the_build_rows) {
  EXPECT_EQ(part_bits(0), 0);
  EXPECT_EQ(part_bits(1 << 14), 0);
  EXPECT_EQ(part_bits((1 << 14) + 1), 2);
  EXPECT_EQ(part_bits(1 << 20), 7);
  EXPECT_EQ(part_bits(1 << 24), 10);
  EXPECT_EQ(part_bits(1 << 25), 11);
  EXPECT_EQ(part_bits(std::uint64_t{1} << 40), 11);
}

}  // namespace
}  // namespace raydex::cpu
