// SPDX-License-Identifier: Apache-2.0
// The device generates, sorts and judges exactly as the host does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lab/lookups/measure.hpp"
#include "lab/machine/floors.hpp"
#include "lab/machine/machine.hpp"
#include "lab/tests/workloads/samples.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "raydex/session.hpp"

namespace raydex::bench {
namespace {

class device : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_unavailable(backend::cuda);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }

  static std::vector<std::byte> bytes(const session& on, const key_span& keys) {
    std::vector<std::byte> copy(keys.size * static_cast<std::uint64_t>(keys.bits / 8));
    if (!copy.empty()) on.copy_out(copy.data(), keys.data, copy.size());
    return copy;
  }
};

// Judges the rows of a join, right ones and with one that stands beside another probe.
void expect_pairs_judged(const session& gpu, machine& machine, const generated& data,
                         const generated& ours) {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint64_t> rows;
  std::vector<std::uint64_t> probe_rows;
  const key_set& keys = ours.set();
  for (std::uint64_t i = 0; i < ours.lower().size; ++i) {
    const auto found = keys.find(number_at(ours.lower().data, ours.lower().bits, i),
                                 number_at(ours.upper().data, ours.upper().bits, i));
    for (std::uint64_t slot = 0; slot < keys.n; ++slot) {
      const std::uint64_t index =
          slot < keys.n - keys.heavy ? slot % keys.distinct : keys.heavy_index;
      if (found.begin <= index && index < found.end) rows.push_back(keys.row(slot));
    }
    probe_rows.resize(rows.size(), i);
    offsets.push_back(rows.size());
  }
  const auto begins = gpu.upload(offsets);
  const auto uploaded = gpu.upload(rows);
  const auto wrong = [&] {
    const auto beside = gpu.upload(probe_rows);
    answered_batch batch;
    batch.kind = result::pairs;
    batch.row_id_bits = 64;
    batch.size = ours.lower().size;
    batch.lower = data.lower().data;
    batch.upper = data.upper().data;
    batch.values = uploaded.data();
    batch.probe_rows = beside.data();
    batch.offsets = begins.data();
    batch.total = rows.size();
    return machine.count_wrong(data.set(), batch);
  };
  EXPECT_EQ(wrong(), 0u);
  for (const std::size_t at : {std::size_t{0}, rows.size() / 2, rows.size() - 1}) {
    ++probe_rows[at];
    EXPECT_EQ(wrong(), 1u);
    --probe_rows[at];
  }
}

TEST_F(device, generates_what_the_host_generates) {
  const session cpu(backend::cpu);
  const session gpu(backend::cuda);
  const auto host = make_machine(cpu);
  const auto other = make_machine(gpu);
  for (const workload& spec : test::sample_workloads()) {
    SCOPED_TRACE(describe(spec));
    generated ours(spec, *host);
    generated theirs(spec, *other);
    for (std::uint64_t wave = 0; wave <= 2 * spec.waves; ++wave) {
      if (wave != 0) {
        ours.advance(*host, wave);
        theirs.advance(*other, wave);
      }
      EXPECT_EQ(bytes(cpu, ours.keys()), bytes(gpu, theirs.keys()));
      EXPECT_EQ(bytes(cpu, ours.lower()), bytes(gpu, theirs.lower()));
      EXPECT_EQ(bytes(cpu, ours.upper()), bytes(gpu, theirs.upper()));
    }
  }
}

TEST_F(device, judges_as_the_host_does) {
  const session cpu(backend::cpu);
  const session gpu(backend::cuda);
  const auto host = make_machine(cpu);
  const auto machine = make_machine(gpu);
  for (const workload& spec : test::sample_workloads()) {
    SCOPED_TRACE(describe(spec));
    const generated data(spec, *machine);
    const generated ours(spec, *host);  // the host cannot read the device's key set
    std::vector<std::uint64_t> counts(spec.probes);
    const std::vector<std::byte> lower = bytes(gpu, data.lower());
    const std::vector<std::byte> upper = bytes(gpu, data.upper());
    for (std::uint64_t i = 0; i < spec.probes; ++i) {
      counts[i] = ours.set().expected_count(number_at(lower.data(), spec.key_bits, i),
                                            number_at(upper.data(), spec.key_bits, i));
    }
    const auto wrong = [&] {
      const auto uploaded = gpu.upload(std::span<const std::uint64_t>(counts));
      answered_batch batch;
      batch.kind = result::count;
      batch.key_bits = spec.key_bits;
      batch.size = spec.probes;
      batch.lower = data.lower().data;
      batch.upper = data.upper().data;
      batch.values = uploaded.data();
      return machine->count_wrong(data.set(), batch);
    };
    EXPECT_EQ(wrong(), 0u);
    for (std::uint64_t i = 0; i < spec.probes; i += 5)
      ++counts[i];
    EXPECT_EQ(wrong(), (spec.probes + 4) / 5);
  }
}

TEST_F(device, judges_long_answers_as_the_host_does) {
  const session cpu(backend::cpu);
  const session gpu(backend::cuda);
  const auto host = make_machine(cpu);
  const auto machine = make_machine(gpu);
  workload spec = test::sized(20011, 300);
  spec.uniformity = 0;
  spec.range_hits = 5;
  spec.giant_range = 50;
  const auto check = [&] {
    SCOPED_TRACE(describe(spec));
    const generated data(spec, *machine);
    const generated ours(spec, *host);
    EXPECT_EQ(data.matches(), ours.matches());
    std::vector<std::uint64_t> sums(spec.probes);
    std::vector<std::uint64_t> firsts(spec.probes);
    std::size_t longest = 0;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const answer wanted = ours.set().expected(number_at(ours.lower().data, spec.key_bits, i),
                                                number_at(ours.upper().data, spec.key_bits, i));
      sums[i] = wanted.sum;
      firsts[i] = wanted.first;
      if (wanted.count > most) longest = i;
      most = std::max(most, wanted.count);
    }
    EXPECT_GT(most, 4096u);
    const auto wrong = [&](result kind, const std::vector<std::uint64_t>& values) {
      const auto uploaded = gpu.upload(values);
      answered_batch batch;
      batch.kind = kind;
      batch.row_id_bits = 64;
      batch.size = spec.probes;
      batch.lower = data.lower().data;
      batch.upper = data.upper().data;
      batch.values = uploaded.data();
      return machine->count_wrong(data.set(), batch);
    };
    EXPECT_EQ(wrong(result::sum, sums), 0u);
    EXPECT_EQ(wrong(result::first, firsts), 0u);
    ++sums[longest];
    ++firsts[longest];
    EXPECT_EQ(wrong(result::sum, sums), 1u);
    EXPECT_EQ(wrong(result::first, firsts), 1u);
    expect_pairs_judged(gpu, *machine, data, ours);
    for (const result kind :
         {result::first, result::count, result::sum, result::rows, result::pairs})
      EXPECT_EQ(measure(*machine, data, kind, "sorted_array", {}, 1).wrong, 0u);
  };
  check();
  spec.multiplicity = 5000;  // a range has fewer keys than the threads that judge it
  spec.range_hits = 10000;
  check();
  spec = test::sized(20011, 300);
  spec.heavy_key = 50;
  check();
}

TEST_F(device, threads_share_an_index) {
  const session gpu(backend::cuda);
  const auto machine = make_machine(gpu);
  workload spec = test::sized(5001, 1003);
  spec.batches = 7;
  for (const std::uint64_t threads : {1u, 3u, 8u}) {
    spec.threads = threads;
    const generated data(spec, *machine);
    for (const result kind : {result::first, result::rows, result::pairs})
      EXPECT_EQ(measure(*machine, data, kind, "pivot_tree", {}, 1).wrong, 0u);
  }
}

TEST_F(device, floors_are_measured) {
  const session gpu(backend::cuda);
  const auto machine = make_machine(gpu);
  floors all(*machine, 1);
  for (const order probes : {order::unsorted, order::sorted}) {
    workload spec = test::sized(5001, 1003);
    spec.probe_order = probes;
    const reference_times times = all.references(generated(spec, *machine));
    EXPECT_GE(times.sort_ms, 0);
    EXPECT_EQ(times.sort_probes_ms.has_value(), probes == order::sorted);
    EXPECT_FALSE(times.lower_bound_ms.has_value());
    EXPECT_GE(all.lookups(spec, spec.probes * spec.multiplicity, result::first).per_s, 0);
  }
}

TEST_F(device, gathers_the_slots_of_its_probes) {
  const session gpu(backend::cuda);
  const auto machine = make_machine(gpu);
  std::vector<std::uint64_t> table(1000);
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = 7 * i;
  std::vector<std::uint32_t> probes(4 * 301);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    probes[i] = static_cast<std::uint32_t>(random(1, stream::floor, i));
  }
  const auto slots = gpu.upload(std::span<const std::uint64_t>(table));
  const auto places = gpu.upload(std::span<const std::uint32_t>(probes));
  buffer<std::uint32_t> out(gpu, probes.size());
  machine->gather(slots.data(), table.size(), places.data(), out.data(), probes.size());
  const auto found = gpu.download(out);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    ASSERT_EQ(found[i], 7 * ((std::uint64_t{probes[i]} * table.size()) >> 32));
  }
}

TEST_F(device, measures_a_structure) {
  const session gpu(backend::cuda);
  const auto machine = make_machine(gpu);
  for (const result kind :
       {result::first, result::count, result::sum, result::rows, result::pairs}) {
    workload spec = test::sized(5001, 1003);
    spec.batches = 3;
    spec.multiplicity = 2;
    const generated data(spec, *machine);
    EXPECT_EQ(measure(*machine, data, kind, "sorted_array", {}, 1).wrong, 0u);
  }
}

}  // namespace
}  // namespace raydex::bench
