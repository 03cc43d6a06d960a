// SPDX-License-Identifier: Apache-2.0
// A `btree` and what it should hold, for tests of edits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {

template <class Key, class RowId>
class edited_btree {
 public:
  using entries = std::vector<std::pair<Key, RowId>>;

  edited_btree(const session& at, entries first, unsigned fill) : at_(at), held_(std::move(first)) {
    const auto keys = at.upload(keys_of(held_));
    const auto rows = at.upload(rows_of(held_));
    built_ = build_btree(at.where(), at, column(keys), column(rows), {.fill = fill});
    std::sort(held_.begin(), held_.end());
  }

  const btree& built() const { return *built_; }
  const entries& held() const { return held_; }

  // Erases keys, or pairs if `by_row`; none are inserted as well.
  void edit(const entries& insert, entries erase, bool by_row) {
    const auto insert_keys = at_.upload(keys_of(insert));
    const auto insert_rows = at_.upload(rows_of(insert));
    const auto erase_keys = at_.upload(keys_of(erase));
    const auto erase_rows = at_.upload(rows_of(erase));
    built_->edit(context(at_).stream,
                 {.insert = column(insert_keys),
                  .insert_rows = column(insert_rows),
                  .erase = column(erase_keys),
                  .erase_rows = by_row ? std::optional(column(erase_rows)) : std::nullopt});
    const auto less = [by_row](const auto& a, const auto& b) {
      return by_row ? a < b : a.first < b.first;
    };
    std::sort(erase.begin(), erase.end());
    std::erase_if(held_, [&](const auto& one) {
      return std::binary_search(erase.begin(), erase.end(), one, less);
    });
    held_.insert(held_.end(), insert.begin(), insert.end());
    std::sort(held_.begin(), held_.end());
  }

  // Answers are those of a sorted array of the same entries.
  void check(std::mt19937_64& random, std::size_t probes) const {
    ASSERT_EQ(built_->info().entries, held_.size());
    const auto keys = at_.upload(keys_of(held_));
    const auto rows = at_.upload(rows_of(held_));
    const auto expected = build_sorted_array(at_.where(), at_, column(keys), column(rows));
    std::vector<Key> lower{0, 0, static_cast<Key>(-1)};
    std::vector<Key> upper{0, static_cast<Key>(-1), static_cast<Key>(-1)};
    const std::size_t size = held_.size();
    for (std::size_t i = 0; i < probes && size != 0; ++i) {
      // Keys and their neighbours, ranges of few and of many entries.
      const std::size_t at = below(random, size);
      const std::size_t length = below(random, i % 16 == 0 ? size : 20);
      lower.push_back(static_cast<Key>(held_[at].first + below(random, 3) - 1));
      upper.push_back(held_[std::min(at + length, size - 1)].first);
    }
    const auto lower_cells = at_.upload(lower);
    const auto upper_cells = at_.upload(upper);
    const auto batch = points(column(lower_cells));
    EXPECT_TRUE(ask(at_, *built_, batch) == ask(at_, *expected, batch));
    const auto wide = ranges(column(lower_cells), column(upper_cells));
    EXPECT_TRUE(ask(at_, *built_, wide) == ask(at_, *expected, wide));
    EXPECT_EQ(places(*built_, batch), places(*expected, batch));
    EXPECT_EQ(neighbours(*built_, batch), neighbours(*expected, batch));
  }

 private:
  static std::vector<Key> keys_of(const entries& all) {
    std::vector<Key> keys;
    for (const auto& one : all)
      keys.push_back(one.first);
    return keys;
  }
  static std::vector<RowId> rows_of(const entries& all) {
    std::vector<RowId> rows;
    for (const auto& one : all)
      rows.push_back(one.second);
    return rows;
  }
  std::vector<std::uint64_t> places(const index& of, const probes& batch) const {
    buffer<std::uint64_t> out(at_, batch.size());
    of.rank(at_, batch, std::span(out.data(), out.size()));
    auto all = at_.download(out);
    of.rank_right(at_, batch, std::span(out.data(), out.size()));
    const auto right = at_.download(out);
    all.insert(all.end(), right.begin(), right.end());
    return all;
  }
  std::vector<RowId> neighbours(const index& of, const probes& batch) const {
    buffer<RowId> out(at_, batch.size());
    of.predecessor(at_, batch, std::span(out.data(), out.size()), closeness::strict);
    auto all = at_.download(out);
    of.successor(at_, batch, std::span(out.data(), out.size()));
    const auto after = at_.download(out);
    all.insert(all.end(), after.begin(), after.end());
    return all;
  }

  const session& at_;
  entries held_;
  std::unique_ptr<btree> built_;
};

}  // namespace raydex::test
