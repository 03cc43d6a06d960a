// SPDX-License-Identifier: Apache-2.0
// Outputs at null or misaligned addresses are refused before any work.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;

class outputs : public testing::Test {
 protected:
  // An array of as many T as there are probes, at an odd address.
  template <class T>
  std::span<T> misaligned() {
    return {reinterpret_cast<T*>(room_.data() + 1), keys_.size()};
  }
  template <class T>
  std::span<T> nowhere() const {
    return {static_cast<T*>(nullptr), keys_.size()};
  }
  // Each output that a call of an index or a structure for minima writes, as T and U are 64 bits.
  std::vector<std::function<void()>> calls(std::span<std::uint32_t> row_ids,
                                           std::span<std::uint64_t> numbers,
                                           std::span<std::int64_t> sums,
                                           std::span<double> floating_sums,
                                           std::span<std::uint64_t> offsets) {
    return {[=, this] { index_->first(cpu_, probes_, row_ids); },
            [=, this] { index_->count(cpu_, probes_, numbers); },
            [=, this] { index_->rank(cpu_, probes_, numbers); },
            [=, this] { index_->successor(cpu_, probes_, row_ids); },
            [=, this] { index_->sum(cpu_, probes_, numbers); },
            [=, this] { index_->sum(cpu_, probes_, column(keys_), numbers); },
            [=, this] { index_->sum(cpu_, probes_, column(signed_), sums); },
            [=, this] { index_->sum(cpu_, probes_, column(floats_), floating_sums); },
            [=, this] { index_->offsets(cpu_, points(all_but_one_), offsets); },
            [=, this] { index_->rows(cpu_, points(all_but_one_), offsets, row_ids); },
            [=, this] { index_->bitset(cpu_, probes_, 128, row_ids); },
            [=, this] {
              minima_->minimum(cpu_, ranges(column(keys_), column(keys_)), value_span(row_ids));
            },
            [=, this] { minima_->position(cpu_, ranges(column(keys_), column(keys_)), numbers); }};
  }

  const session cpu_{backend::cpu};
  const std::vector<std::uint32_t> keys_{2, 0, 1, 3};
  const std::vector<std::int64_t> signed_{1, -2, 3, 4};
  const std::vector<float> floats_{1, 2, 3, 4};
  const probes probes_ = points(column(keys_));
  const column all_but_one_{format_of<std::uint32_t>, keys_.data(), keys_.size() - 1};
  const std::unique_ptr<index> index_ = build("auto", backend::cpu, cpu_, column(keys_));
  const std::unique_ptr<rmq> minima_ = build_rmq("auto", backend::cpu, cpu_, column(keys_));
  alignas(8) std::array<std::byte, 64> room_{};
};

TEST_F(outputs, at_null_are_refused) {
  for (const auto& call :
       calls(nowhere<std::uint32_t>(), nowhere<std::uint64_t>(), nowhere<std::int64_t>(),
             nowhere<double>(), nowhere<std::uint64_t>())) {
    expect_error<invalid_argument>(call, {"4 elements at a null pointer"});
  }
}

TEST_F(outputs, that_are_not_aligned_are_refused) {
  for (const auto& call :
       calls(misaligned<std::uint32_t>(), misaligned<std::uint64_t>(), misaligned<std::int64_t>(),
             misaligned<double>(), misaligned<std::uint64_t>())) {
    expect_error<invalid_argument>(call, {"must be aligned to"});
  }
}

TEST_F(outputs, and_columns_of_no_cells_may_lie_anywhere) {
  const column none(format_of<std::uint32_t>, room_.data() + 1, 0);
  const auto counts = misaligned<std::uint64_t>().first(0);
  EXPECT_NO_THROW(index_->count(cpu_, points(none), counts));
  EXPECT_EQ(build("auto", backend::cpu, cpu_, none)->info().entries, 0U);
}

// As of offsets that an edit has outdated.
TEST_F(outputs, of_fewer_rows_than_offsets_say_are_refused) {
  std::vector<std::uint64_t> offsets(keys_.size() + 1);
  index_->offsets(cpu_, probes_, offsets);
  std::vector<std::uint32_t> rows(keys_.size());
  EXPECT_NO_THROW(index_->rows(cpu_, probes_, offsets, rows));
  ++offsets.back();
  expect_error<invalid_argument>([&] { index_->rows(cpu_, probes_, offsets, rows); },
                                 {"out: it holds 4 row ids, but the offsets end at 5"});
}

TEST_F(outputs, of_bits_have_as_many_words_as_rows_need) {
  std::vector<std::uint32_t> words(2, 7);
  EXPECT_NO_THROW(index_->bitset(cpu_, probes_, 33, words));
  EXPECT_EQ(words, std::vector<std::uint32_t>({0b1111, 0}));
  for (const std::uint64_t rows : {0UL, 32UL, 65UL})
    expect_error<invalid_argument>([&] { index_->bitset(cpu_, probes_, rows, words); },
                                   {"words: 2 are no bits of", std::to_string(rows), "rows"});
  expect_error<invalid_argument>(
      [&] { index_->bitset(cpu_, probes_, 3, std::span(words).first(1)); },
      {"size: 3, but the index has rows up to 3"});
}

// Nothing is written to them.
TEST_F(outputs, of_no_probes_may_be_null) {
  const probes none = points(column(format_of<std::uint32_t>, nullptr, 0));
  EXPECT_NO_THROW(index_->first(cpu_, none, std::span<std::uint32_t>()));
  EXPECT_NO_THROW(index_->count(cpu_, none, {}));
  EXPECT_NO_THROW(index_->sum(cpu_, none, std::span<std::uint64_t>()));
}

}  // namespace
}  // namespace raydex
