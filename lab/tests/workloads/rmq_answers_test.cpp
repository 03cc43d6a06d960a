// SPDX-License-Identifier: Apache-2.0
// The reference agrees with a scan, and the judge counts wrong answers.
#include "lab/workloads/minima/rmq_answers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lab/minima/measure.hpp"
#include "lab/tests/workloads/rmq_samples.hpp"
#include "lab/workloads/minima/rmq_generated.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

std::uint64_t leftmost(const std::vector<std::uint64_t>& codes, std::uint64_t lower,
                       std::uint64_t upper) {
  std::uint64_t found = lower;
  for (std::uint64_t i = lower; i <= upper; ++i)
    found = codes[i] < codes[found] ? i : found;
  return found;
}

TEST(rmq_answers, the_reference_is_a_scan) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  for (const rmq_workload& spec : test::sample_rmq_workloads()) {
    SCOPED_TRACE(describe(spec));
    const rmq_generated data(spec, *host);
    std::vector<std::uint64_t> codes;
    for (std::uint64_t i = 0; i < spec.keys; ++i)
      codes.push_back(code_at(data.array().data, spec.value.type, i));
    const void* const ends = data.ranges().lower.data;
    for (std::uint64_t j = 0; j < spec.probes; ++j) {
      const std::uint64_t lower = number_at(ends, spec.position_bits, 2 * j);
      const std::uint64_t upper = number_at(ends, spec.position_bits, 2 * j + 1);
      ASSERT_EQ(data.reference().position(lower, upper), leftmost(codes, lower, upper));
    }
  }
}

TEST(rmq_answers, every_range_of_an_array) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  rmq_workload spec;
  spec.keys = 700;
  spec.probes = 0;
  spec.shape = array_shape::few;
  const rmq_generated data(spec, *host);
  std::vector<std::uint64_t> codes;
  for (std::uint64_t i = 0; i < spec.keys; ++i)
    codes.push_back(code_at(data.array().data, spec.value.type, i));
  for (std::uint64_t lower = 0; lower < spec.keys; ++lower) {
    std::uint64_t found = lower;
    for (std::uint64_t upper = lower; upper < spec.keys; ++upper) {
      if (codes[upper] < codes[found]) found = upper;
      ASSERT_EQ(data.reference().position(lower, upper), found) << lower << " " << upper;
    }
  }
}

TEST(rmq_answers, nan_and_zeros) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto values = std::make_shared<std::vector<float>>(std::vector{nan, 0.0F, -0.0F, nan, nan});
  rmq_workload spec;
  spec.shape = array_shape::file;
  spec.keys = values->size();
  spec.probes = 0;
  spec.file = array_file{.name = "values",
                         .value = spec.value,
                         .size = values->size(),
                         .cells = {values, reinterpret_cast<const std::byte*>(values->data())}};
  const session on(backend::cpu);
  const auto host = make_machine(on);
  const rmq_generated data(spec, *host);
  EXPECT_EQ(data.reference().position(0, 4), 1u);
  EXPECT_EQ(data.reference().position(2, 4), 2u);
  EXPECT_EQ(data.reference().position(3, 4), 3u);
}

TEST(rmq_answers, wrong_ones_are_counted) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  rmq_workload spec;
  spec.keys = 1000;
  spec.probes = 100;
  spec.shape = array_shape::distinct;
  spec.value = format_of<std::int64_t>;
  const rmq_generated data(spec, *host);
  std::vector<std::uint64_t> positions;
  std::vector<std::int64_t> minima;
  const void* const ends = data.ranges().lower.data;
  for (std::uint64_t j = 0; j < spec.probes; ++j) {
    positions.push_back(
        data.reference().position(number_at(ends, 32, 2 * j), number_at(ends, 32, 2 * j + 1)));
    minima.push_back(static_cast<const std::int64_t*>(data.array().data)[positions.back()]);
  }
  const auto wrong = [&](rmq_result kind, const void* answers) {
    return host->count_wrong(
        data.reference(),
        {.kind = kind, .position_bits = 32, .size = spec.probes, .ends = ends, .answers = answers});
  };
  EXPECT_EQ(wrong(rmq_result::argmin, positions.data()), 0u);
  EXPECT_EQ(wrong(rmq_result::min, minima.data()), 0u);
  for (std::size_t j = 0; j < 100; j += 10) {
    ++positions[j];
    ++minima[j];
  }
  EXPECT_EQ(wrong(rmq_result::argmin, positions.data()), 10u);
  EXPECT_EQ(wrong(rmq_result::min, minima.data()), 10u);
}

TEST(rmq_answers, a_structure_is_measured) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  for (const rmq_workload& spec : test::sample_rmq_workloads()) {
    SCOPED_TRACE(describe(spec));
    const rmq_generated data(spec, *host);
    for (const rmq_result kind : {rmq_result::min, rmq_result::argmin}) {
      const rmq_measurement found = measure(*host, data, kind, "rmq_scan", {}, 1);
      EXPECT_EQ(found.wrong, 0u);
      EXPECT_EQ(found.info.n, spec.keys);
      EXPECT_EQ(found.info.value, spec.value);
    }
  }
}

}  // namespace
}  // namespace raydex::bench
