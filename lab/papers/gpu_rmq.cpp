// SPDX-License-Identifier: Apache-2.0
// "GPU-RMQ": its figures. GPU-RMQ (VL) is rmq_hierarchy load=vector, (CL) load=coalesced, LCA is
// rmq_lca, RTXRMQ rmq_rx and Full GPU Scan rmq_scan; rmq_cover is our own beyond the paper. On the
// backend optix are those that trace rays, the others on cuda: a run names one of them and the
// structures that it offers.
#include "lab/papers/papers.hpp"

namespace raydex::bench::papers {
namespace {

const texts sizes{"2^20", "2^22", "2^24", "2^26", "2^28", "2^30"};
const texts tree_sizes{"2^20", "2^22", "2^24", "2^26", "2^28"};  // beyond, too large
const texts ray_sizes{"2^20", "2^22", "2^24"};                   // a triangle for each value

const texts hierarchies{"rmq_hierarchy load=vector",
                        "rmq_hierarchy load=coalesced chunk=32 group=16"};
const texts trees{"rmq_lca"};
const texts rays{"rmq_rx"};
const texts scans{"rmq_scan"};
const texts ours{"rmq_cover memory=fast,small"};

axes swept(const texts& keys, const texts& ranges) {
  return {.keys = keys, .ranges = ranges};
}

// All structures, each up to the size that it takes.
std::vector<trial> all_structures(const texts& ranges) {
  return {{hierarchies, swept(sizes, ranges)},
          {ours, swept(sizes, ranges)},
          {trees, swept(tree_sizes, ranges)},
          {rays, swept(ray_sizes, ranges)}};
}

}  // namespace

std::vector<experiment> gpu_rmq() {
  std::vector<trial> by_size = all_structures({"small"});
  by_size.push_back({scans, swept(sizes, {"small"})});
  std::vector<trial> by_range = all_structures({"large", "medium", "small"});
  by_range.push_back(by_size.back());
  by_range.push_back({scans, swept({"2^20", "2^22"}, {"medium"})});
  return {
      {.name = "gpu-rmq/1",
       .title = "bytes, build and mixed ranges by the number of values",
       .trials = all_structures({"mixed"})},
      {.name = "gpu-rmq/12",
       .title = "chunk and group sizes of the hierarchy by the number of values",
       .trials = {{{"rmq_hierarchy load=vector chunk=4,8,16,32,64",
                    "rmq_hierarchy load=coalesced chunk=8 group=2,4,8",
                    "rmq_hierarchy load=coalesced chunk=16 group=4,8,16",
                    "rmq_hierarchy load=coalesced chunk=32 group=4,8,16,32",
                    "rmq_hierarchy load=coalesced chunk=64 group=8,16,32"},
                   swept(sizes, {"mixed"})}}},
      {.name = "gpu-rmq/13",
       .title = "the hierarchy by CUDA, its top level scanned or traced by OptiX, and rays alone",
       .note = "on optix its top level is traced; on other backends it is scanned",
       .trials = {{{"rmq_hierarchy assign=multi",
                    "rmq_hierarchy load=coalesced chunk=32 group=16 assign=queue"},
                   swept(tree_sizes, {"mixed"})},
                  {rays, swept(ray_sizes, {"mixed"})}}},
      {.name = "gpu-rmq/14",
       .title = "ranges assigned by loading them several times, or by queues of warps",
       .trials = {{{"rmq_hierarchy load=coalesced chunk=32 group=16 assign=multi,queue"},
                   swept(sizes, {"mixed"})}}},
      {.name = "gpu-rmq/15",
       .title = "bytes by the number of values",
       .note = "the measurements of figure 16, small ranges",
       .trials = by_size},
      {.name = "gpu-rmq/16",
       .title = "large, medium and small ranges by the number of values",
       .note = "the scan where it takes less than seconds",
       .trials = by_range},
      {.name = "gpu-rmq/17",
       .title = "build time by the number of values",
       .note = "the measurements of figure 16, small ranges",
       .trials = all_structures({"small"})},
      {.name = "gpu-rmq/18",
       .title = "mixed ranges by the number of values, to be made on several cards",
       .trials = all_structures({"mixed"})},
      {.name = "gpu-rmq/5.2",
       .title = "blocks of RTXRMQ by the number of values",
       .note = "section 5.2 tries a large number and shows no figure of them",
       .trials = {{{"rmq_rx block=32,64,128,256,512,1024,2048,4096"},
                   swept(ray_sizes, {"mixed"})}}},
      {.name = "gpu-rmq/5.3",
       .title = "where the levels of the hierarchy end, by the number of values",
       .note = "section 5.3 tries cut-offs and shows no figure of them",
       .trials = {{{"rmq_hierarchy load=vector cutoff=64,256,1024,4096,16384",
                    "rmq_hierarchy load=coalesced chunk=32 group=16 cutoff=64,256,1024,4096,16384"},
                   swept({"2^20", "2^24", "2^28"}, {"mixed"})}}},
  };
}

}  // namespace raydex::bench::papers
