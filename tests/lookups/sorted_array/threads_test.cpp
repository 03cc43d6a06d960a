// SPDX-License-Identifier: Apache-2.0
// Results do not depend on the number of threads.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/keys.hpp"

namespace raydex {
namespace {

struct everything {
  std::vector<std::uint32_t> first, rows;
  std::vector<std::uint64_t> count, sum, offsets;
  std::vector<double> values;
  bool operator==(const everything&) const = default;
};

everything ask(std::size_t threads, const column& keys, const column& probe_keys,
               const column& values) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const session cpu(backend::cpu);
  const auto built = build_sorted_array(backend::cpu, cpu, keys);
  const probes batch = points(probe_keys);
  everything all;
  const std::size_t size = batch.size();
  all.first.resize(size);
  all.count.resize(size);
  all.sum.resize(size);
  all.values.resize(size);
  built->first(cpu, batch, std::span(all.first));
  built->count(cpu, batch, std::span(all.count));
  built->sum(cpu, batch, std::span(all.sum));
  built->sum(cpu, batch, values, std::span(all.values));
  const matches found = built->rows(cpu, batch);
  all.offsets = cpu.download(found.offsets);
  all.rows.resize(found.total);
  cpu.copy_out(all.rows.data(), found.rows.data(), found.rows.bytes());
  return all;
}

TEST(sorted_array_threads, do_not_change_results) {
  auto random = test::generator();
  constexpr std::size_t n = 300'000;
  std::vector<std::uint32_t> keys(n);
  std::vector<double> values(n);
  for (auto& key : keys)
    key = static_cast<std::uint32_t>(test::below(random, n / 3));
  for (auto& value : values)
    value = static_cast<double>(random()) / 3;
  const column key_column{std::span<const std::uint32_t>(keys)};
  const column value_column{std::span<const double>(values)};
  const everything alone = ask(1, key_column, key_column, value_column);
  EXPECT_TRUE(alone == ask(2, key_column, key_column, value_column));
  EXPECT_TRUE(alone == ask(7, key_column, key_column, value_column));
}

}  // namespace
}  // namespace raydex
