// SPDX-License-Identifier: Apache-2.0
// An index on the CPU whose memory comes from a pool of this program.
#include <cstdint>
#include <iostream>
#include <memory_resource>
#include <raydex/raydex.hpp>
#include <vector>

int main() {
  std::pmr::synchronized_pool_resource pool;  // or any other std::pmr::memory_resource
  raydex::pmr_resource from_pool(&pool);
  raydex::tracking_resource memory(from_pool);  // counts the bytes

  const std::vector<std::int32_t> prices{50, 20, 40, 20, 30};
  const std::vector<std::int32_t> probes{20, 60};
  raydex::buffer<std::uint64_t> counts;
  {
    const raydex::context on{memory};
    const auto index =
        raydex::build("sorted_array", raydex::backend::cpu, on, raydex::column(prices));
    counts = raydex::buffer<std::uint64_t>(on, probes.size());
    index->count(on, raydex::points(raydex::column(probes)), counts);
    std::cout << counts[0] << " and " << counts[1] << " rows, with " << memory.current()
              << " bytes of the pool\n";
  }
  std::cout << memory.current() << " bytes are left, those of the counts\n";
  return counts[0] == 2 && counts[1] == 0 && memory.current() == counts.bytes() ? 0 : 1;
}
