// SPDX-License-Identifier: Apache-2.0
// Which spans of keys are taken, and the memory that they need.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class direct_span : public test::backend_test {
 protected:
  template <class Key>
  std::unique_ptr<direct> build(const std::vector<Key>& keys,
                                const direct_options& options = {}) const {
    const auto cells = at().upload(keys);
    return build_direct(at().where(), at(), column(cells), {}, options);
  }
  // The smallest row of each key.
  template <class Key>
  std::vector<std::uint64_t> first(const index& tested, const std::vector<Key>& keys) const {
    const auto cells = at().upload(keys);
    return test::ask(at(), tested, points(column(cells))).first;
  }
  static constexpr std::uint64_t none = not_found<std::uint32_t>;
};

TEST_F(direct_span, up_to_the_limit) {
  std::vector<std::uint32_t> keys{100, 101, 102, 111};
  EXPECT_THROW(build(keys, {.limit = 2}), unsupported);
  EXPECT_EQ(first(*build(keys, {.limit = 3}), std::vector<std::uint32_t>{99, 100, 105, 111, 112}),
            (std::vector<std::uint64_t>{none, 0, none, 3, none}));
  test::expect_error<unsupported>([&] { build(keys, {.limit = 2}); },
                                  {"4 lie over a span of 12", "limit=2", "hash_open"});
}

TEST_F(direct_span, at_both_ends_of_a_type) {
  const auto smallest = std::numeric_limits<std::int64_t>::min();
  const auto largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(build(std::vector{smallest, largest}, {.limit = 1024}), unsupported);
  EXPECT_EQ(first(*build(std::vector{largest, largest - 1}),
                  std::vector{largest - 2, largest - 1, largest, smallest}),
            (std::vector<std::uint64_t>{none, 1, 0, none}));
  EXPECT_EQ(first(*build(std::vector{smallest, smallest + 2}),
                  std::vector{smallest, smallest + 1, smallest + 2, largest}),
            (std::vector<std::uint64_t>{0, none, 1, none}));
  constexpr std::uint32_t last = 0xffff'ffff;
  EXPECT_EQ(first(*build(std::vector{last, last - 1}), std::vector{last, last - 1, last - 2, 0U}),
            (std::vector<std::uint64_t>{0, 1, none, none}));
}

TEST_F(direct_span, a_wide_gap) {
  std::vector<std::uint32_t> keys(3000);
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    keys[i] = i;
  keys.back() = 11'990;
  const auto tested = build(keys);
  EXPECT_EQ(first(*tested, std::vector<std::uint32_t>{2998, 2999, 7000, 11'990, 11'991}),
            (std::vector<std::uint64_t>{2998, none, none, 2999, none}));
  const auto lower = at().upload(std::vector<std::uint32_t>{2990, 5000, 0});
  const auto upper = at().upload(std::vector<std::uint32_t>{11'989, 6000, 20'000});
  EXPECT_EQ(test::ask(at(), *tested, ranges(column(lower), column(upper))).counts,
            (std::vector<std::uint64_t>{9, 0, 3000}));
}

TEST_F(direct_span, other_keys_are_refused) {
  test::expect_error<unsupported>(
      [&] {
        build(std::vector<float>{1, 2});
      },
      {"float", "direct takes integers", "pivot_tree"});
}

TEST_F(direct_span, memory) {
  std::vector<std::uint32_t> keys(1000);
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    keys[i] = 7 + i;
  EXPECT_EQ(build(keys)->info().resident_bytes, 4 * 1000);
  keys[0] = 8;  // repeated, and the smallest key is gone
  EXPECT_EQ(build(keys)->info().resident_bytes, 4 * 999 + 4 * 1000 + 4 * 1000);
  EXPECT_EQ(build(std::vector<std::uint32_t>{})->info().resident_bytes, 0);
  const auto cells = at().upload(keys);
  test::check_memory_of_build(
      at(), [&](const context& on) { return build_direct(at().where(), on, column(cells)); });
}

TEST_F(direct_span, an_edit_may_move_its_ends) {
  const auto tested = build(std::vector<std::uint32_t>{10, 11, 12});
  const stream_t stream = context(at()).stream;
  const auto insert = at().upload(std::vector<std::uint32_t>{8, 15});
  const auto rows = at().upload(std::vector<std::uint32_t>{20, 21});
  tested->edit(stream, {.insert = column(insert), .insert_rows = column(rows)});
  const std::vector<std::uint32_t> asked{7, 8, 9, 10, 12, 15, 16};
  const std::vector<std::uint64_t> found{none, 20, none, 0, 2, 21, none};
  EXPECT_EQ(first(*tested, asked), found);
  const auto far = at().upload(std::vector<std::uint32_t>{8, 1'000'000});
  EXPECT_THROW(tested->edit(stream, {.insert = column(far), .insert_rows = column(rows)}),
               unsupported);
  EXPECT_EQ(first(*tested, asked), found);
  const auto erased = at().upload(asked);
  tested->edit(stream, {.erase = column(erased)});
  EXPECT_EQ(tested->info().entries, 1);
}

TEST_F(direct_span, keys_can_always_be_erased) {
  std::vector<std::uint32_t> keys(5000);
  for (std::uint32_t i = 0; i < keys.size(); ++i)
    keys[i] = 3 + i;
  const auto tested = build(keys, {.limit = 1});
  const stream_t stream = context(at()).stream;
  const auto between = at().upload(std::vector(keys.begin() + 1, keys.end() - 1));
  tested->edit(stream, {.erase = column(between)});
  EXPECT_EQ(first(*tested, std::vector{keys[0], keys[1], keys.back(), keys.back() + 1}),
            (std::vector<std::uint64_t>{0, none, keys.size() - 1, none}));
  const auto wider = at().upload(std::vector{keys.back() + 1});
  const auto row = at().upload(std::vector<std::uint32_t>{0});
  EXPECT_THROW(tested->edit(stream, {.insert = column(wider), .insert_rows = column(row)}),
               unsupported);
  const auto lost = at().upload(std::vector{keys.back()});
  tested->edit(stream, {.erase = column(lost)});
  EXPECT_EQ(tested->info().resident_bytes, 4);
}

}  // namespace
}  // namespace raydex
