// SPDX-License-Identifier: Apache-2.0
// Small workloads that visit every axis, for tests that hold for any workload.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/workloads/keys/workload.hpp"

namespace raydex::test {

// A workload of `keys` rows and `probes` probes, otherwise the default one.
inline bench::workload sized(std::uint64_t keys, std::uint64_t probes) {
  bench::workload spec;
  spec.keys = keys;
  spec.probes = probes;
  return spec;
}

inline std::vector<bench::workload> sample_workloads() {
  using bench::miss;
  using bench::order;
  using bench::workload;
  std::vector<workload> all;
  const auto add = [&all](auto change, std::uint64_t keys = 1003, std::uint64_t probes = 517) {
    for (const int bits : {32, 64}) {
      for (const order inserts : {order::unsorted, order::sorted}) {
        for (const order probe_order : {order::unsorted, order::sorted}) {
          workload spec = sized(keys, probes);
          spec.key_bits = bits;
          spec.insert_order = inserts;
          spec.probe_order = probe_order;
          change(spec);
          all.push_back(spec);
        }
      }
    }
  };
  add([](workload&) {});
  add([](workload&) {}, 1, 3);
  add([](workload&) {}, 2, 1);
  add([](workload&) {}, 5, 0);
  add([](workload& w) { w.hit_rate = 0, w.uniformity = 0, w.misses = miss::outside; }, 0, 5);
  add([](workload&) {}, 0, 0);
  add([](workload& w) { w.uniformity = 0; });
  add([](workload& w) { w.uniformity = 37.5, w.hit_rate = 50; });
  add([](workload& w) { w.value_bits = 10, w.hit_rate = 50; });
  add([](workload& w) { w.value_bits = 31, w.hit_rate = 90, w.misses = miss::outside; });
  add([](workload& w) { w.uniformity = 0, w.hit_rate = 10, w.misses = miss::outside; });
  add([](workload& w) { w.uniformity = 0, w.stride = 512, w.hit_rate = 70; });
  add([](workload& w) { w.uniformity = 20, w.stride = 7, w.hit_rate = 30; });
  add([](workload& w) { w.multiplicity = 4, w.hit_rate = 99; });
  add([](workload& w) { w.multiplicity = 2000; });
  add([](workload& w) { w.zipf = 1, w.seed = 7; });
  add([](workload& w) { w.zipf = 5, w.multiplicity = 3; });
  for (const bench::distribution shape :
       {bench::distribution::clumped, bench::distribution::skewed, bench::distribution::lognormal,
        bench::distribution::steps}) {
    add([shape](workload& w) { w.shape = shape, w.hit_rate = 60; });
  }
  add([](workload& w) {
    w.shape = bench::distribution::skewed, w.stride = 5, w.multiplicity = 3, w.hit_rate = 80;
  });
  add([](workload& w) { w.waves = 3, w.hit_rate = 50; });
  add([](workload& w) { w.range_hits = 1, w.uniformity = 0; });
  add([](workload& w) { w.range_hits = 64, w.uniformity = 0, w.zipf = 0.5; });
  add([](workload& w) { w.range_hits = 24, w.uniformity = 0, w.multiplicity = 8, w.stride = 3; });
  add([](workload& w) { w.range_hits = 1003, w.uniformity = 0; });
  add([](workload& w) { w.heavy_key = 50; });
  add([](workload& w) { w.heavy_key = 0.01, w.hit_rate = 20; });
  add([](workload& w) { w.heavy_key = 100, w.multiplicity = 3; });
  add([](workload& w) { w.heavy_key = 50; }, 1, 3);
  add([](workload& w) { w.heavy_key = 50; }, 2, 3);
  add([](workload& w) { w.heavy_key = 30, w.range_hits = 24, w.uniformity = 0; });
  const auto add_uneven = [&add](auto change, std::uint64_t keys = 1003,
                                 std::uint64_t probes = 517) {
    add(
        [change](workload& w) {
          w.uniformity = 0;
          w.probe_order = order::unsorted;
          change(w);
        },
        keys, probes);
  };
  add_uneven([](workload& w) { w.range_hits = 16, w.range_lengths = bench::lengths::zipf; });
  add_uneven([](workload& w) {
    w.range_hits = 24, w.multiplicity = 8, w.stride = 3, w.zipf = 1;
    w.range_lengths = bench::lengths::zipf;
  });
  add_uneven([](workload& w) { w.range_hits = 1000, w.range_lengths = bench::lengths::zipf; });
  add_uneven([](workload& w) { w.range_hits = 1, w.range_lengths = bench::lengths::zipf; }, 1, 1);
  add_uneven([](workload& w) { w.range_hits = 2, w.giant_range = 50; });
  add_uneven([](workload& w) { w.range_hits = 2, w.giant_range = 100, w.heavy_key = 10; });
  add_uneven([](workload& w) { w.range_hits = 1, w.giant_range = 50; }, 1, 1);
  add_uneven([](workload& w) {
    w.range_hits = 8, w.giant_range = 40, w.range_lengths = bench::lengths::zipf, w.zipf = 0.5;
  });
  return all;
}

}  // namespace raydex::test
