// SPDX-License-Identifier: Apache-2.0
// The device generates arrays and ranges and judges minima exactly as the host does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/machine/machine.hpp"
#include "lab/minima/measure.hpp"
#include "lab/tests/workloads/rmq_samples.hpp"
#include "lab/workloads/minima/rmq_generated.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

class rmq_device : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_unavailable(backend::cuda);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }

  static std::vector<std::byte> bytes(const session& on, const void* data, std::uint64_t size) {
    std::vector<std::byte> copy(size);
    on.copy_out(copy.data(), data, size);
    return copy;
  }
};

TEST_F(rmq_device, generates_what_the_host_generates) {
  const session cpu(backend::cpu);
  const session gpu(backend::cuda);
  const auto host = make_machine(cpu);
  const auto other = make_machine(gpu);
  for (const rmq_workload& spec : test::sample_rmq_workloads()) {
    SCOPED_TRACE(describe(spec));
    const rmq_generated ours(spec, *host);
    const rmq_generated theirs(spec, *other);
    const std::uint64_t array_bytes = spec.keys * spec.value.width;
    EXPECT_EQ(bytes(cpu, ours.array().data, array_bytes),
              bytes(gpu, theirs.array().data, array_bytes));
    const std::uint64_t range_bytes = spec.probes * ours.ranges().lower.step();
    EXPECT_EQ(bytes(cpu, ours.ranges().lower.data, range_bytes),
              bytes(gpu, theirs.ranges().lower.data, range_bytes));
    const std::uint64_t blocks = ours.reference().blocks();
    EXPECT_EQ(bytes(cpu, ours.reference().minima, 8 * blocks),
              bytes(gpu, theirs.reference().minima, 8 * blocks));
  }
}

TEST_F(rmq_device, measures_a_structure) {
  const session gpu(backend::cuda);
  const auto machine = make_machine(gpu);
  for (const rmq_workload& spec : test::sample_rmq_workloads()) {
    SCOPED_TRACE(describe(spec));
    const rmq_generated data(spec, *machine);
    for (const rmq_result kind : {rmq_result::min, rmq_result::argmin})
      EXPECT_EQ(measure(*machine, data, kind, "rmq_scan", {}, 1).wrong, 0u);
  }
}

TEST_F(rmq_device, counts_wrong_answers) {
  const session gpu(backend::cuda);
  const auto machine = make_machine(gpu);
  rmq_workload spec;
  spec.keys = 1000;
  spec.probes = 100;
  const rmq_generated data(spec, *machine);
  buffer<std::uint64_t> answers(gpu, spec.probes);
  machine->poison(answers.data(), answers.bytes());
  EXPECT_EQ(machine->count_wrong(data.reference(), {.kind = rmq_result::argmin,
                                                    .position_bits = 32,
                                                    .size = spec.probes,
                                                    .ends = data.ranges().lower.data,
                                                    .answers = answers.data()}),
            spec.probes);
}

}  // namespace
}  // namespace raydex::bench
