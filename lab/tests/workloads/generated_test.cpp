// SPDX-License-Identifier: Apache-2.0
// Generation is a function of the seed, and batches are parts of it.
#include "lab/workloads/keys/generated.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <vector>

#include "lab/tests/workloads/samples.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

std::vector<std::uint32_t> cells(const key_span& keys) {
  return {keys.as<std::uint32_t>(), keys.as<std::uint32_t>() + keys.size};
}

TEST(generated, is_determined_by_the_seed) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  workload spec = test::sized(10007, 5003);
  spec.zipf = 0.75;
  spec.hit_rate = 60;
  const generated once(spec, *host);
  {
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    const generated again(spec, *host);
    EXPECT_EQ(cells(once.keys()), cells(again.keys()));
    EXPECT_EQ(cells(once.lower()), cells(again.lower()));
  }
  ++spec.seed;
  const generated other(spec, *host);
  EXPECT_NE(cells(once.keys()), cells(other.keys()));
  EXPECT_NE(cells(once.lower()), cells(other.lower()));
}

TEST(generated, sorted_probes_are_the_unsorted_ones_in_order) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  workload spec = test::sized(1000, 501);
  const generated unsorted(spec, *host);
  spec.probe_order = order::sorted;
  const generated sorted(spec, *host);
  std::vector<std::uint32_t> expected = cells(unsorted.lower());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(cells(sorted.lower()), expected);

  std::vector<std::uint32_t> drawn(501);
  sorted.draw_lower(*host, {drawn.data(), drawn.size(), 32});
  EXPECT_EQ(drawn, cells(unsorted.lower()));
}

TEST(generated, batches_are_parts) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  workload spec = test::sized(1000, 501);
  spec.uniformity = 0;
  spec.range_hits = 10;
  const generated data(spec, *host);
  const probes part = data.batch(100, 401);
  EXPECT_FALSE(part.is_points);
  EXPECT_EQ(part.size(), 401u);
  EXPECT_EQ(part.lower.data, data.lower().as<std::uint32_t>() + 100);
  EXPECT_EQ(part.upper.data, data.upper().as<std::uint32_t>() + 100);
  EXPECT_TRUE(generated(test::sized(10, 10), *host).batch(0, 10).is_points);
}

}  // namespace
}  // namespace raydex::bench
