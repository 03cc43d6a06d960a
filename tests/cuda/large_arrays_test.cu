// SPDX-License-Identifier: Apache-2.0
// Minima of arrays of about 2^32 values and more: the longest array with 32-bit places, and arrays
// with 64-bit places. Runs where the device has the memory. Each block of 2^16 values has one low
// value, below all that are not low, so a small table on the host knows the answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/launch.cuh"
#include "tests/minima/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

constexpr unsigned block_bits = 16;
constexpr std::uint64_t block_size = std::uint64_t{1} << block_bits;
constexpr std::uint32_t low_values = 1000;  // so few that many are equal

__host__ __device__ constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 29)) * 0xbf58'476d'1ce4'e5b9;
  return x ^ (x >> 32);
}
// The position of a block's low value, and the value.
__host__ __device__ constexpr std::uint64_t low_position(std::uint64_t block) {
  return (block << block_bits) + mixed(block) % block_size;
}
__host__ __device__ constexpr std::uint32_t low_value(std::uint64_t block) {
  return static_cast<std::uint32_t>(mixed(~block) % low_values);
}
// A float holds every value exactly.
__host__ __device__ constexpr std::uint32_t value_at(std::uint64_t position) {
  const std::uint64_t block = position >> block_bits;
  if (position == low_position(block)) return low_value(block);
  return low_values + static_cast<std::uint32_t>(mixed(position) >> 42);
}

template <class T>
__global__ void write_values(T* values, std::uint64_t n) {
  const std::uint64_t position = cuda::global_thread();
  if (position < n) values[position] = static_cast<T>(value_at(position));
}

// The position of the leftmost minimum of a range.
class known_minima {
 public:
  explicit known_minima(std::uint64_t n) : lows_(lows(n)), of_blocks_(lows_, rmq_ties::leftmost) {}

  std::uint64_t position(std::uint64_t lower, std::uint64_t upper) const {
    // The blocks whose low values are in the range are adjacent.
    std::uint64_t first = lower >> block_bits;
    std::uint64_t last = upper >> block_bits;
    if (low_position(first) < lower) ++first;
    if (low_position(last) <= upper) ++last;
    if (first < last) return low_position(*of_blocks_.position(first, last - 1));
    std::uint64_t found = lower;
    for (std::uint64_t i = lower + 1; i <= upper; ++i)
      if (value_at(i) < value_at(found)) found = i;
    return found;
  }

 private:
  static std::vector<std::uint32_t> lows(std::uint64_t n) {
    std::vector<std::uint32_t> all((n + block_size - 1) / block_size);
    for (std::uint64_t block = 0; block < all.size(); ++block)
      all[block] = low_value(block);
    return all;
  }

  std::vector<std::uint32_t> lows_;
  rmq_oracle<std::uint32_t> of_blocks_;
};

struct asked_ranges {
  std::vector<std::uint64_t> lower, upper;
};

// Ranges of up to `longest` values: of all lengths, anywhere and at hard places, and some nearly as
// long as the array.
asked_ranges make_ranges(std::uint64_t n, std::uint64_t longest) {
  auto random = generator(n);
  asked_ranges all;
  const auto add = [&](std::uint64_t lower, std::uint64_t length) {
    length = std::min(length, longest);
    lower = std::min(lower, n - length);
    all.lower.push_back(lower);
    all.upper.push_back(lower + length - 1);
  };
  for (int i = 0; i < 60'000; ++i)
    add(below(random, n), 1 + below(random, std::uint64_t{2} << below(random, 12)));
  for (const std::uint64_t place : {std::uint64_t{0}, two_to_32 / 2, two_to_32 - (1U << 23),
                                    two_to_32 - (1U << 22), two_to_32 - 1024, two_to_32, n}) {
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t length = 1 + below(random, 3000);
      add(place - std::min(place, below(random, length)), length);
    }
  }
  if (longest < n) return all;
  for (int i = 0; i < 60'000; ++i) {
    add(below(random, n), 1 + below(random, std::uint64_t{1} << (13 + below(random, 22))));
    const std::uint64_t left_out = below(random, std::uint64_t{1} << below(random, 25));
    add(below(random, left_out + 1), n - left_out);
  }
  add(0, n);
  return all;
}

struct large_array {
  std::string name;
  std::string structure;
  option_map options;
  std::uint64_t bytes_of_value;  // beside the value, with 64-bit places
};

std::vector<large_array> structures() {
  if (tested_backend() == backend::optix) {
    return {{"hierarchy_and_rays", "rmq_hierarchy", {{"top", "rays"}}, 1}};
  }
  return {{"cover", "rmq_cover", {}, 1},
          {"small_cover", "rmq_cover", {{"memory", "small"}}, 1},
          {"hierarchy", "rmq_hierarchy", {}, 1},
          {"hierarchy_of_groups", "rmq_hierarchy", {{"load", "coalesced"}}, 1},
          {"lowest_common_ancestors", "rmq_lca", {}, 24},
          {"scan", "rmq_scan", {}, 0}};
}

class large_arrays : public backend_test, public testing::WithParamInterface<large_array> {
 protected:
  template <class T>
  void check(std::uint64_t n) const {
    const large_array& tested = GetParam();
    SCOPED_TRACE(testing::Message() << n << " values of " << to_string(format_of<T>));
    const std::uint64_t bytes = n * (sizeof(T) + tested.bytes_of_value) + (std::uint64_t{1} << 30);
    if (at().device().free_bytes < bytes) {
      GTEST_SKIP() << bytes << " bytes are needed, " << at().device().free_bytes << " are free";
    }
    buffer<T> values(at(), n);
    cuda::launch(context(at()).stream, cuda::blocks_for(n, 256), 256, 0, write_values<T>,
                 values.data(), n);
    const auto built =
        build_rmq(tested.structure, tested_backend(), at(), column(values), tested.options);

    const known_minima known(n);
    const asked_ranges asked = make_ranges(n, tested.structure == "rmq_scan" ? 4096 : n);
    const auto lower = at().upload(asked.lower);
    const auto upper = at().upload(asked.upper);
    const probes batch = ranges(column(lower), column(upper));
    buffer<std::uint64_t> positions(at(), asked.lower.size());
    buffer<T> minima(at(), asked.lower.size());
    built->position(at(), batch, std::span(positions.data(), positions.size()));
    built->minimum(at(), batch, value_span(minima));
    const auto found = at().download(positions);
    const auto least = at().download(minima);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::uint64_t expected = known.position(asked.lower[i], asked.upper[i]);
      ASSERT_EQ(found[i], expected) << asked.lower[i] << " to " << asked.upper[i];
      ASSERT_EQ(least[i], static_cast<T>(value_at(expected)))
          << asked.lower[i] << " to " << asked.upper[i];
    }
    EXPECT_EQ(repairs(*built, context(at()).stream), 0);
  }
};

TEST_P(large_arrays, just_short_enough_for_places_of_32_bits) {
  if (small_scale()) GTEST_SKIP() << "a large test";
  check<std::uint32_t>(two_to_32 - (1U << 23));
}
TEST_P(large_arrays, shorter_than_2_to_32_and_places_of_64_bits) {
  if (small_scale()) GTEST_SKIP() << "a large test";
  check<std::uint32_t>(two_to_32 - (1U << 22) - 5);
}
TEST_P(large_arrays, longer_than_2_to_32) {
  if (small_scale()) GTEST_SKIP() << "a large test";
  check<std::uint32_t>(two_to_32 + 1001);
}
TEST_P(large_arrays, sixteen_billion_floats) {
  if (small_scale()) GTEST_SKIP() << "a large test";
  check<float>(4 * two_to_32);
}

INSTANTIATE_TEST_SUITE_P(structures, large_arrays, testing::ValuesIn(structures()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace raydex::test
