// SPDX-License-Identifier: Apache-2.0
// What all hash tables do alike: tables that are skewed, or edited without a build; what they
// refuse, and the memory of their builds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/lookups/hash_tables/tables.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

class hash_table : public test::hash_table_test, public testing::WithParamInterface<std::string> {
 protected:
  const std::string& structure() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(structures, hash_table, testing::Values("hash_open", "hash_bucket"),
                         [](const auto& tested) { return tested.param; });

TEST_P(hash_table, a_key_of_half_of_all_rows) {
  std::vector<std::uint32_t> keys = numbers(0, 5000);
  for (std::size_t i = 0; i < keys.size(); i += 2)
    keys[i] = 77;
  expect_answers_of(keys, *build(structure(), keys), numbers(0, 100));
}

// The keys whose hashes mark slots that were erased, and slots that were never used.
template <class Key>
constexpr Key marks_erased = 0;
constexpr std::uint32_t tested_seed = 7;
template <class Key>
constexpr Key marks_unused = core::key_of(core::hash_by<Key>(tested_seed), static_cast<Key>(-1));

TEST_P(hash_table, no_key_is_reserved) {
  using key = std::uint32_t;
  ASSERT_EQ(core::hash_by<key>(tested_seed)(marks_erased<key>), 0);
  ASSERT_EQ(core::hash_by<key>(tested_seed)(marks_unused<key>), 0xffff'ffff);
  std::vector<key> keys{marks_erased<key>, marks_unused<key>};
  auto random = test::generator();
  for (int i = 0; i < 5000; ++i)
    keys.push_back(static_cast<key>(random()));
  const auto whole = build(structure(), keys, {{"seed", "7"}});
  expect_answers_of(keys, *whole, keys);
  const std::vector<key> few{5};
  expect_answers_of(few, *build(structure(), few, {{"seed", "7"}}), {0, 5, marks_unused<key>});
}

// A build sorts wide hashes by their highest bits, and then what shares these.
TEST_P(hash_table, hashes_that_share_their_highest_bits) {
  using key = std::uint64_t;
  const auto expect_answers = [&](std::vector<key> keys) {
    for (key& own : keys)
      own = core::key_of(core::hash_by<key>(tested_seed), own);
    const auto cells = at().upload(keys);
    const auto build_of = [&](const std::string& name, const option_map& options) {
      return raydex::build(name, at().where(), at(), column(cells), {}, options);
    };
    const probes batch = points(column(cells));
    EXPECT_EQ(test::ask(at(), *build_of(structure(), {{"seed", "7"}}), batch),
              test::ask(at(), *build_of("sorted_array", {}), batch));
  };
  constexpr key pairs = 1 << 15;
  std::vector<key> hashes;
  for (key i = 0; i < 2 * pairs; ++i)
    hashes.push_back((i % pairs) << 49 | (2 * pairs - i));
  expect_answers(hashes);
  hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 3000);
  expect_answers(hashes);
  // More of them than are put in order.
  for (key i = 0; i < 1000; ++i)
    hashes.push_back(i % 2);
  expect_answers(hashes);
}

// Slots beside an entry look as if they had its key, in buckets of all layouts.
TEST_P(hash_table, keys_beside_slots_that_look_the_same) {
  const auto check = [&]<class Key, class RowId>(Key, RowId) {
    const auto first_of = [&](const index& asked, Key wanted) {
      const auto cells = at().upload(std::vector<Key>{wanted});
      return test::ask(at(), asked, points(column(cells))).first[0];
    };
    option_map options{{"seed", "7"}};
    const auto build_of = [&](const std::vector<Key>& keys) {
      std::vector<RowId> numbers(keys.size());
      std::iota(numbers.begin(), numbers.end(), RowId{0});
      const auto cells = at().upload(keys);
      const auto rows = at().upload(numbers);
      return raydex::build(structure(), at().where(), at(), column(cells), column(rows), options);
    };
    const Key last = marks_unused<Key>;
    ASSERT_EQ(core::hash_by<Key>(tested_seed)(last), static_cast<Key>(-1));
    EXPECT_EQ(first_of(*build_of({last}), last), 0);
    EXPECT_EQ(first_of(*build_of({last, 5, 6}), last), 0);
    for (const char* const placement : {"linear", "jumps", "choices"}) {
      if (structure() == "hash_open") options["placement"] = placement;
      // The order of the keys is that of their slots, where buckets do not keep one.
      for (Key gone = 1; gone < 10; ++gone) {
        for (const bool last_one : {false, true}) {
          std::vector<Key> keys{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
          if (last_one) std::swap(keys.front(), keys.back());
          const auto tested = build_of(keys);
          const auto erased = at().upload(std::vector<Key>{gone});
          tested->edit(context(at()).stream, {.erase = column(erased)});
          EXPECT_EQ(first_of(*tested, 0), last_one ? 9 : 0) << placement << ", without " << gone;
        }
      }
    }
  };
  check(std::uint32_t{}, std::uint32_t{});
  check(std::uint32_t{}, std::uint64_t{});
  check(std::uint64_t{}, std::uint32_t{});
  check(std::uint64_t{}, std::uint64_t{});
}

// An erased slot looks as if it held key 0; here one comes before that key in its bucket.
TEST_P(hash_table, a_key_behind_an_erased_slot) {
  const auto check = [&]<class Key, class RowId>(Key, RowId) {
    const auto keys = at().upload(std::vector<Key>{7, 8});
    const auto rows = at().upload(std::vector<RowId>{0, 1});
    const auto tested = raydex::build(structure(), at().where(), at(), column(keys), column(rows));
    const auto inserted = at().upload(std::vector<Key>{0});
    const auto row = at().upload(std::vector<RowId>{5});
    const stream_t stream = context(at()).stream;
    tested->edit(stream, {.insert = column(inserted), .insert_rows = column(row)});
    tested->edit(stream, {.erase = column(keys)});
    const auto cells = at().upload(std::vector<Key>{7, 0, 8});
    const auto found = test::ask(at(), *tested, points(column(cells)));
    constexpr std::uint64_t none = not_found<RowId>;
    EXPECT_EQ(found.first, (std::vector<std::uint64_t>{none, 5, none}));
    EXPECT_EQ(found.rows, (std::vector<std::uint64_t>{5}));
  };
  check(std::uint32_t{}, std::uint32_t{});
  check(std::uint32_t{}, std::uint64_t{});
  check(std::uint64_t{}, std::uint32_t{});
  check(std::uint64_t{}, std::uint64_t{});
}

TEST_P(hash_table, insertions_and_deletions_without_a_build) {
  std::vector<std::uint32_t> keys = numbers(0, 4000);
  const auto tested = build(structure(), keys);
  const std::uint64_t bytes = tested->info().resident_bytes;
  const stream_t stream = context(at()).stream;
  for (std::uint32_t wave = 0; wave < 4; ++wave) {
    SCOPED_TRACE(wave);
    const auto insert = numbers(4000 + 50 * wave, 4050 + 50 * wave);
    const auto erase = numbers(7 * wave, 4000, 41);
    const auto insert_cells = at().upload(insert);
    const auto erase_cells = at().upload(erase);
    tested->edit(stream, {.insert = column(insert_cells),
                          .insert_rows = column(insert_cells),
                          .erase = column(erase_cells)});
    keys.insert(keys.end(), insert.begin(), insert.end());
    std::erase_if(keys, [&](std::uint32_t key) {
      return std::binary_search(erase.begin(), erase.end(), key);
    });
    // No new build, whose table would be larger; chains may go on in new nodes.
    if (structure() == "hash_open") {
      EXPECT_EQ(tested->info().resident_bytes, bytes);
    }
    EXPECT_LT(tested->info().resident_bytes, bytes + bytes / 10);
    EXPECT_EQ(tested->info().entries, keys.size());
    // Rows are keys.
    const auto cells = at().upload(numbers(0, 4300));
    const auto got = test::ask(at(), *tested, points(column(cells)));
    for (std::uint32_t key = 0; key < 4300; ++key) {
      const bool is_there = std::find(keys.begin(), keys.end(), key) != keys.end();
      ASSERT_EQ(got.first[key], is_there ? key : not_found<std::uint32_t>) << key;
      ASSERT_EQ(got.counts[key], is_there ? 1 : 0) << key;
    }
  }
}

TEST_P(hash_table, more_insertions_than_there_is_room_for) {
  const auto tested = build(structure(), numbers(0, 1000));
  const std::uint64_t bytes = tested->info().resident_bytes;
  const auto more = numbers(1000, 3000);
  const auto cells = at().upload(more);
  tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(cells)});
  EXPECT_EQ(tested->info().entries, 3000);
  EXPECT_GT(tested->info().resident_bytes, 2 * bytes);
  expect_answers_of(numbers(0, 3000), *tested, numbers(0, 4000));
}

TEST_P(hash_table, an_insertion_of_a_key_that_is_there) {
  const auto tested = build(structure(), numbers(0, 1000));
  const std::vector<std::uint32_t> again{7};
  const std::vector<std::uint32_t> row{5000};
  const auto cells = at().upload(again);
  const auto rows = at().upload(row);
  tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(rows)});
  const auto got = test::ask(at(), *tested, points(column(cells)));
  EXPECT_EQ(got.rows, (std::vector<std::uint64_t>{7, 5000}));
  EXPECT_EQ(got.first, (std::vector<std::uint64_t>{7}));
}

TEST_P(hash_table, repeated_keys_are_refused_where_that_is_asked) {
  test::expect_error<invalid_argument>(
      [&] {
        build(structure(), {1, 2, 3, 2, 2}, {{"repeats", "refused"}});
      },
      {"2 of 5 repeat", "repeats=refused"});
  const auto tested = build(structure(), {1, 2, 3}, {{"repeats", "refused"}});
  const std::vector<std::uint32_t> again{3};
  const auto cells = at().upload(again);
  EXPECT_THROW(
      tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(cells)}),
      invalid_argument);
  expect_answers_of({1, 2, 3}, *tested, {0, 1, 2, 3, 4});
}

TEST_P(hash_table, ranges_and_places_are_refused) {
  const auto tested = build(structure(), {1, 2, 3});
  const auto cells = at().upload(std::vector<std::uint32_t>{1, 2});
  buffer<std::uint64_t> out(at(), 2);
  test::expect_error<unsupported>(
      [&] { tested->count(at(), ranges(column(cells), column(cells)), out); },
      {structure(), "pivot_tree"});
  // Before anything is allocated.
  test::limited_resource nothing(context(at()).memory, 0);
  const context scarce{nothing, context(at()).stream};
  test::expect_error<unsupported>([&] { tested->rank(scarce, points(column(cells)), out); },
                                  {"rank", structure(), "pivot_tree"});
  test::expect_error<unsupported>([&] { tested->predecessor(scarce, points(column(cells)), out); },
                                  {"predecessor", structure(), "pivot_tree"});
  test::expect_error<unsupported>([&] { build_aggregate(scarce, *tested, column(cells)); },
                                  {"aggregate", structure(), "pivot_tree"});
}

// As many buckets as random keys have: by their own hash function these would be in one.
TEST_P(hash_table, crafted_keys_lie_as_others_do) {
  const std::uint32_t count = test::small_scale() || test::tested_by_emulation() ? 2000 : 100'000;
  std::vector<option_map> all{{}};
  if (structure() == "hash_open") all = {{}, {{"placement", "jumps"}}, {{"placement", "choices"}}};
  for (option_map options : all) {
    for (const bool seed_is_known : {false, true}) {
      SCOPED_TRACE((options.empty() ? "" : options.begin()->second) +
                   (seed_is_known ? ", known" : ""));
      if (seed_is_known) options["seed"] = "7";
      const auto crafted = seed_is_known ? of_one_home(count, 7) : of_one_home(count);
      const auto usual = build(structure(), numbers(0, count), options);
      const auto tested = build(structure(), crafted, options);
      const auto limit = usual->info().resident_bytes * 11 / 10;
      EXPECT_LT(tested->info().resident_bytes, limit);
      expect_answers_of(crafted, *tested, of_one_home(2 * count, 7));
      // And as insertions.
      const std::vector<std::uint32_t> first(crafted.begin(), crafted.begin() + 50);
      const auto edited = build(structure(), first, options);
      const std::vector<std::uint32_t> rest(crafted.begin() + 50, crafted.end());
      for (std::uint32_t begin = 50; begin < count; begin += begin / 4) {
        const std::uint32_t end = std::min(count, begin + begin / 4);
        const auto rows = at().upload(numbers(begin, end));
        const auto cells = at().upload(std::vector(crafted.begin() + begin, crafted.begin() + end));
        edited->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(rows)});
      }
      EXPECT_LT(edited->info().resident_bytes, 2 * limit);
      expect_answers_of(crafted, *edited, crafted);
    }
  }
}

TEST_P(hash_table, a_seed_gives_the_same_table_each_time) {
  const auto keys = numbers(0, 1000);
  const auto bytes_by = [&](const char* seed) {
    return build(structure(), keys, {{"seed", seed}})->info().resident_bytes;
  };
  EXPECT_EQ(bytes_by("4294967295"), bytes_by("4294967295"));
  test::expect_error<invalid_argument>([&] { bytes_by("4294967296"); }, {"seed", "random"});
}

TEST_P(hash_table, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = at().upload(numbers(0, 10'000));
  test::check_memory_of_build(at(), [&](const context& on) {
    return raydex::build(structure(), at().where(), on, column(keys), {}, {{"seed", "7"}});
  });
}

}  // namespace
}  // namespace raydex
