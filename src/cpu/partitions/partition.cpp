// SPDX-License-Identifier: Apache-2.0
#include "src/cpu/executor.hpp"
#include "src/partitions/built_partition.hpp"

namespace raydex::cpu {

std::unique_ptr<partition> divide(const context& on, backend where, const probes& batch,
                                  const column& splitters, std::uint64_t unit) {
  return make_partition<executor>(on, where, batch, splitters, unit);
}

void choose_splitters(const context& on, const column& sample, const value_span& out) {
  write_splitters<executor>(on, sample, out);
}

}  // namespace raydex::cpu
