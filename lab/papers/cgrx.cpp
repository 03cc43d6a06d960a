// SPDX-License-Identifier: Apache-2.0
// The cgRX paper's figures and table.
#include "lab/papers/papers.hpp"

namespace raydex::bench::papers {
namespace {

const std::string paper = "cgrx mapping=bits order=batch";
// cgRX as figures 10 to 15 have it: table 1 decides for packed entries and binary searches.
const std::string paper_in_buckets = paper + " scene=optimised search=binary parts=1 compact=on";
const std::string paper_packed = paper_in_buckets + " layout=packed";
const texts all_buckets{"bucket=2,4,8,16,32,64,256,1024,4096,16384,65536"};
const texts few_buckets{"bucket=4,16,64,256"};
const texts uniformities{"0", "50", "100"};
// RX as its paper has it, with primitives in the order of rows, and ours.
const texts rx_methods{paper_rx, described_rx, "rx"};
const texts rays = joined(each({paper_packed, "cgrx"}, few_buckets), rx_methods);
const texts methods = joined(rays, baselines);

}  // namespace

std::vector<experiment> cgrx() {
  const texts scenes = each({paper}, {"bucket=4,16,256,65536"});
  const axes keys_and_widths{
      .probes = {"2^24"}, .key_bits = {"32", "64"}, .uniformity = uniformities};
  return {
      {.name = "cgrx/8a",
       .title = "scenes over the bits of keys, without scales",
       .note = "2^24 lookups: rays through sparse rows are slow",
       .trials = {{each(scenes, {"scene=naive,optimised scale=0/0"}), keys_and_widths}}},
      {.name = "cgrx/8b",
       .title = "scenes over the bits of keys, with scales, and places fitted to the keys",
       .note = "2^24 lookups",
       .trials = {{joined(each(scenes, {"scene=naive,optimised"}),
                          texts{"cgrx bucket=4,16,256,65536 order=batch"}),
                   keys_and_widths}}},
      {.name = "cgrx/t1",
       .title = "search in buckets, and their layout (table 1)",
       .trials = {{each({paper + " bucket=4,16,256 search=binary,linear",
                         paper + " bucket=65536 search=binary"},
                        {"layout=column,aligned,packed"}),
                   {.probes = {"2^24"}, .key_bits = {"64"}}}}},
      {.name = "cgrx/10",
       .title = "bucket sizes: build, bytes and points",
       .trials = {{joined(each({paper_packed, "cgrx"}, all_buckets), rx_methods),
                   {.key_bits = {"64"}, .uniformity = uniformities}}}},
      {.name = "cgrx/11",
       .title = "bytes, points, and points per byte",
       .trials = {{methods, {.uniformity = {"0", "20", "60", "100"}}}}},
      {.name = "cgrx/12",
       .title = "ranges by the number of hits",
       .note = "2^20 lookups; scan=single: each thread scans the matches of its own",
       .trials = {{joined(rays, texts{"cgrx bucket=16 scan=single"}, ordered_baselines),
                   {.keys = {"2^23"}, .probes = {"2^20"}, .range_hits = hits_of_ranges},
                   {"sum"}}}},
      {.name = "cgrx/13",
       .title = "the share of hits, misses inside the range of keys or outside",
       .trials = {{methods,
                   {.value_bits = {"31"},
                    .hit_rate = {"100", "90", "50", "10", "0"},
                    .miss = {"inside", "outside"}}}}},
      {.name = "cgrx/14",
       .title = "skewed lookups",
       .trials = {{methods, {.zipf = {"0", "0.25", "0.5", "1", "1.5", "2", "5"}}}}},
      {.name = "cgrx/15",
       .title = "waves of insertions and deletions: edited or built anew",
       .note =
           "edits that are merged into the column, and the paper's lists of nodes, whose keys and "
           "row ids lie apart",
       .trials = {{{paper_packed + " node=off", paper_in_buckets + " node=32", "cgrx node=off,32"},
                   {.key_bits = {"64"}, .waves = {"8"}}}}},
  };
}

}  // namespace raydex::bench::papers
