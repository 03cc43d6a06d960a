// SPDX-License-Identifier: Apache-2.0
// Points divided by tiles, several of them in a chunk, which takes millions of points elsewhere.
#include "raydex/core/partitions/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "emulation/control.hpp"
#include "raydex/partition.hpp"
#include "raydex/session.hpp"
#include "src/machines/cuda/executor.cuh"
#include "src/operations/lookups/built_index.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

template <class Key>
void divide_by_tiles(std::uint64_t size, unsigned shards, unsigned tiles) {
  SCOPED_TRACE(std::to_string(size) + " points, " + std::to_string(shards) + " shards");
  auto random = generator(size);
  std::vector<Key> splitters(shards - 1);
  for (unsigned i = 1; i < shards; ++i)
    splitters[i - 1] = Key{10} * i;
  std::vector<Key> keys(size);
  for (Key& key : keys)
    key = static_cast<Key>(below(random, 10 * shards));

  const session at(backend::cuda);
  const std::uint64_t chunk = tiles * core::points_of_tile;
  const std::uint64_t chunks = (size + chunk - 1) / chunk;
  const core::divided_probes<Key> probes{.lower = {cells_of(column(keys))},
                                         .upper = {},
                                         .is_points = true,
                                         .size = size,
                                         .owners = {splitters.data(), shards - 1},
                                         .chunk = chunk,
                                         .chunks = chunks};
  std::vector<std::uint64_t> ends(shards * chunks);
  cuda::executor::for_each_in_blocks(at, core::count_points<Key>{probes, ends.data()}, chunks);
  cuda::executor::synchronise(at);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  ASSERT_EQ(ends.back(), size);
  std::vector<std::uint64_t> begins(shards);
  for (unsigned shard = 1; shard < shards; ++shard)
    begins[shard] = ends[shard * chunks - 1];
  std::vector<std::uint32_t> sources(size);
  std::vector<Key> cells(size);
  cuda::executor::for_each_in_blocks(
      at,
      core::write_points<Key, std::uint32_t>{
          probes, {ends.data(), begins.data(), chunks}, sources.data(), cells.data()},
      chunks);
  cuda::executor::synchronise(at);

  std::vector<std::uint32_t> expected(size);
  std::iota(expected.begin(), expected.end(), 0U);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] / 10 < keys[b] / 10; });
  EXPECT_EQ(sources, expected);
  for (std::uint64_t i = 0; i < size; ++i)
    ASSERT_EQ(cells[i], keys[expected[i]]) << i;
}

TEST(tiles, several_in_a_chunk) {
  divide_by_tiles<std::uint32_t>(3 * 4096, 8, 3);
  divide_by_tiles<std::uint32_t>(7 * 4096 + 1, 2, 3);
  divide_by_tiles<std::uint64_t>(5 * 4096 - 1, 1024, 2);
  divide_by_tiles<std::uint64_t>(2 * 4096 + 33, 300, 4);
}

TEST(tiles, one_shard) {
  divide_by_tiles<std::uint32_t>(4096 + 5, 1, 2);
}

// A tile and 700 shards of 64-bit keys take 88 KB.
class tiles_in_little_room : public testing::Test {
 protected:
  tiles_in_little_room() { emulation::set_shared_memory(std::size_t{64} << 10); }
  ~tiles_in_little_room() override { emulation::set_shared_memory(emulation::usual_shared_bytes); }
};

TEST_F(tiles_in_little_room, are_left_out) {
  constexpr std::uint64_t shards = 700;
  std::vector<std::uint64_t> splitters(shards - 1);
  std::iota(splitters.begin(), splitters.end(), std::uint64_t{1});
  auto random = generator(shards);
  std::vector<std::uint64_t> keys(5000);
  for (std::uint64_t& key : keys)
    key = below(random, shards);
  const session at(backend::cuda);
  const probes batch = points(column(keys));
  const auto parts = divide(backend::cuda, at, batch, column(splitters));
  ASSERT_EQ(parts->size(), keys.size());
  std::vector<std::uint32_t> sources(keys.size());
  std::vector<std::uint64_t> cells(keys.size());
  parts->write(at, batch, {sources, cells.data(), nullptr});
  at.synchronize();
  std::vector<std::uint32_t> expected(keys.size());
  std::iota(expected.begin(), expected.end(), 0U);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  EXPECT_EQ(sources, expected);
}

}  // namespace
}  // namespace raydex::test
