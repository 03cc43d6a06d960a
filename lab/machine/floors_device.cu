// SPDX-License-Identifier: Apache-2.0
// The raw operations of a CUDA device's floors.
#include "lab/machine/device_machine.hpp"
#include "lab/machine/for_each.cuh"
#include "lab/machine/median.hpp"
#include "lab/machine/sort_device.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::bench {
namespace {

struct write_number {
  void* out;
  int bits;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (bits == 32) {
      static_cast<std::uint32_t*>(out)[i] = static_cast<std::uint32_t>(i);
    } else {
      static_cast<std::uint64_t*>(out)[i] = i;
    }
  }
};

__device__ std::uint32_t read_slot(const std::uint64_t* table, std::uint64_t slots,
                                   std::uint32_t probe) {
  return static_cast<std::uint32_t>(core::load(table + scale(std::uint64_t{probe} << 32, slots)));
}

// Four reads are in flight per thread; probes and results stream past the caches, which belong to
// the table.
__global__ void __launch_bounds__(block_threads)
    gather_kernel(const std::uint64_t* table, std::uint64_t slots, const uint4* probes, uint4* out,
                  std::uint64_t quads) {
  const std::uint64_t i = cuda::global_thread();
  if (i >= quads) return;
  const uint4 probe = __ldcs(probes + i);
  uint4 found;
  found.x = read_slot(table, slots, probe.x);
  found.y = read_slot(table, slots, probe.y);
  found.z = read_slot(table, slots, probe.z);
  found.w = read_slot(table, slots, probe.w);
  __stcs(out + i, found);
}

}  // namespace

void device_machine::copy(void* to, const void* from, std::size_t bytes) {
  const context work = on();
  if (bytes == 0) return;
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, work.stream),
              "cudaMemcpyAsync");
}

void device_machine::gather(const std::uint64_t* table, std::uint64_t slots,
                            const std::uint32_t* probes, std::uint32_t* out, std::uint64_t size) {
  const context work = on();
  const std::uint64_t quads = size / 4;
  cuda::launch(work.stream, cuda::blocks_for(quads, block_threads), block_threads, 0, gather_kernel,
               table, slots, reinterpret_cast<const uint4*>(probes), reinterpret_cast<uint4*>(out),
               quads);
}

double device_machine::sort_pairs_ms(const key_span& keys, row_id_type row_ids, int repetitions) {
  if (keys.size == 0) return 0;
  const context memory = on();
  const int row_bits = row_ids == row_id_type::uint32 ? 32 : 64;
  const auto row_bytes = keys.size * static_cast<std::uint64_t>(row_bits / 8);
  buffer<std::byte> sorted(memory, keys.size * static_cast<std::uint64_t>(keys.bits / 8));
  buffer<std::byte> rows(memory, row_bytes);
  buffer<std::byte> sorted_rows(memory, row_bytes);
  for_each(memory, keys.size, write_number{rows.data(), row_bits});
  const key_span numbers{rows.data(), keys.size, row_bits};
  std::size_t bytes = 0;
  sort_pairs(nullptr, bytes, keys, sorted.data(), numbers, sorted_rows.data(), memory.stream);
  buffer<std::byte> scratch(memory, bytes);
  return median_of(repetitions, [&] {
    return milliseconds([&] {
      sort_pairs(scratch.data(), bytes, keys, sorted.data(), numbers, sorted_rows.data(),
                 memory.stream);
    });
  });
}

std::optional<double> device_machine::lower_bound_ms(const key_span& /*keys*/,
                                                     const key_span& /*probes*/,
                                                     int /*repetitions*/) {
  return std::nullopt;
}

}  // namespace raydex::bench
