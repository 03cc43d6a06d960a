// SPDX-License-Identifier: Apache-2.0
// Composite keys from bytes that are damaged, or were made to do harm: refused, or a key that packs
// what it is given. That whole ones make the same key is tested with other keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

class kept_columns : public testing::Test {
 protected:
  using bytes = std::vector<std::byte>;

  composite_keys load(const bytes& from) const {
    return composite_keys::from_bytes(backend::cpu, at_, from);
  }

  // Takes any bytes, and packs rows by what is made of them.
  void try_to_load(const bytes& from) const {
    try {
      const composite_keys made = load(from);
      EXPECT_EQ(made.pack_points(at_, columns_).view().size, rows);
      made.pack_ranges(at_, std::span(columns_).first(2), columns_[2]);
      made.pack_closest(at_, columns_, closest_number::at_least);
      EXPECT_EQ(made.to_bytes(at_).size(), from.size());
      made.grown(at_, *over_, columns_, column(behind_));
    } catch (const invalid_argument&) {
    } catch (const unsupported&) {
    }
  }

  static constexpr std::size_t rows = 17;
  const session at_{backend::cpu};
  const std::string letters_ = "wordslonger words";
  const std::vector<std::uint32_t> offsets_ = [] {
    std::vector<std::uint32_t> made(rows + 1);
    std::iota(made.begin(), made.end(), 0U);
    return made;
  }();
  const std::vector<std::int64_t> far_ = [] {
    auto random = generator(12);
    std::vector<std::int64_t> made(rows);
    std::ranges::generate(made, [&] { return static_cast<std::int64_t>(random()); });
    return made;
  }();
  // Numbers of all of them take 79 bits, so that the first ones are numbered together.
  const key_parts columns_ = [this] {
    key_parts made(16, column(far_));
    made[3] = string_column{letters_.data(), offsets_.data(), false, rows, {}};
    return made;
  }();
  packed_keys numbers_;
  const bytes whole_ = [this] {
    std::vector<composite_column> described(columns_.begin(), columns_.end());
    return composite_keys(backend::cpu, at_, described, &numbers_).to_bytes(at_);
  }();
  // Its keys are numbers of the whole key.
  const std::unique_ptr<index> over_ = build("sorted_array", backend::cpu, at_, numbers_.view());
  const std::vector<std::uint32_t> behind_ = [] {
    std::vector<std::uint32_t> made(rows);
    std::iota(made.begin(), made.end(), std::uint32_t{rows});
    return made;
  }();
};

TEST_F(kept_columns, whole_ones_are_taken) {
  const composite_keys made = load(whole_);
  EXPECT_EQ(made.parts().size(), columns_.size());
  EXPECT_TRUE(made.holds(at_, columns_));
}

TEST_F(kept_columns, what_is_cut_off_or_appended_to_is_refused) {
  for (std::size_t size = 0; size < whole_.size(); size += size < 200 ? 1 : 41) {
    const bytes cut(whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(size));
    expect_error<invalid_argument>([&] { load(cut); }, {"bytes: they are none of a composite key"});
  }
  bytes longer = whole_;
  longer.push_back({});
  expect_error<invalid_argument>([&] { load(longer); }, {"bytes"});
}

// Numbers of a part that do not go together: those of the first one are behind how many parts the
// key and its head have.
TEST_F(kept_columns, parts_of_other_spans_are_refused) {
  constexpr std::size_t first_part = 4;
  constexpr std::size_t first = first_part + 5;
  for (std::size_t place = first; place < first + 4; ++place) {  // first, last, step, bits
    std::uint64_t number = 0;
    std::memcpy(&number, whole_.data() + 8 * place, sizeof number);
    for (const std::uint64_t other : {number + 1, number - 1, 2 * number, std::uint64_t{64}}) {
      bytes changed = whole_;
      std::memcpy(changed.data() + 8 * place, &other, sizeof other);
      expect_error<invalid_argument>([&] { load(changed); }, {"bytes"});
    }
  }
}

TEST_F(kept_columns, changed_bits_do_no_harm) {
  auto random = generator(10);
  for (int i = 0; i < (small_scale() ? 100 : 1000); ++i) {
    bytes changed = whole_;
    changed[below(random, whole_.size())] ^= std::byte{1} << below(random, 8);
    try_to_load(changed);
  }
}

TEST_F(kept_columns, odd_numbers_do_no_harm) {
  auto random = generator(11);
  constexpr std::uint64_t odd[] = {
      0, 1, 2, 3, 7, 16, 17, 64, 65, 0x7fff'ffff, 0xffff'ffff, ~std::uint64_t{0}, 1ULL << 63};
  for (int i = 0; i < (small_scale() ? 100 : 1000); ++i) {
    bytes changed = whole_;
    for (int changes = 0; changes < 2; ++changes) {
      const std::size_t place = below(random, whole_.size() / 8) * 8;
      std::memcpy(changed.data() + place, &odd[below(random, std::size(odd))], 8);
      try_to_load(changed);
    }
  }
}

}  // namespace
}  // namespace raydex::test
