// SPDX-License-Identifier: Apache-2.0
// The list of long ranges: what finds room, which units it is given, and what a full class leaves
// to its warp. Batches as a whole are compared with the oracle by the conformance suite.
#include "src/machines/cuda/lookups/long_ranges.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

using cuda::long_policy;
using cuda::long_range;
using cuda::long_ranges;

constexpr unsigned threads = 128;

// Each thread lists a range, probe i that of rank i and length[i].
__global__ void list_ranges(long_ranges list, const std::uint32_t* length, std::uint64_t size,
                            std::uint8_t* taken) {
  const std::uint64_t i = cuda::global_thread();
  const std::uint32_t own = i < size ? length[i] : 0;
  const bool took = list.take(i, static_cast<std::uint32_t>(i), own);
  if (i < size) taken[i] = took ? 1 : 0;
}

// Each warp goes through the list from a unit on; writes the probes that it meets, `most` at most.
__global__ void follow(long_ranges list, std::uint64_t step, std::uint64_t* probes,
                       std::uint64_t* units, std::uint64_t most) {
  const std::uint64_t number = cuda::global_thread() / cuda::warp;
  std::uint64_t unit = number * step;
  cuda::long_cursor at(list);
  const std::uint64_t all = at.units();
  if (unit >= all) return;
  at.go_to(unit);
  for (std::uint64_t i = 0; i < most; ++i) {
    if (cuda::lane_of_warp() == 0) {
      probes[number * most + i] = (*at).probe;
      units[number * most + i] = at.first_unit();
    }
    unit = at.first_unit() + (*at).units();
    if (unit == all) break;
    ++at;
  }
}

// Room of each class, and how many there are.
class listing : public testing::TestWithParam<std::pair<std::uint32_t, unsigned>> {
 protected:
  const session at_{backend::cuda};
};

TEST_P(listing, gives_consecutive_units_to_what_finds_room) {
  auto random = test::generator();
  constexpr std::uint32_t least = 64;
  const auto [capacity, classes] = GetParam();
  std::vector<std::uint32_t> lengths(1000);
  for (std::uint32_t& length : lengths) {
    const auto magnitude = static_cast<unsigned>(test::below(random, 27));
    length = static_cast<std::uint32_t>(test::below(random, std::uint64_t{1} << magnitude));
  }
  lengths[3] = least - 1;
  lengths[40] = least;
  lengths[41] = least << long_policy::class_bits;
  lengths[42] = 0xffff'fffe;

  const auto there = at_.upload(lengths);
  buffer<std::uint8_t> taken(at_, lengths.size());
  buffer<long_range> ranges(at_, std::uint64_t{classes} * capacity);
  auto counters = at_.upload(std::vector<unsigned long long>(long_policy::classes));
  const long_ranges list{counters.data(), ranges.data(), capacity, least, classes};
  const stream_t stream = context(at_).stream;
  cuda::launch(stream, cuda::blocks_for(lengths.size(), threads), threads, 0, list_ranges, list,
               there.data(), std::uint64_t{lengths.size()}, taken.data());

  const auto took = at_.download(taken);
  const auto listed = at_.download(ranges);
  std::vector<std::uint64_t> begins;  // of all ranges that were listed, in units
  std::vector<std::uint64_t> probes;
  std::uint64_t units = 0;
  for (unsigned of = 0; of < classes; ++of) {
    const std::uint64_t shortest = std::uint64_t{least} << (of * long_policy::class_bits);
    const std::uint64_t longest =
        of + 1 == classes ? ~std::uint64_t{0} : (shortest << long_policy::class_bits) - 1;
    const auto fits = [&](std::uint32_t length) { return length >= shortest && length <= longest; };
    const auto all = static_cast<std::uint64_t>(std::ranges::count_if(lengths, fits));
    const std::uint64_t found_room = std::min<std::uint64_t>(all, capacity);
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < found_room; ++i) {
      const long_range& one = listed[of * std::uint64_t{capacity} + i];
      ASSERT_LT(one.probe, lengths.size());
      ASSERT_EQ(one.begin, one.probe);
      ASSERT_EQ(one.length, lengths[one.probe]);
      ASSERT_TRUE(fits(lengths[one.probe]));
      ASSERT_EQ(one.first, first);
      ASSERT_EQ(took[one.probe], 1);
      begins.push_back(units + first);
      probes.push_back(one.probe);
      first += one.units();
    }
    units += first;
  }
  ASSERT_EQ(static_cast<std::uint64_t>(std::ranges::count(took, 1)), probes.size());
  auto distinct = probes;
  std::ranges::sort(distinct);
  ASSERT_EQ(std::ranges::unique(distinct).begin(), distinct.end());

  // From any unit the cursor begins in the range that has it, and meets all that follow.
  constexpr std::uint64_t warps = 37;
  constexpr std::uint64_t most = 12;
  const std::uint64_t step = units / warps + 1;
  buffer<std::uint64_t> met(at_, warps * most);
  buffer<std::uint64_t> met_units(at_, warps * most);
  cuda::launch(stream, warps, cuda::warp, 0, follow, list, step, met.data(), met_units.data(),
               most);
  const auto probes_met = at_.download(met);
  const auto units_met = at_.download(met_units);
  for (std::uint64_t w = 0; w * step < units; ++w) {
    const auto after = std::ranges::upper_bound(begins, w * step);
    auto i = static_cast<std::uint64_t>(after - begins.begin()) - 1;
    for (std::uint64_t m = 0; m < most && i < probes.size(); ++m, ++i) {
      ASSERT_EQ(probes_met[w * most + m], probes[i]) << "warp " << w;
      ASSERT_EQ(units_met[w * most + m], begins[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(rooms, listing,
                         testing::Values(std::pair(1U, 7U), std::pair(3U, 7U), std::pair(40U, 7U),
                                         std::pair(1000U, 7U), std::pair(5U, 3U),
                                         std::pair(1000U, 1U)));

// More long ranges than a class has room for: the rest is left to the warps that found them.
TEST(long_ranges_of_a_batch, beyond_what_a_class_has_room_for) {
  const session at(backend::cuda);
  constexpr std::uint32_t copies = long_policy::least;
  const auto keys = at.upload(std::vector<std::uint32_t>(copies, 7));
  const auto points_there =
      at.upload(std::vector<std::uint32_t>(long_policy::only_capacity + 700, 7));
  buffer<std::uint64_t> sums(at, points_there.size());
  const auto built = build("pivot_tree", backend::cuda, at, column(keys));
  built->sum(at, points(column(points_there)), sums);
  const std::uint64_t expected = std::uint64_t{copies} * (copies - 1) / 2;
  EXPECT_EQ(at.download(sums), std::vector<std::uint64_t>(points_there.size(), expected));
}

}  // namespace
}  // namespace raydex
