// SPDX-License-Identifier: Apache-2.0
// Arrays and ranges on the CPU.
#include "lab/machine/host_machine.hpp"
#include "lab/machine/parallel.hpp"

namespace raydex::bench {

void host_machine::fill_values(const value_set& values, key_type type, void* out) {
  parallel_for(values.n, write_value{values, type, out});
}

void host_machine::fill_ranges(const range_set& ranges, const key_span& ends) {
  with_width(ends.bits, [&](auto zero) {
    using position = decltype(zero);
    parallel_for(ends.size / 2, write_range<position>{ranges, ends.as<position>()});
  });
}

void host_machine::fill_reference(const rmq_reference& reference, std::uint64_t* minima,
                                  std::uint32_t* rows) {
  const std::uint64_t blocks = reference.blocks();
  parallel_for(blocks, write_block_minimum{reference, minima});
  for (unsigned row = 1; row <= reference.rows(); ++row)
    parallel_for(blocks, write_joined{reference, row, rows + (row - 1) * blocks});
}

std::uint64_t host_machine::count_wrong(const rmq_reference& reference,
                                        const answered_ranges& batch) {
  return parallel_count(batch.size,
                        [&](std::uint64_t i) { return !is_right(reference, batch, i); });
}

}  // namespace raydex::bench
