// SPDX-License-Identifier: Apache-2.0
// An index that was given another column answers like one built over it.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/conformance/oracle.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

using key_list = std::vector<std::uint64_t>;

class rx_update_test : public test::backend_test {
 protected:
  std::unique_ptr<rx> build(const context& on, const buffer<std::uint64_t>& keys,
                            const rx_options& options) const {
    return build_rx(at().where(), on, column(keys), {}, options);
  }
  stream_t stream() const { return context(at()).stream; }
  key_list random_keys(std::size_t size, std::uint64_t mask = ~0ULL) {
    key_list keys(size);
    std::generate(keys.begin(), keys.end(), [&] { return random_() & mask; });
    return keys;
  }
  // Asks for each key of two lists, and for ranges from one to the next.
  void expect_holds(const index& built, const key_list& keys, const key_list& others) const {
    const std::vector<std::optional<std::uint64_t>> cells(keys.begin(), keys.end());
    std::vector<std::uint64_t> ids(keys.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = i;
    const test::oracle<std::uint64_t> expected(cells, ids);
    key_list lower = keys;
    lower.insert(lower.end(), others.begin(), others.end());
    key_list upper = lower;
    std::rotate(upper.begin(), upper.begin() + 1, upper.end());
    const auto lower_cells = at().upload(lower);
    const auto upper_cells = at().upload(upper);
    for (const bool as_points : {true, false}) {
      const probes batch = as_points ? points(column(lower_cells))
                                     : ranges(column(lower_cells), column(upper_cells));
      buffer<std::uint32_t> rows(at(), lower.size());
      buffer<std::uint64_t> counts(at(), lower.size());
      built.first(at(), batch, std::span(rows.data(), rows.size()));
      built.count(at(), batch, std::span(counts.data(), counts.size()));
      const auto got_rows = at().download(rows);
      const auto got_counts = at().download(counts);
      for (std::size_t i = 0; i < lower.size(); ++i) {
        const auto wanted = expected.rows(lower[i], as_points ? lower[i] : upper[i]);
        ASSERT_EQ(got_counts[i], wanted.size()) << lower[i];
        ASSERT_EQ(got_rows[i], wanted.empty() ? not_found<std::uint32_t>
                                              : *std::min_element(wanted.begin(), wanted.end()))
            << lower[i];
      }
    }
  }

  std::mt19937_64 random_ = test::generator();
};

std::vector<rx_options> tested_options() {
  std::vector<rx_options> all;
  for (const rx_primitive primitive : {rx_primitive::triangle, rx_primitive::box}) {
    all.push_back({.primitive = primitive});
    all.push_back({.primitive = primitive,
                   .hits = core::ray_hits::any,
                   .duplicates = rx_duplicates::keep,
                   .compact = true,
                   .parts = 3});
  }
  all.push_back({.primitive = rx_primitive::sphere, .parts = 2});
  all.push_back({.inverse = rx_inverse::on});
  all.push_back({.inverse = rx_inverse::automatic});
  return all;
}

TEST_F(rx_update_test, as_many_keys_elsewhere) {
  for (const rx_options& options : tested_options()) {
    key_list before = random_keys(2000);
    const auto built = build(at(), at().upload(before), options);
    SCOPED_TRACE(built->info().options);
    // First close to the old keys, then all over the place, then in one row.
    key_list near = before;
    for (std::uint64_t& key : near)
      key += random_() % 1000;
    for (const key_list& after : {near, random_keys(2000), random_keys(2000, (1 << 23) - 1)}) {
      built->update(stream(), column(at().upload(after)));
      expect_holds(*built, after, before);
      before = after;
    }
  }
}

TEST_F(rx_update_test, more_and_fewer_keys) {
  for (const rx_options& options : tested_options()) {
    key_list before = random_keys(100);
    const auto built = build(at(), at().upload(before), options);
    SCOPED_TRACE(built->info().options);
    for (const std::size_t size : {3000U, 0U, 1U, 0U, 700U}) {
      // Few distinct keys, so that their number changes, too.
      const key_list after = random_keys(size, 0x1ff);
      built->update(stream(), column(at().upload(after)));
      EXPECT_EQ(built->info().n, size);
      EXPECT_EQ(built->info().entries, size);
      expect_holds(*built, after, before);
      before = after;
    }
  }
}

TEST_F(rx_update_test, row_ids_are_replaced_too) {
  const auto keys = at().upload(key_list{5, 3, 5});
  const auto built = build(at(), keys, {});
  built->update(stream(), column(keys), column(at().upload(std::vector{9U, 70U, 8U})));
  EXPECT_EQ(built->info().max_row_id, 70U);
  buffer<std::uint64_t> sums(at(), 3);
  built->sum(at(), points(column(keys)), std::span(sums.data(), sums.size()));
  EXPECT_EQ(at().download(sums), (key_list{17, 70, 17}));
}

TEST_F(rx_update_test, other_formats_are_refused) {
  const auto keys = at().upload(key_list{5, 3, 5});
  const auto built = build(at(), keys, {});
  const auto narrow = at().upload(std::vector{1U, 2U, 3U});
  test::expect_error<invalid_argument>([&] { built->update(stream(), column(narrow)); },
                                       {"keys", "uint32", "uint64"});
  test::expect_error<invalid_argument>([&] { built->update(stream(), column(keys), column(keys)); },
                                       {"row ids", "uint64", "uint32"});
  expect_holds(*built, {5, 3, 5}, {});
}

TEST_F(rx_update_test, a_key_without_a_place_leaves_the_index_as_it_was) {
  const key_list before{0, 7, (1 << 23) - 1};
  const auto too_large = at().upload(key_list{1, 1 << 23, 5});
  for (const rx_inverse inverse : {rx_inverse::off, rx_inverse::on, rx_inverse::automatic}) {
    const auto built =
        build(at(), at().upload(before), {.mode = rx_mode::naive, .inverse = inverse});
    test::expect_error<unsupported>([&] { built->update(stream(), column(too_large)); },
                                    {"8388608", "up to 8388607"});
    expect_holds(*built, before, {});
  }
}

TEST_F(rx_update_test, an_update_that_runs_out_leaves_the_index_as_it_was) {
  const context plain = at();
  const key_list before = random_keys(3000);
  const auto after = at().upload(random_keys(3000));
  const rx_options options = {.parts = 2};
  test::limited_resource plenty(plain.memory, std::numeric_limits<std::size_t>::max());
  {
    const auto built = build({plenty, plain.stream}, at().upload(before), options);
    built->update(plain.stream, column(after));
  }
  const std::size_t peak = plenty.peak();
  std::size_t failures = 0;
  for (std::size_t limit = peak / 4; limit < peak; limit += peak / 13 + 1) {
    test::limited_resource scarce(plain.memory, limit);
    try {
      const auto built = build({scarce, plain.stream}, at().upload(before), options);
      const std::size_t held = scarce.held();
      EXPECT_THROW(built->update(plain.stream, column(after)), out_of_memory);
      ++failures;
      EXPECT_EQ(scarce.held(), held);
      expect_holds(*built, before, {});
    } catch (const out_of_memory&) {
      // There was not even enough for the build.
    }
    EXPECT_EQ(scarce.held(), 0);
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace raydex
