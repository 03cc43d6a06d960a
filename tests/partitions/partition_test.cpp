// SPDX-License-Identifier: Apache-2.0
// Batches are divided as a walk over their probes divides them, for every key type.
#include "raydex/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "raydex/session.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

template <class Key>
class divided : public backend_test {
 protected:
  struct piece {
    std::uint64_t source;
    Key lower, upper;
  };
  using pieces = std::vector<std::vector<piece>>;  // of each shard

  bool missing(std::size_t i) const { return !bits_.empty() && (bits_[i / 8] >> (i % 8) & 1) == 0; }

  std::size_t owner(const Key& key) const {
    return static_cast<std::size_t>(
        std::upper_bound(splitters_.begin(), splitters_.end(), key, key_less{}) -
        splitters_.begin());
  }

  // With the last piece of each shard repeated up to a multiple of `unit`.
  pieces walk(bool ranged, std::uint64_t unit) const {
    pieces all(splitters_.size() + 1);
    for (std::size_t i = 0; i < lower_.size(); ++i) {
      if (missing(i) || (ranged && key_less{}(upper_[i], lower_[i]))) continue;
      const std::size_t last = owner(ranged ? upper_[i] : lower_[i]);
      for (std::size_t shard = owner(lower_[i]); shard <= last; ++shard)
        all[shard].push_back({i, lower_[i], upper_[i]});
    }
    for (auto& of_shard : all)
      while (of_shard.size() % unit != 0)
        of_shard.push_back(of_shard.back());
    return all;
  }

  // Bits: a cell is copied as it is, whichever NaN or zero.
  static bool same(const Key& a, const Key& b) {
    using bits = std::array<std::byte, sizeof(Key)>;
    return std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
  }

  template <class Number>
  void check(bool ranged, std::uint64_t unit = 1) const {
    SCOPED_TRACE((ranged ? "ranges, unit " : "points, unit ") + std::to_string(unit));
    const auto lower = at().upload(lower_);
    const auto upper = at().upload(upper_);
    const auto bits = at().upload(bits_);
    const auto splitters = at().upload(splitters_);
    const column points_there(lower, bits.data());
    const probes batch = ranged ? ranges(points_there, column(upper)) : points(points_there);
    const auto parts = divide(tested_backend(), at(), batch, column(splitters), unit);

    const pieces wanted = walk(ranged, unit);
    std::uint64_t size = 0;
    ASSERT_EQ(parts->counts().size(), wanted.size());
    for (std::size_t shard = 0; shard < wanted.size(); ++shard) {
      ASSERT_EQ(parts->counts()[shard], wanted[shard].size()) << "of shard " << shard;
      size += wanted[shard].size();
    }
    ASSERT_EQ(parts->size(), size);

    buffer<Number> sources(at(), size);
    buffer<Key> lowers(at(), size);
    buffer<Key> uppers(at(), size);
    parts->write(at(), batch, {sources, lowers.data(), ranged ? uppers.data() : nullptr});
    const auto source = at().download(sources);
    const auto low = at().download(lowers);
    const auto up = at().download(uppers);
    std::size_t i = 0;
    for (const auto& of_shard : wanted) {
      for (const piece& one : of_shard) {
        ASSERT_EQ(source[i], one.source) << "of piece " << i;
        ASSERT_TRUE(same(low[i], one.lower)) << "of piece " << i;
        if (ranged) {
          ASSERT_TRUE(same(up[i], one.upper)) << "of piece " << i;
        }
        ++i;
      }
    }
    if (unit == 1) combine(*parts, sources, source);
    if (!ranged) place(*parts, sources, source);
  }

  template <class Number>
  static row_id_span span_of(const buffer<Number>& sources) {
    return {sizeof(Number) == 4 ? row_id_type::uint32 : row_id_type::uint64,
            const_cast<Number*>(sources.data()), sources.size()};
  }

  template <class Number>
  void combine(const partition& parts, const buffer<Number>& sources,
               const std::vector<Number>& source) const {
    std::vector<std::uint64_t> answers(source.size());
    std::vector<double> reals(source.size());
    std::vector<std::uint64_t> sums(lower_.size());
    std::vector<std::uint64_t> least(lower_.size(), not_found<std::uint64_t>);
    std::vector<double> real_sums(lower_.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i] = (i + 1) * 0x9e37'79b9'7f4a'7c15;
      reals[i] = 1.0 / static_cast<double>(i + 1);
      sums[source[i]] += answers[i];
      least[source[i]] = std::min(least[source[i]], answers[i]);
      real_sums[source[i]] += reals[i];
    }
    const auto together = [&](const auto& given, piece_answer how, auto start) {
      const auto there = at().upload(given);
      auto out = at().upload(std::vector(lower_.size(), start));
      parts.put_together(at(), span_of(sources), column(there), how, value_span(out));
      return at().download(out);
    };
    EXPECT_EQ(together(answers, piece_answer::sum, std::uint64_t{0}), sums);
    EXPECT_EQ(together(answers, piece_answer::minimum, not_found<std::uint64_t>), least);
    EXPECT_EQ(together(reals, piece_answer::sum, 0.0), real_sums);
  }

  // A piece that is repeated has the answer of the one before it.
  template <class Number>
  void place(const partition& parts, const buffer<Number>& sources,
             const std::vector<Number>& source) const {
    const auto check_as = [&]<class Answer, class Out>(Answer /*of*/, Out /*to*/) {
      std::vector<Answer> answers(source.size());
      std::vector<Out> expected(lower_.size(), Out{7});
      for (std::size_t i = 0; i < source.size(); ++i) {
        answers[i] = static_cast<Answer>((source[i] + 1) * 0x9e37'79b9'7f4a'7c15);
        expected[source[i]] = static_cast<Out>(answers[i]);
      }
      const auto there = at().upload(answers);
      auto out = at().upload(std::vector(lower_.size(), Out{7}));
      parts.put_together(at(), span_of(sources), column(there), piece_answer::replace,
                         value_span(out));
      EXPECT_EQ(at().download(out), expected);
    };
    check_as(std::uint32_t{}, std::uint32_t{});
    check_as(std::uint64_t{}, std::uint64_t{});
    check_as(std::int32_t{}, std::int64_t{});
  }

  Key any_key(std::mt19937_64& random, std::size_t distinct) const {
    const std::vector<Key> extremes = extreme_keys<Key>();
    if (below(random, 6) == 0) return extremes[below(random, extremes.size())];
    return dense_key<Key>(below(random, distinct));
  }

  void check_sizes(std::mt19937_64& random, std::size_t probes, std::size_t shards) {
    SCOPED_TRACE(std::to_string(probes) + " probes, " + std::to_string(shards) + " shards");
    const std::size_t distinct = std::max<std::size_t>(2 * shards, 10);
    splitters_.clear();
    for (std::size_t i = 1; i < shards; ++i)
      splitters_.push_back(any_key(random, distinct));
    std::sort(splitters_.begin(), splitters_.end(), key_less{});
    for (const bool some_missing : {false, true}) {
      lower_.clear();
      upper_.clear();
      for (std::size_t i = 0; i < probes; ++i) {
        lower_.push_back(any_key(random, distinct));
        upper_.push_back(any_key(random, distinct));
        // Most ranges are short.
        if (below(random, 4) != 0) upper_.back() = neighbour(lower_.back(), true);
      }
      bits_.clear();
      if (some_missing) {
        bits_.resize(probes / 8 + 1);
        for (std::uint8_t& byte : bits_)
          byte = static_cast<std::uint8_t>(random());
      }
      for (const bool ranged : {false, true}) {
        check<std::uint32_t>(ranged);
        if (this->HasFatalFailure()) return;
      }
      check<std::uint32_t>(false, 16);
      if (this->HasFatalFailure()) return;
      check<std::uint64_t>(some_missing);
    }
  }

  std::vector<Key> lower_, upper_, splitters_;
  std::vector<std::uint8_t> bits_;
};

using key_types = testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float,
                                 double, std::array<char, 3>, std::array<char, 8>>;
TYPED_TEST_SUITE(divided, key_types);

// Sizes about a row of a warp, a chunk and a tile, and chunks that are not full.
TYPED_TEST(divided, as_a_walk_divides) {
  auto random = generator();
  for (const std::size_t probes :
       {0U, 1U, 31U, 32U, 33U, 255U, 256U, 257U, 1000U, 4095U, 4096U, 4097U, 8193U}) {
    if (tested_by_emulation() && probes >= 1000 && probes != 4097) continue;
    this->check_sizes(random, probes, 1 + below(random, 9));
  }
  for (const std::size_t shards : {1U, 2U, 33U, 300U})
    this->check_sizes(random, tested_by_emulation() ? 70 : 700, shards);
}

class one_partition : public backend_test {};

// As many shards as there may be, and probes that all go to one of them.
TEST_F(one_partition, of_many_shards) {
  std::vector<std::uint32_t> splitters(most_shards - 1);
  for (std::uint32_t i = 0; i < splitters.size(); ++i)
    splitters[i] = 10 * i;
  std::vector<std::uint32_t> probed(tested_by_emulation() ? 40'000 : 20'000'000);
  for (std::uint32_t i = 0; i < probed.size(); ++i)
    probed[i] = i % 3 == 0 ? 77 : i % 12'000;
  const auto splitters_there = at().upload(splitters);
  const auto probes_there = at().upload(probed);
  const probes batch = points(column(probes_there));
  const auto parts = divide(tested_backend(), at(), batch, column(splitters_there));
  ASSERT_EQ(parts->size(), probed.size());
  buffer<std::uint32_t> sources(at(), probed.size());
  buffer<std::uint32_t> cells(at(), probed.size());
  parts->write(at(), batch, {sources, cells.data(), nullptr});
  const auto source = at().download(sources);
  const auto cell = at().download(cells);
  std::size_t i = 0;
  for (std::size_t shard = 0; shard < parts->counts().size(); ++shard) {
    for (std::uint64_t k = 0; k < parts->counts()[shard]; ++k, ++i) {
      ASSERT_EQ(std::min<std::size_t>(cell[i] / 10 + 1, most_shards - 1), shard);
      ASSERT_EQ(cell[i], probed[source[i]]);
      if (k > 0) {
        ASSERT_LT(source[i - 1], source[i]);
      }
    }
  }
  // The way back, in many parts, is that of the cells.
  buffer<std::uint32_t> back(at(), probed.size());
  parts->put_together(at(), sources, column(cells), piece_answer::replace, value_span(back));
  ASSERT_EQ(at().download(back), probed);
}

TEST_F(one_partition, chooses_splitters_that_divide_evenly) {
  auto random = generator();
  for (const std::size_t size : {0U, 1U, 5U, 10'000U}) {
    SCOPED_TRACE(size);
    std::vector<double> keys(3 * size);
    for (double& key : keys)
      key = static_cast<double>(below(random, 1 << 30)) / 16;
    const auto keys_there = at().upload(keys);
    column sample(keys_there);
    sample.stride = 3 * sizeof(double);  // every third key
    sample.size = size;
    buffer<double> splitters(at(), 7);
    choose_splitters(tested_backend(), at(), sample, value_span(splitters));
    const auto chosen = at().download(splitters);
    ASSERT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    std::vector<double> sorted;
    for (std::size_t i = 0; i < size; ++i)
      sorted.push_back(keys[3 * i]);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < chosen.size() && size > 0; ++i)
      ASSERT_EQ(chosen[i], sorted[size * (i + 1) / 8]) << i;
  }
}

}  // namespace
}  // namespace raydex::test
