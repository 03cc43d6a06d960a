// SPDX-License-Identifier: Apache-2.0
// Floors are measured and named, and count the right bytes.
#include "lab/machine/floors.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "lab/machine/median.hpp"
#include "lab/tests/workloads/samples.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

TEST(floors, of_points) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  floors all(*host, 1);
  workload spec = test::sized(5000, 1001);
  const lookup_floor plain = all.lookups(spec, spec.probes * spec.multiplicity, result::first);
  EXPECT_EQ(plain.name, "streamed gather");
  EXPECT_GT(plain.per_s, 0);
  EXPECT_GT(plain.copy_bytes_per_s, 0);
  EXPECT_EQ(all.lookups(spec, spec.probes * spec.multiplicity, result::sum).per_s,
            plain.per_s);  // measured once

  spec.multiplicity = 8;
  const lookup_floor copies = all.lookups(spec, spec.probes * spec.multiplicity, result::sum);
  EXPECT_EQ(copies.name, "streamed gather and copy");
  EXPECT_LT(copies.per_s, plain.per_s);
  EXPECT_LT(all.lookups(spec, spec.probes * spec.multiplicity, result::rows).per_s, copies.per_s);
  EXPECT_EQ(all.lookups(spec, spec.probes * spec.multiplicity, result::count).per_s, plain.per_s);

  EXPECT_EQ(all.lookups(spec, spec.probes * spec.multiplicity, result::first).per_s, plain.per_s);
  spec.range_hits = 8;
  EXPECT_EQ(all.lookups(spec, spec.probes * spec.multiplicity, result::first).per_s, copies.per_s);

  spec.range_hits = 0;
  // Of a join every row is written; where most probes have one, no row id is read besides.
  const lookup_floor few = all.lookups(spec, spec.probes / 2, result::pairs);
  const lookup_floor single = all.lookups(spec, spec.probes, result::pairs);
  EXPECT_EQ(few.name, "streamed gather and copy");
  EXPECT_GT(plain.per_s, few.per_s);
  EXPECT_GT(few.per_s, single.per_s);
  EXPECT_NEAR(1 / single.per_s - 1 / plain.per_s, 8 / plain.copy_bytes_per_s, 1e-6 / plain.per_s);
  EXPECT_NEAR(1 / all.lookups(spec, 2 * spec.probes, result::pairs).per_s - 1 / plain.per_s,
              2 * 12 / plain.copy_bytes_per_s, 1e-6 / plain.per_s);
  EXPECT_EQ(all.lookups(spec, 0, result::pairs).name, "streamed gather");
  reference_times references;
  references.sort_ms = 3;
  EXPECT_NEAR(join_floor_ms(references, {.name = "x", .per_s = 1000}, 2000), 2003, 1e-9);
  EXPECT_EQ(join_floor_ms(references, {}, 0), 3);

  spec.probe_order = order::sorted;
  EXPECT_EQ(all.lookups(spec, spec.probes * spec.multiplicity, result::count).name,
            "streamed gather, sorted");
}

TEST(floors, references) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  floors all(*host, 1);
  workload spec = test::sized(5000, 1001);
  reference_times times = all.references(generated(spec, *host));
  EXPECT_GT(times.sort_ms, 0);
  EXPECT_FALSE(times.sort_probes_ms.has_value());
  EXPECT_TRUE(times.lower_bound_ms.has_value());

  spec.uniformity = 0;
  spec.range_hits = 4;
  spec.probe_order = order::sorted;
  times = all.references(generated(spec, *host));
  EXPECT_TRUE(times.sort_probes_ms.has_value());
  EXPECT_FALSE(times.lower_bound_ms.has_value());

  EXPECT_EQ(all.lookups(test::sized(0, 0), 0, result::first).per_s, 0);
  all.references(generated(test::sized(0, 0), *host));
}

TEST(floors, the_gather_reads_the_slots_of_its_probes) {
  const session on(backend::cpu);
  const auto host = make_machine(on);
  const std::vector<std::uint64_t> table{10, 11, 12, 13};
  const std::vector<std::uint32_t> probes{0, 0x4000'0000, 0xffff'ffff, 0x8000'0000};
  std::vector<std::uint32_t> out(4);
  host->gather(table.data(), 4, probes.data(), out.data(), 4);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{10, 11, 13, 12}));
}

TEST(floors, medians) {
  double next = 100;  // the warm-up, dropped
  EXPECT_EQ(median_of(3, [&] { return std::exchange(next, next == 100 ? 5 : next - 1); }), 4);
}

TEST(floors, medians_of_short_calls_are_of_many) {
  int calls = 0;
  EXPECT_EQ(median_call_of(1, [&] { return calls++, 0.001; }), 0.001);
  EXPECT_EQ(calls, 102);
  calls = 0;
  EXPECT_EQ(median_call_of(3, [&] { return ++calls, 2.0; }), 2.0);
  EXPECT_EQ(calls, 6);
  calls = 0;
  EXPECT_EQ(median_call_of(3, [&] { return ++calls, 20.0; }), 20.0);
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace raydex::bench
