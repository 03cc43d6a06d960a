// SPDX-License-Identifier: Apache-2.0
// Small workloads for minima, for tests that hold for any workload.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/workloads/minima/rmq_workload.hpp"

namespace raydex::test {

inline constexpr bench::array_shape generated_shapes[] = {
    bench::array_shape::random,     bench::array_shape::distinct, bench::array_shape::ascending,
    bench::array_shape::descending, bench::array_shape::sawtooth, bench::array_shape::constant,
    bench::array_shape::few,        bench::array_shape::mountain, bench::array_shape::lcp};

inline constexpr key_format number_formats[] = {format_of<float>,        format_of<double>,
                                                format_of<std::int32_t>, format_of<std::uint32_t>,
                                                format_of<std::int64_t>, format_of<std::uint64_t>};

inline constexpr bench::range_kind range_kinds[] = {
    bench::range_kind::large, bench::range_kind::medium, bench::range_kind::small,
    bench::range_kind::mixed};

inline std::vector<bench::rmq_workload> sample_rmq_workloads() {
  std::vector<bench::rmq_workload> all;
  std::uint64_t size = 0;
  for (const bench::array_shape shape : generated_shapes) {
    for (const key_format value : number_formats) {
      for (const bench::range_kind ranges : range_kinds) {
        // Less than a block, whole blocks, and partial ones.
        constexpr std::uint64_t sizes[] = {1, 2, 63, 64, 65, 128, 1000, 4096, 5003};
        bench::rmq_workload spec;
        spec.keys = sizes[size++ % 9];
        spec.probes = 101;
        spec.shape = shape;
        spec.period = 17;
        spec.value = value;
        spec.ranges = ranges;
        spec.position_bits = size % 3 == 0 ? 64 : 32;
        spec.seed = size;
        all.push_back(spec);
      }
    }
  }
  return all;
}

}  // namespace raydex::test
