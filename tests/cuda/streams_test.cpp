// SPDX-License-Identifier: Apache-2.0
// Work goes to whatever stream a caller names: a created one, the thread's default stream, or the
// legacy one. Compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM: here, but not in the library,
// stream 0 is the thread's own, which waits for the legacy stream and makes it wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/check.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex::test {
namespace {

constexpr std::uint32_t distinct = 5000;
constexpr std::uint32_t copies = 3;

class cuda_streams : public backend_test {
 protected:
  // Builds a structure and asks it, all on one stream, and waits for that alone.
  void check_on(stream_t stream, const std::string& structure, backend where_built) const {
    const context on{context(at()).memory, stream};
    std::vector<std::uint32_t> keys(distinct * copies);
    auto random = generator(17);
    for (std::uint32_t i = 0; i < keys.size(); ++i)
      keys[i] = i % distinct;
    std::shuffle(keys.begin(), keys.end(), random);
    std::vector<std::uint64_t> expected(distinct, 0);
    for (std::uint64_t row = 0; row < keys.size(); ++row)
      expected[keys[row]] += row;
    std::vector<std::uint32_t> probe_keys(distinct);
    for (std::uint32_t i = 0; i < distinct; ++i)
      probe_keys[i] = i;

    std::vector<std::uint64_t> sums(distinct);
    {
      buffer<std::uint32_t> column_on_device(on, keys.size());
      buffer<std::uint32_t> probes_on_device(on, distinct);
      buffer<std::uint64_t> out(on, distinct);
      const auto copy = [&](void* to, const void* from, std::size_t bytes) {
        cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
      };
      copy(column_on_device.data(), keys.data(), column_on_device.bytes());
      copy(probes_on_device.data(), probe_keys.data(), probes_on_device.bytes());
      const auto built = build(structure, where_built, on, column(column_on_device));
      built->sum(on, points(column(probes_on_device)), std::span(out.data(), out.size()));
      copy(sums.data(), out.data(), out.bytes());
      cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    EXPECT_EQ(sums, expected) << structure;
  }

  // Several threads at once, each with all structures on its own stream.
  template <class StreamOf>
  void check_on_threads(const StreamOf& stream_of) const {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        const stream_t stream = stream_of();
        for (const capability& can : capabilities()) {
          if (can.where != backend::cpu && can.available)
            check_on(stream, can.structure, can.where);
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
  }
};

TEST_F(cuda_streams, of_the_caller) {
  std::vector<cudaStream_t> made;
  check_on_threads([&] {
    static std::mutex lock;
    const std::lock_guard guard(lock);
    cudaStream_t stream = nullptr;
    cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    made.push_back(stream);
    return stream;
  });
  for (cudaStream_t stream : made)
    cuda::check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

TEST_F(cuda_streams, zero) {
  check_on_threads([] { return stream_t{nullptr}; });
}

TEST_F(cuda_streams, of_the_thread) {
  check_on_threads([] { return cudaStreamPerThread; });
}

TEST_F(cuda_streams, legacy) {
  check_on_threads([] { return cudaStreamLegacy; });
}

// Arrays of Arrow are read once their event has come, which follows what writes them.
TEST_F(cuda_streams, wait_for_events_of_arrow) {
  const session writer(backend::cuda);
  const stream_t stream = context(writer).stream;
  const auto ones = writer.upload(std::vector<std::uint32_t>(std::size_t{1} << 24, 1));
  buffer<std::uint32_t> rows(writer, ones.size());
  cuda::check(cudaMemsetAsync(rows.data(), 0, rows.bytes(), stream), "cudaMemsetAsync");
  writer.synchronize();
  buffer<std::uint32_t> scratch(writer, ones.size());
  const auto copy = [&](std::uint32_t* to) {
    cuda::check(cudaMemcpyAsync(to, ones.data(), ones.bytes(), cudaMemcpyDefault, stream),
                "cudaMemcpyAsync");
  };
  for (int i = 0; i < 200; ++i)  // some milliseconds
    copy(scratch.data());
  copy(rows.data());
  ArrowDeviceArray array{};
  ArrowSchema schema{};
  to_arrow(writer, std::move(rows), array, schema);

  const auto built = build("sorted_array", backend::cuda, at(), column_of(at(), array, schema));
  const auto asked = at().upload(std::vector<std::uint32_t>{0, 1});
  buffer<std::uint64_t> counts(at(), 2);
  built->count(at(), points(column(asked)), counts);
  EXPECT_EQ(at().download(counts), (std::vector<std::uint64_t>{0, ones.size()}));
  array.array.release(&array.array);
  schema.release(&schema);
}

}  // namespace
}  // namespace raydex::test
