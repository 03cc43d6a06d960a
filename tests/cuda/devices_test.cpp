// SPDX-License-Identifier: Apache-2.0
// An index belongs to the device that was current when it was built. The second device works as
// well as the first, also at the same time.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/check.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

class cuda_devices : public backend_test {
 protected:
  void SetUp() override {
    backend_test::SetUp();
    if (IsSkipped()) return;
    int devices = 0;
    cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    if (devices < 2) GTEST_SKIP() << "one device";
  }
  void TearDown() override { cudaSetDevice(0); }

  static void use(int device) { cuda::check(cudaSetDevice(device), "cudaSetDevice"); }

  // What all structures answer on the current device, by backend and name.
  static std::map<std::string, answers> ask_all() {
    auto random = generator(23);
    std::vector<std::uint64_t> keys(100'000);
    for (auto& key : keys)
      key = below(random, 50'000);
    std::vector<std::uint64_t> ends(5000);
    for (auto& end : ends)
      end = below(random, 60'000);
    std::map<std::string, answers> all;
    for (const capability& can : capabilities()) {
      if (can.where == backend::cpu || !can.available) continue;
      const session at(can.where);
      const auto column_there = at.upload(keys);
      const auto lower = at.upload(ends);
      const auto built = build(can.structure, can.where, at, column(column_there));
      const std::string name = std::string(to_string(can.where)) + " " + can.structure;
      all[name] = ask(at, *built, points(column(lower)));
    }
    for (const rmq_capability& can : rmq_capabilities()) {
      if (can.where == backend::cpu || !can.available) continue;
      const session at(can.where);
      const auto values = at.upload(keys);
      const auto lower = at.upload(ends);
      const auto built = build_rmq(can.structure, can.where, at, column(values));
      buffer<std::uint64_t> out(at, ends.size());
      const std::span places(out.data(), out.size());
      built->position(at, ranges(column(lower), column(lower)), places);
      const std::string name = std::string(to_string(can.where)) + " " + can.structure;
      all[name].first = at.download(out);
    }
    return all;
  }
};

TEST_F(cuda_devices, answer_alike) {
  const auto on_first = ask_all();
  use(1);
  EXPECT_TRUE(ask_all() == on_first);
}

TEST_F(cuda_devices, answer_at_the_same_time) {
  const auto alone = ask_all();
  std::vector<std::thread> threads;
  for (int device = 0; device < 2; ++device) {
    threads.emplace_back([&, device] {
      use(device);
      for (int round = 0; round < 3; ++round)
        EXPECT_TRUE(ask_all() == alone) << "device " << device;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST_F(cuda_devices, an_index_outlives_other_current_devices) {
  use(1);
  const session at(backend::cuda);
  const auto keys = at.upload(std::vector<std::uint32_t>{50, 20, 40, 20, 30});
  const auto built = build("sorted_array", backend::cuda, at, column(keys));
  const answers before = ask(at, *built, points(column(keys)));
  use(0);
  const session first(backend::cuda);
  const auto other_keys = first.upload(std::vector<std::uint32_t>{20, 20, 20});
  const auto other = build("sorted_array", backend::cuda, first, column(other_keys));
  EXPECT_EQ(ask(first, *other, points(column(other_keys))).counts,
            (std::vector<std::uint64_t>{3, 3, 3}));
  use(1);
  EXPECT_TRUE(ask(at, *built, points(column(keys))) == before);
}

}  // namespace
}  // namespace raydex::test
