// SPDX-License-Identifier: Apache-2.0
// The closed formulas of the order, compared with numbering the tree recursively.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/eytzinger.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

constexpr unsigned most_fan_out = 33;

// A complete tree by its definition: nodes of K - 1 slots, filled in breadth-first order. The
// children of node j are the nodes j K + 1 to j K + K.
class tree {
 public:
  tree(std::uint64_t slots, unsigned fan_out)
      : slots_(slots), fan_out_(fan_out), width_(fan_out - 1) {}

  // The rank of every slot: when a walk in order meets it.
  std::vector<std::uint32_t> ranks() const {
    std::vector<std::uint32_t> of_slot(slots_, 0xffff'ffff);
    std::uint32_t met = 0;
    walk(0, of_slot, met);
    EXPECT_EQ(met, slots_);
    return of_slot;
  }

  // The rank of one slot: before it, a walk meets whole subtrees and slots of ancestors.
  std::uint64_t rank(std::uint64_t slot) const {
    std::uint64_t node = slot / width_;
    std::uint64_t before = slot % width_;
    std::uint64_t children = slot % width_ + 1;  // those already visited
    for (;;) {
      for (std::uint64_t c = 0; c < children; ++c)
        before += size_below(node * fan_out_ + 1 + c);
      if (node == 0) return before;
      children = (node - 1) % fan_out_;
      before += children;
      node = (node - 1) / fan_out_;
    }
  }

  // Where levels begin, and after them the number of slots.
  std::vector<std::uint64_t> levels() const {
    std::vector<std::uint64_t> begins;
    std::uint64_t nodes = 1;
    for (std::uint64_t begin = 0; begin < slots_; begin += nodes * width_, nodes *= fan_out_)
      begins.push_back(begin);
    begins.push_back(slots_);
    return begins;
  }

 private:
  void walk(std::uint64_t node, std::vector<std::uint32_t>& of_slot, std::uint32_t& met) const {
    const std::uint64_t first = node * width_;
    if (first >= slots_) return;
    for (unsigned c = 0; c < fan_out_; ++c) {
      walk(node * fan_out_ + 1 + c, of_slot, met);
      if (c < width_ && first + c < slots_) of_slot[first + c] = met++;
    }
  }

  // Slots of a node and of all below it, level by level.
  std::uint64_t size_below(std::uint64_t node) const {
    std::uint64_t sum = 0;
    std::uint64_t last = node;
    while (node * width_ < slots_) {
      sum += std::min((last + 1) * width_, slots_) - node * width_;
      node = node * fan_out_ + 1;
      last = last * fan_out_ + fan_out_;
    }
    return sum;
  }

  std::uint64_t slots_;
  unsigned fan_out_;
  std::uint64_t width_;
};

// How many slots of a level have a rank below each rank, by counting.
template <class Position>
void check_slots_before(const eytzinger_order<Position>& order,
                        const std::vector<std::uint64_t>& levels,
                        const std::vector<std::uint32_t>& ranks) {
  const auto size = static_cast<Position>(ranks.size());
  for (unsigned level = 0; level + 1 < levels.size(); ++level) {
    std::uint64_t slot = levels[level];
    for (Position rank = 0; rank <= size; ++rank) {
      while (slot < levels[level + 1] && ranks[slot] < rank)
        ++slot;
      ASSERT_EQ(order.slots_before(level, rank), slot - levels[level])
          << "level " << level << ", rank " << rank;
    }
  }
}

// All formulas of one order. `slots_before` has a value for every level and rank, so only a part of
// them is checked unless `thorough`.
template <class Position>
void check_order(std::uint64_t size, unsigned fan_out, bool thorough) {
  const tree expected(size, fan_out);
  const auto levels = expected.levels();
  const auto ranks = expected.ranks();
  const eytzinger_order<Position> order(static_cast<Position>(size), fan_out);
  ASSERT_EQ(order.size(), size);
  ASSERT_EQ(order.fan_out(), fan_out);
  ASSERT_EQ(order.levels() + 1, levels.size());
  for (unsigned level = 0; level < order.levels(); ++level) {
    ASSERT_EQ(order.begin(level), levels[level]);
    for (std::uint64_t slot = levels[level]; slot < levels[level + 1]; ++slot) {
      const auto within = static_cast<Position>(slot - levels[level]);
      const auto rank = static_cast<Position>(ranks[slot]);
      // Not ASSERT_EQ, which takes longer than the formulas.
      if (order.rank_of(level, within) != rank || order.slot_of(rank) != slot ||
          order.slots_before(level, rank) != within) {
        FAIL() << "slot " << within << " of level " << level << " has rank " << rank
               << "; rank_of says " << order.rank_of(level, within) << ", slot_of "
               << order.slot_of(rank) << ", slots_before " << order.slots_before(level, rank);
      }
    }
  }
  if (thorough) check_slots_before(order, levels, ranks);
}

TEST(eytzinger_order, is_the_recursive_one_for_all_sizes_up_to_4096_and_all_fan_outs) {
  auto random = test::generator();
  // A random stride, so that many small runs cover everything in time.
  const std::uint64_t stride = test::small_scale() ? 61 : 1;
  for (unsigned fan_out = 2; fan_out <= most_fan_out; ++fan_out) {
    for (std::uint64_t size = 0; size <= 4096; size += 1 + test::below(random, 2 * stride - 1)) {
      const bool thorough = size < 100 || test::below(random, 50) == 0;
      check_order<std::uint32_t>(size, fan_out, thorough);
      if (thorough) check_order<std::uint64_t>(size, fan_out, true);
      if (testing::Test::HasFailure()) FAIL() << "K = " << fan_out << ", " << size << " slots";
    }
  }
}

TEST(eytzinger_order, is_the_recursive_one_around_full_levels) {
  for (unsigned fan_out = 2; fan_out <= most_fan_out; ++fan_out) {
    for (std::uint64_t full = fan_out; full < 40'000; full *= fan_out) {
      for (std::uint64_t size = full - 2; size <= full + 1; ++size)
        check_order<std::uint32_t>(size, fan_out, true);
      for (std::uint64_t nodes = 1; nodes < 3; ++nodes) {
        const std::uint64_t size = full - 1 + nodes * (fan_out - 1);
        check_order<std::uint32_t>(size - 1, fan_out, true);
        check_order<std::uint32_t>(size, fan_out, true);
      }
      if (testing::Test::HasFailure()) FAIL() << "K = " << fan_out << ", full at " << full - 1;
    }
  }
}

// The first slot of a level whose rank is not below `rank`; ranks ascend within a level.
std::uint64_t lower_bound_in_level(const tree& expected, std::uint64_t begin, std::uint64_t end,
                                   std::uint64_t rank) {
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (expected.rank(middle) < rank) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// An order too large to write down, checked at some slots.
template <class Position>
void check_samples(std::uint64_t size, unsigned fan_out, std::mt19937_64& random) {
  SCOPED_TRACE("K = " + std::to_string(fan_out) + ", " + std::to_string(size) + " slots");
  const tree expected(size, fan_out);
  const auto levels = expected.levels();
  const eytzinger_order<Position> order(static_cast<Position>(size), fan_out);
  ASSERT_EQ(order.levels() + 1, levels.size());
  for (unsigned level = 0; level < order.levels(); ++level) {
    ASSERT_EQ(order.begin(level), levels[level]);
    const std::uint64_t length = levels[level + 1] - levels[level];
    std::vector<std::uint64_t> chosen{0, length / 2, length - 1};
    for (int more = 0; more < 8; ++more)
      chosen.push_back(test::below(random, length));
    for (const std::uint64_t i : chosen) {
      const auto within = static_cast<Position>(i);
      const std::uint64_t slot = levels[level] + i;
      const std::uint64_t rank = expected.rank(slot);
      ASSERT_EQ(order.rank_of(level, within), rank) << "slot " << i << " of level " << level;
      ASSERT_EQ(order.slot_of(static_cast<Position>(rank)), slot) << "rank " << rank;
      ASSERT_EQ(order.slots_before(level, static_cast<Position>(rank)), i);
      ASSERT_EQ(order.slots_before(level, static_cast<Position>(rank + 1)), i + 1);
      if (i + 1 < length) {
        ASSERT_LT(order.rank_of(level, within), order.rank_of(level, static_cast<Position>(i + 1)));
      }
    }
    for (int more = 0; more < 2; ++more) {
      const std::uint64_t rank = test::below(random, size + 1);
      const std::uint64_t slot =
          lower_bound_in_level(expected, levels[level], levels[level + 1], rank);
      ASSERT_EQ(order.slots_before(level, static_cast<Position>(rank)), slot - levels[level])
          << "rank " << rank << ", level " << level;
    }
    ASSERT_EQ(order.slots_before(level, static_cast<Position>(size)), length);
  }
}

template <class Position>
void check_large(std::uint64_t most) {
  auto random = test::generator(most);
  for (unsigned fan_out = 2; fan_out <= most_fan_out; ++fan_out) {
    // The largest sizes, those around the last full level, and some of any magnitude.
    std::vector<std::uint64_t> sizes{most, most - 1};
    std::uint64_t full = fan_out;
    while (full <= most / fan_out)
      full *= fan_out;
    for (std::uint64_t size = full - 2; size < std::min(full + 2, most); ++size)
      sizes.push_back(size);
    for (int more = 0; more < 10; ++more)
      sizes.push_back(1 + test::below(random, most >> test::below(random, 20)));
    for (const std::uint64_t size : sizes) {
      check_samples<Position>(size, fan_out, random);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(eytzinger_order, is_right_for_large_sizes_in_64_bits) {
  check_large<std::uint64_t>(std::uint64_t{1} << 33);
}
TEST(eytzinger_order, is_right_up_to_the_largest_size_in_32_bits) {
  check_large<std::uint32_t>(0xffff'fffe);
}

// Records what is written where.
struct recorder {
  std::vector<std::uint32_t>* keys;
  std::vector<std::uint64_t>* row_ids;
  std::vector<unsigned>* writes;

  void operator()(std::uint64_t slot, std::uint32_t key, std::uint64_t row_id) const {
    keys->at(slot) = key;
    row_ids->at(slot) = row_id;
    ++writes->at(slot);
  }
};

TEST(place_eytzinger, writes_every_slot_once) {
  auto random = test::generator();
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t size = test::below(random, i < 100 ? 100 : 5000);
    const auto fan_out = static_cast<unsigned>(2 + test::below(random, most_fan_out - 1));
    std::vector<std::uint32_t> sorted(size);
    std::iota(sorted.begin(), sorted.end(), 7U);
    std::vector<std::uint64_t> rows(size);
    for (auto& row : rows)
      row = random();
    std::vector<std::uint32_t> keys(size);
    std::vector<std::uint64_t> row_ids(size);
    std::vector<unsigned> writes(size);
    using entries = column_entries<std::uint32_t, std::uint64_t>;
    const place_eytzinger<entries, recorder> place{
        {size, fan_out}, {sorted.data(), rows.data()}, {&keys, &row_ids, &writes}};
    for (std::uint64_t item = 0; item < size; ++item)
      place(item);
    const auto ranks = tree(size, fan_out).ranks();
    for (std::uint64_t slot = 0; slot < size; ++slot) {
      ASSERT_EQ(writes[slot], 1U);
      ASSERT_EQ(keys[slot], sorted[ranks[slot]]) << "K = " << fan_out << ", size " << size;
      ASSERT_EQ(row_ids[slot], rows[ranks[slot]]);
    }
  }
}

}  // namespace
}  // namespace raydex::core
