// SPDX-License-Identifier: Apache-2.0
// Arrays and ranges on a CUDA device.
#include <span>

#include "lab/machine/device_machine.hpp"
#include "lab/machine/for_each.cuh"

namespace raydex::bench {
namespace {

__global__ void __launch_bounds__(block_threads)
    count_wrong_kernel(rmq_reference reference, answered_ranges batch, unsigned long long* wrong) {
  const std::uint64_t i = cuda::global_thread();
  if (i < batch.size && !is_right(reference, batch, i)) atomicAdd(wrong, 1ull);
}

}  // namespace

void device_machine::fill_values(const value_set& values, key_type type, void* out) {
  for_each(on(), values.n, write_value{values, type, out});
}

void device_machine::fill_ranges(const range_set& ranges, const key_span& ends) {
  with_width(ends.bits, [&](auto zero) {
    using position = decltype(zero);
    for_each(on(), ends.size / 2, write_range<position>{ranges, ends.as<position>()});
  });
}

void device_machine::fill_reference(const rmq_reference& reference, std::uint64_t* minima,
                                    std::uint32_t* rows) {
  const std::uint64_t blocks = reference.blocks();
  for_each(on(), blocks, write_block_minimum{reference, minima});
  for (unsigned row = 1; row <= reference.rows(); ++row)
    for_each(on(), blocks, write_joined{reference, row, rows + (row - 1) * blocks});
}

std::uint64_t device_machine::count_wrong(const rmq_reference& reference,
                                          const answered_ranges& batch) {
  const context memory = on();
  const std::uint64_t zero = 0;
  buffer<std::uint64_t> wrong = on().upload(std::span(&zero, 1));
  static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));  // what atomicAdd takes
  cuda::launch(memory.stream, cuda::blocks_for(batch.size, block_threads), block_threads, 0,
               count_wrong_kernel, reference, batch,
               reinterpret_cast<unsigned long long*>(wrong.data()));
  return on().download(wrong).front();
}

}  // namespace raydex::bench
