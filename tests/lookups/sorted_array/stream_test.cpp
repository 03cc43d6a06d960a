// SPDX-License-Identifier: Apache-2.0
// Queries go to the caller's stream, and do not wait for it.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "raydex/raydex.hpp"
#include "src/machines/cuda/check.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

using namespace std::chrono_literals;

class sorted_array_stream : public test::backend_test {};

// Holds a stream up for a while.
void CUDART_CB sleep(void*) {
  std::this_thread::sleep_for(300ms);
}

TEST_F(sorted_array_stream, queries_return_before_the_stream_gets_to_them) {
  cudaStream_t stream = nullptr;
  cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  const context on_stream{context(at()).memory, stream};
  std::vector<std::uint32_t> cells(10'000);
  for (std::uint32_t i = 0; i < cells.size(); ++i)
    cells[i] = (i * 7919) % 10'007;
  const auto keys = at().upload(cells);
  const column key_column(keys);
  {
    buffer<std::uint32_t> first(on_stream, cells.size());
    buffer<std::uint64_t> out(on_stream, cells.size() + 1);
    const std::span counts(out.data(), cells.size());
    const auto built = build_sorted_array(backend::cuda, on_stream, key_column);
    const auto ask = [&] {
      built->first(on_stream, points(key_column), std::span(first.data(), first.size()));
      built->count(on_stream, points(key_column), counts);
      built->sum(on_stream, points(key_column), counts);
      built->offsets(on_stream, points(key_column), std::span(out.data(), out.size()));
    };
    ask();  // loads kernels and grows the pool, which may wait
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

    cuda::check(cudaLaunchHostFunc(stream, sleep, nullptr), "cudaLaunchHostFunc");
    ask();
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::vector<std::uint32_t> rows(cells.size());
    at().copy_out(rows.data(), first.data(), first.bytes());
    for (std::uint32_t i = 0; i < cells.size(); ++i)
      ASSERT_EQ(rows[i], i);
  }
  cuda::check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

}  // namespace
}  // namespace raydex
