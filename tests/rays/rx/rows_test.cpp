// SPDX-License-Identifier: Apache-2.0
// Primitives in the order of the rows: all that rays meet is the answer, since no sorted column is
// there to look it up.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

template <class Key>
using key_list = std::vector<Key>;
using list64 = key_list<std::uint64_t>;

class rx_rows : public test::backend_test {
 protected:
  template <class Key>
  std::unique_ptr<rx> build(const key_list<Key>& keys, rx_options options = {}) const {
    options.primitives = rx_primitives::rows;
    const auto cells = at().upload(keys);
    return build_rx(at().where(), at(), column(cells), {}, options);
  }
  stream_t stream() const { return context(at()).stream; }

  // Asks for each of some keys and its neighbours, and for ranges from each over so many keys.
  template <class Key>
  void expect_holds(const index& built, const key_list<Key>& keys, const key_list<Key>& asked,
                    std::uint64_t longest) const {
    SCOPED_TRACE(built.info().options);
    const std::vector<std::optional<Key>> cells(keys.begin(), keys.end());
    std::vector<std::uint64_t> ids(keys.size());
    std::iota(ids.begin(), ids.end(), 0);
    const test::oracle<Key> expected(cells, ids);
    auto random = test::generator(keys.size());
    constexpr std::uint64_t most = std::numeric_limits<Key>::max();
    key_list<Key> lower;
    key_list<Key> upper;
    for (const std::uint64_t key : asked) {
      for (const std::uint64_t near :
           {key - (key != 0 ? 1 : 0), key, key + (key != most ? 1 : 0)}) {
        lower.push_back(static_cast<Key>(near));
        upper.push_back(static_cast<Key>(near + std::min(most - near, random() % longest)));
      }
    }
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    buffer<std::uint32_t> rows(at(), lower.size());
    buffer<std::uint64_t> counts(at(), lower.size());
    buffer<std::uint64_t> sums(at(), lower.size());
    for (const bool as_points : {true, false}) {
      const probes batch = as_points ? points(column(lower_cells))
                                     : ranges(column(lower_cells), column(upper_cells));
      built.first(at(), batch, rows);
      built.count(at(), batch, counts);
      built.sum(at(), batch, sums);
      const auto got_rows = at().download(rows);
      const auto got_counts = at().download(counts);
      const auto got_sums = at().download(sums);
      for (std::size_t i = 0; i < lower.size(); ++i) {
        const Key last = as_points ? lower[i] : upper[i];
        const auto wanted = expected.rows(lower[i], last);
        ASSERT_EQ(got_counts[i], wanted.size()) << lower[i] << " to " << last;
        ASSERT_EQ(got_sums[i], std::accumulate(wanted.begin(), wanted.end(), std::uint64_t{0}));
        ASSERT_EQ(got_rows[i], wanted.empty() ? not_found<std::uint32_t>
                                              : *std::min_element(wanted.begin(), wanted.end()));
      }
    }
  }

  template <class Key>
  void check(key_list<Key> keys, const rx_options& options, std::uint64_t longest) const {
    auto random = test::generator(keys.size());
    std::shuffle(keys.begin(), keys.end(), random);
    expect_holds(*build(keys, options), keys, keys, longest);
  }
};

std::vector<rx_options> tested_options() {
  return {{.primitive = rx_primitive::triangle},
          {.primitive = rx_primitive::triangle, .compact = true, .build = rx_build::trace},
          {.primitive = rx_primitive::triangle, .parts = 7},
          {.primitive = rx_primitive::sphere, .parts = 3},
          {.bits = {.x = 18, .y = 23, .z = 23}, .scale = rx_scale{.y = 3, .z = 9}}};
}

TEST_F(rx_rows, sizes_and_parts) {
  for (const std::size_t size : {0U, 1U, 2U, 255U, 256U, 257U, 5000U}) {
    key_list<std::uint32_t> keys(size);
    auto random = test::generator(size);
    for (auto& key : keys)
      key = static_cast<std::uint32_t>(random());
    key_list<std::uint32_t> some = keys;
    some.resize(std::min<std::size_t>(size, 300));
    for (const unsigned parts : {0U, 1U, 2U, 3U, 256U, 4096U})
      expect_holds(*build(keys, {.parts = parts}), keys, some, 1U << 21);
  }
}

TEST_F(rx_rows, edges_of_rows_and_planes) {
  list64 keys;
  for (const std::uint64_t plane : {0ULL, 1ULL, (1ULL << 18) - 1}) {
    for (const std::uint64_t row : {0ULL, 1ULL, (1ULL << 23) - 1}) {
      for (const std::uint64_t x : {0ULL, 1ULL, (1ULL << 20) - 1, 1ULL << 20, (1ULL << 23) - 1})
        keys.push_back(plane << 46 | row << 23 | x);
    }
  }
  for (const rx_options& options : tested_options())
    check(keys, options, 1 << 25);
}

TEST_F(rx_rows, all_of_32_bits) {
  key_list<std::uint32_t> keys{0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'fffe, 0xffff'ffff};
  auto random = test::generator();
  for (int i = 0; i < 300; ++i)
    keys.push_back(static_cast<std::uint32_t>(random()));
  check(keys, {}, 1ULL << 32);
}

TEST_F(rx_rows, equal_keys) {
  for (const std::uint64_t key : {0ULL, 1ULL << 23, ~0ULL}) {
    list64 keys(150, key);
    for (const rx_options& options : tested_options())
      check(keys, options, 1);
    keys.insert(keys.end(), {key / 2, key, key - 1, key + 1});
    check(keys, {}, 3);
  }
}

TEST_F(rx_rows, naive_mode) {
  key_list<std::uint32_t> keys{0, 1, (1 << 22) - 1, 1 << 22, (1 << 23) - 2, (1 << 23) - 1};
  check(keys, {.mode = rx_mode::naive}, 1 << 23);
  keys.push_back(1 << 23);
  test::expect_error<unsupported>([&] { build(keys, {.mode = rx_mode::naive}); },
                                  {"8388608", "up to 8388607"});
}

TEST_F(rx_rows, ranges_of_too_many_rays_are_refused) {
  constexpr std::uint64_t of_ray = 1 << 20;
  constexpr std::uint64_t rays = 1 << 16;
  const auto built = build(list64{0, 7, rays * of_ray - 1, rays * of_ray, ~0ULL});
  const auto count = [&](const list64& lower, const list64& upper) {
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    buffer<std::uint64_t> counts(at(), lower.size());
    built->count(at(), ranges(column(lower_cells), column(upper_cells)), counts);
    return at().download(counts);
  };
  EXPECT_EQ(count({0, 5}, {rays * of_ray - 1, 3}), (list64{3, 0}));
  EXPECT_EQ(count({1ULL << 60, 1}, {(1ULL << 60) + of_ray, 0}), (list64{0, 0}));
  test::expect_error<unsupported>(
      [&] {
        count({5, 0}, {7, rays * of_ray});
      },
      {"probes", "65536", "primitives=sorted"});
  // What lies outside the keys takes no rays.
  const auto narrow = build(list64{5, 6});
  expect_holds(*narrow, list64{5, 6}, list64{0}, ~0ULL);
}

TEST_F(rx_rows, holds_nothing_but_the_scene) {
  auto random = test::generator();
  key_list<std::uint32_t> keys(20'000);
  for (auto& key : keys)
    key = static_cast<std::uint32_t>(random());
  const auto cells = at().upload(keys);
  const auto bytes = [&](rx_options options, const std::optional<column>& row_ids) {
    options.primitive = rx_primitive::triangle;
    options.duplicates = rx_duplicates::keep;
    return build_rx(at().where(), at(), column(cells), row_ids, options)->info().resident_bytes;
  };
  const rx_options rows{.primitives = rx_primitives::rows};
  const std::uint64_t column_bytes = 8 * keys.size();
  EXPECT_LE(bytes(rows, {}) + column_bytes * 9 / 10, bytes({}, {}));
  EXPECT_GE(bytes(rows, column(cells)), bytes(rows, {}) + 4 * keys.size());
}

TEST_F(rx_rows, swapped_keys_move_primitives) {
  list64 keys(3000);
  std::iota(keys.begin(), keys.end(), 0);
  auto random = test::generator();
  std::shuffle(keys.begin(), keys.end(), random);
  const auto built = build(keys, {.parts = 2});
  for (std::size_t i = 0; i < keys.size(); i += 2)
    std::swap(keys[i], keys[i + 1]);
  built->update(stream(), column(at().upload(keys)));
  expect_holds(*built, keys, keys, 5);
  // More keys, fewer, and none.
  for (const std::size_t size : {4000U, 10U, 0U, 1U}) {
    keys.resize(size, 77);
    built->update(stream(), column(at().upload(keys)));
    EXPECT_EQ(built->info().entries, size);
    expect_holds(*built, keys, list64{0, 77, 5000}, 4000);
  }
}

TEST_F(rx_rows, row_ids_and_missing_keys) {
  const auto keys = at().upload(list64{5, 3, 5, 5});
  const std::vector<std::uint8_t> bits{0b1011};
  const auto validity = at().upload(bits);
  const column present(keys, validity.data());
  const auto ids = at().upload(std::vector{9U, 70U, 8U, 2U});
  const auto built =
      build_rx(at().where(), at(), present, column(ids), {.primitives = rx_primitives::rows});
  EXPECT_EQ(built->info().max_row_id, 70U);
  EXPECT_EQ(built->info().entries, 3U);
  const auto asked = at().upload(list64{5, 3});
  buffer<std::uint64_t> sums(at(), 2);
  built->sum(at(), points(column(asked)), sums);
  EXPECT_EQ(at().download(sums), (list64{11, 70}));
  built->update(stream(), present);
  built->sum(at(), points(column(asked)), sums);
  EXPECT_EQ(at().download(sums), (list64{3, 1}));
}

TEST_F(rx_rows, an_update_that_runs_out_leaves_the_index_as_it_was) {
  const context plain = at();
  auto random = test::generator();
  list64 before(3000);
  std::generate(before.begin(), before.end(), std::ref(random));
  const auto cells = at().upload(before);
  const auto after = at().upload(list64(before.rbegin(), before.rend()));
  const rx_options options{.primitives = rx_primitives::rows, .parts = 2};
  test::limited_resource plenty(plain.memory, std::numeric_limits<std::size_t>::max());
  {
    const auto built = build_rx(at().where(), {plenty, plain.stream}, column(cells), {}, options);
    built->update(plain.stream, column(after));
  }
  std::size_t failures = 0;
  for (std::size_t limit = plenty.peak() / 4; limit < plenty.peak();
       limit += plenty.peak() / 13 + 1) {
    test::limited_resource scarce(plain.memory, limit);
    try {
      const auto built = build_rx(at().where(), {scarce, plain.stream}, column(cells), {}, options);
      EXPECT_THROW(built->update(plain.stream, column(after)), out_of_memory);
      ++failures;
      expect_holds(*built, before, before, 3);
    } catch (const out_of_memory&) {
      // There was not even enough for the build.
    }
    EXPECT_EQ(scarce.held(), 0);
  }
  EXPECT_GT(failures, 0);
}

TEST_F(rx_rows, what_takes_a_sorted_column_is_refused) {
  const list64 keys{5, 3, 5};
  const auto cells = at().upload(keys);
  const auto built = build(keys);
  EXPECT_EQ(built->info().options.find("hits="), std::string::npos);
  EXPECT_NE(built->info().options.find("primitives=rows"), std::string::npos);
  buffer<std::uint64_t> numbers(at(), 4);
  const probes batch = points(column(cells));
  const std::span three(numbers.data(), 3);
  const auto refused = [](const auto& call) {
    test::expect_error<unsupported>(call, {"rx", "primitives=rows"});
  };
  refused([&] { built->rows(at(), batch); });
  built->offsets(at(), batch, numbers);
  EXPECT_EQ(at().download(numbers), (list64{0, 2, 3, 5}));
  buffer<std::uint32_t> rows(at(), 5);
  refused([&] { built->rows(at(), batch, numbers, rows); });
  refused([&] { built->rank(at(), batch, three); });
  refused([&] { built->successor(at(), batch, three); });
  refused([&] { build_aggregate(at(), *built, std::nullopt); });
  const auto row_ids = at().upload(std::vector{7U, 8U, 9U});
  refused(
      [&] { built->edit(stream(), {.insert = column(cells), .insert_rows = column(row_ids)}); });
  refused([&] {
    build_join(at().where(), at(), {column(cells)},
               {.structure = "rx", .options = {{"primitives", "rows"}}})
        ->match(at(), {column(cells)}, join_kind::inner);
  });
  expect_holds(*built, keys, keys, 3);
}

TEST_F(rx_rows, what_needs_hits_checked_is_refused) {
  const auto refused = [&](const rx_options& options, const char* option) {
    test::expect_error<unsupported>(
        [&] {
          build(list64{1, 2}, options);
        },
        {option, "primitives=", "take"});
  };
  refused({.primitive = rx_primitive::box}, "option primitive");
  refused({.mode = rx_mode::extended}, "option mode");
}

}  // namespace
}  // namespace raydex
