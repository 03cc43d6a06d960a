// SPDX-License-Identifier: Apache-2.0
// Calls that do not synchronise can be captured into a CUDA graph, and answer anew each time that
// it is launched: with the memory of a session, and on streams that are not its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/check.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

using cuda::check;

class cuda_graphs : public backend_test {
 protected:
  // Captures what a call queues, launches it twice, and compares what both wrote with `expected`.
  template <class T>
  void check_captured(const std::function<void(const context&, buffer<T>&)>& call,
                      std::uint64_t size, const std::string& what) const {
    SCOPED_TRACE(what);
    buffer<T> out(at(), size);
    call(at(), out);
    const std::vector<T> expected = at().download(out);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (const stream_t on : {context(at()).stream, stream}) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t made = nullptr;
      check(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
      call({context(at()).memory, on}, out);
      check(cudaStreamEndCapture(on, &graph), "cudaStreamEndCapture");
      check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
      for (int launch = 0; launch < 2; ++launch) {
        check(cudaMemsetAsync(out.data(), 0x5a, out.bytes(), on), "cudaMemsetAsync");
        check(cudaGraphLaunch(made, on), "cudaGraphLaunch");
        check(cudaStreamSynchronize(on), "cudaStreamSynchronize");
        EXPECT_EQ(at().download(out), expected);
      }
      check(cudaGraphExecDestroy(made), "cudaGraphExecDestroy");
      check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }
};

TEST_F(cuda_graphs, of_lookups) {
  auto random = generator();
  constexpr std::uint32_t probe_count = 300'000;  // enough for ascending points to be merged
  std::vector<std::uint32_t> keys(20'000);
  for (std::uint32_t& key : keys)
    key = static_cast<std::uint32_t>(below(random, 30'000));
  std::vector<std::uint32_t> lower(probe_count);
  for (std::uint32_t i = 0; i < probe_count; ++i)
    lower[i] = i / 10;
  auto upper = lower;
  for (std::uint32_t& end : upper)
    end += static_cast<std::uint32_t>(below(random, 3));
  upper[77] = 40'000;  // a long range
  const auto keys_there = at().upload(keys);
  const auto lower_there = at().upload(lower);
  const auto upper_there = at().upload(upper);
  const probes of_points = points(column(lower_there));
  const probes of_ranges = ranges(column(lower_there), column(upper_there));

  for (const capability& can : capabilities()) {
    if (can.where != backend::cuda || !can.available) continue;
    const auto built = build(can.structure, backend::cuda, at(), column(keys_there));
    for (const bool ranged : {false, true}) {
      if (ranged && !can.ranges) continue;
      const probes& batch = ranged ? of_ranges : of_points;
      const std::string what = can.structure + (ranged ? " ranges " : " points ");
      check_captured<std::uint32_t>(
          [&](const context& on, auto& out) { built->first(on, batch, out); }, probe_count,
          what + "first");
      check_captured<std::uint64_t>(
          [&](const context& on, auto& out) { built->count(on, batch, out); }, probe_count,
          what + "count");
      check_captured<std::uint64_t>(
          [&](const context& on, auto& out) { built->sum(on, batch, out); }, probe_count,
          what + "sum");
      check_captured<std::uint64_t>(
          [&](const context& on, auto& out) { built->offsets(on, batch, out); }, probe_count + 1,
          what + "offsets");
      buffer<std::uint64_t> offsets(at(), probe_count + 1);
      built->offsets(at(), batch, offsets);
      const std::uint64_t total = at().download(offsets).back();
      check_captured<std::uint32_t>(
          [&](const context& on, auto& out) { built->rows(on, batch, offsets, out); }, total,
          what + "rows");
    }
    if (!can.ranges) continue;
    check_captured<std::uint64_t>(
        [&](const context& on, auto& out) { built->rank(on, of_points, out); }, probe_count,
        can.structure + " rank");
    check_captured<std::uint32_t>(
        [&](const context& on, auto& out) { built->predecessor(on, of_points, out); }, probe_count,
        can.structure + " predecessor");
    check_captured<std::uint32_t>(
        [&](const context& on, auto& out) {
          built->successor(on, of_points, out, closeness::strict);
        },
        probe_count, can.structure + " successor");
  }
}

// Of tests that a table takes without being divided.
TEST_F(cuda_graphs, of_is_in) {
  auto random = generator();
  const auto check_keys = [&]<class Key>(Key, std::size_t size) {
    std::vector<Key> tests(size);
    std::vector<Key> elements(2 * size);
    for (auto* const keys : {&tests, &elements})
      for (Key& key : *keys)
        key = static_cast<Key>(below(random, 2 * size) * 0x9e37'79b9'7f4a'7c15);
    const buffer<Key> tests_there = at().upload(tests);
    const buffer<Key> elements_there = at().upload(elements);
    check_captured<std::uint8_t>(
        [&](const context& on, buffer<std::uint8_t>& out) {
          is_in(tested_backend(), on, column(tests_there), column(elements_there),
                {reinterpret_cast<bool*>(out.data()), out.size()});
        },
        elements.size(), std::to_string(size));
  };
  check_keys(std::uint32_t{}, 3000);
  check_keys(std::int64_t{}, 3000);
  if (tested_by_emulation()) return;
  check_keys(std::uint32_t{}, std::size_t{1} << 21);
  check_keys(std::int64_t{}, std::size_t{1} << 21);
}

TEST_F(cuda_graphs, of_minima) {
  auto random = generator();
  std::vector<float> values(100'000);
  for (float& value : values)
    value = static_cast<float>(below(random, 1'000'000));
  std::vector<std::uint32_t> first(5000);
  std::vector<std::uint32_t> last(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<std::uint32_t>(below(random, values.size()));
    last[i] = first[i] + static_cast<std::uint32_t>(below(random, values.size() - first[i]));
  }
  const auto there = at().upload(values);
  const auto first_there = at().upload(first);
  const auto last_there = at().upload(last);
  for (const rmq_capability& can : rmq_capabilities()) {
    if (can.where != backend::cuda || !can.available) continue;
    const auto built = build_rmq(can.structure, backend::cuda, at(), column(there));
    const probes asked = ranges(column(first_there), column(last_there));
    check_captured<std::uint64_t>(
        [&](const context& on, auto& out) { built->position(on, asked, out); }, first.size(),
        can.structure + " positions");
  }
}

}  // namespace
}  // namespace raydex::test
