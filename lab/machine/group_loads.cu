// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/group_loads.hpp"

#include "lab/machine/for_each.cuh"

namespace raydex::bench {
namespace {

struct sum_loads {
  group_loads loads;
  const std::uint32_t* values;
  std::uint32_t* sums;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto thread = static_cast<std::uint32_t>(i);
    std::uint32_t sum = 0;
    for (std::uint32_t step = 0; step < loads.steps; ++step)
      sum += values[loads.place(thread, step)];
    sums[thread] = sum;
  }
};

}  // namespace

void load_in_groups(const context& on, const group_loads& loads, const std::uint32_t* values,
                    std::uint32_t* sums) {
  for_each(on, loads.threads, sum_loads{loads, values, sums});
}

}  // namespace raydex::bench
