// SPDX-License-Identifier: Apache-2.0
// An index on a GPU: its memory comes from a pool of this program, its work goes to a stream of
// this program.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <raydex/raydex.hpp>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

// Memory of a pool, in the order of a stream. Several threads may ask for it.
class pool_resource final : public raydex::memory_resource {
 public:
  explicit pool_resource(cudaMemPool_t pool) : pool_(pool) {}

  void* allocate(std::size_t bytes, raydex::stream_t stream) override {
    void* memory = nullptr;
    if (cudaMallocFromPoolAsync(&memory, bytes, pool_, stream) != cudaSuccess) {
      cudaGetLastError();  // which the next call would report again
      throw raydex::out_of_memory(bytes, 0);
    }
    return memory;
  }
  void deallocate(void* memory, std::size_t /*bytes*/, raydex::stream_t stream) noexcept override {
    cudaFreeAsync(memory, stream);
  }
  raydex::memory_space space() const noexcept override { return raydex::memory_space::device; }

 private:
  cudaMemPool_t pool_;
};

// A column in that memory, copied in the order of the stream.
raydex::buffer<std::int32_t> to_device(const raydex::context& on,
                                       const std::vector<std::int32_t>& cells) {
  raydex::buffer<std::int32_t> column(on, cells.size());
  check(cudaMemcpyAsync(column.data(), cells.data(), column.bytes(), cudaMemcpyHostToDevice,
                        on.stream));
  return column;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "there is no GPU\n";
    return 0;
  }
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  std::array<std::uint64_t, 2> found{};
  {
    pool_resource memory(pool);
    const raydex::context on{memory, stream};
    const auto prices = to_device(on, {50, 20, 40, 20, 30});
    const auto index = raydex::build("auto", raydex::backend::cuda, on, raydex::column(prices));

    // Copies and lookups are queued; the last line waits for them.
    const auto probes = to_device(on, {20, 60});
    raydex::buffer<std::uint64_t> counts(on, probes.size());
    index->count(on, raydex::points(raydex::column(probes)), counts);
    check(cudaMemcpyAsync(found.data(), counts.data(), counts.bytes(), cudaMemcpyDeviceToHost,
                          stream));
    check(cudaStreamSynchronize(stream));
  }  // buffers and index go back to the pool, in the order of the stream
  check(cudaStreamDestroy(stream));
  std::cout << found[0] << " and " << found[1] << " rows\n";
  return found[0] == 2 && found[1] == 0 ? 0 : 1;
}
