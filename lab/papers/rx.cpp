// SPDX-License-Identifier: Apache-2.0
// "RTIndeX" and the thesis that goes on from it. `rx` is measured on the backend optix, the
// baselines on cuda: a run names one of them and the structures that it offers.
#include "lab/papers/papers.hpp"

namespace raydex::bench::papers {
namespace {

const texts ours{"rx"};
const texts all_methods = joined({paper_rx, described_rx}, ours, baselines);
const texts range_methods = joined({paper_rx, described_rx}, ours, ordered_baselines);
// The thesis gives its RX and cgRX, with two sizes of buckets, sorted lookups.
const std::string thesis = "rx primitive=triangle parts=16 scale=0/0";
const texts thesis_rays = joined({thesis + " order=batch"}, ours,
                                 texts{"cgrx mapping=bits bucket=32,256 order=batch", "cgrx"});
const texts thesis_methods = joined(thesis_rays, baselines);
const texts thesis_range_methods = joined(thesis_rays, ordered_baselines);
const texts inverses = each({thesis}, {"inverse=off,on,auto"});

const texts orders{"unsorted", "sorted"};
const texts sizes{"2^16", "2^18", "2^20", "2^22", "2^24", "2^26"};
const texts multiplicities{"2^0", "2^2", "2^4", "2^6", "2^8", "2^10"};
const texts probe_counts{"2^13", "2^15", "2^17", "2^19", "2^21", "2^23", "2^25", "2^27"};
const texts skews{"0", "0.5", "1", "1.5", "2"};
const texts thesis_sizes{"2^15", "2^17", "2^19", "2^21", "2^23"};
const texts thesis_probe_counts{"2^17", "2^19", "2^21", "2^23", "2^25"};
// Of dense keys below 2^26.
const texts decompositions = each(
    {paper_rx}, {"bits=23/3/0,20/6/0,16/10/0,13/13/0,10/16/0,6/20/0,3/23/0,23/0/3,13/0/13,3/0/23"});

const char* const dense_note = "dense keys";
const char* const counters_note = "the counters come from a profiler, see docs/results";
// The thesis's points are those of joins; its figures measure the lookups alone.
const char* const join_note = "gather maps are written, and the build is measured with them";
const char* const sorted_note = "lookups come sorted, but the default rx sorts them again";

// The thesis's keys and lookups, but for what is given.
axes in_thesis(const axes& swept) {
  axes all{.keys = {"2^23"}, .probes = {"2^25"}, .probe_order = {"sorted"}};
  replace(all, swept);
  return all;
}

}  // namespace

std::vector<experiment> rx() {
  return {
      {.name = "rx/3a",
       .title = "key modes by the number of keys",
       .note = "up to 2^20 keys and lookups: beyond, extended mode may take minutes",
       .trials = {{each({paper_rx_modes}, {"mode=naive,extended", "mode=3d scale=0/0"}),
                   {.keys = {"2^12", "2^14", "2^16", "2^18", "2^20"},
                    .probes = {"2^20"},
                    .uniformity = {"0"}}}}},
      {.name = "rx/3b",
       .title = "key modes by the stride of keys",
       .note = "2^16 keys",
       .trials = {{each({paper_rx_modes}, {"mode=extended", "mode=3d scale=0/0"}),
                   {.keys = {"2^16"},
                    .probes = {"2^20"},
                    .uniformity = {"0"},
                    .stride = {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512"}}}}},
      {.name = "rx/t3",
       .title = "rays of ranges by the number of hits (table 3)",
       .note = "2^22 keys, a row",
       .trials = {{each({paper_rx}, {"ranges=offset,zero"}),
                   {.keys = {"2^22"}, .probes = {"2^20"}, .range_hits = hits_of_ranges},
                   {"sum"}}}},
      {.name = "rx/t5",
       .title = "points by their number, for active warps and memory bandwidth (table 5)",
       .note = counters_note,
       .trials = {{{paper_rx}, {.probes = probe_counts}}}},
      {.name = "rx/t7",
       .title = "skewed lookups, for cache hits, bytes read and instructions (table 7)",
       .note = counters_note,
       .trials = {{joined({paper_rx}, baselines), {.zipf = skews}}}},
      {.name = "rx/7",
       .title = "primitives: lookups, build and bytes (figure 7)",
       .trials = {{each({"rx parts=1 hits=any duplicates=keep order=batch scale=0/0"},
                        {"primitive=triangle,sphere,box compact=on,off"})}}},
      {.name = "rx/8",
       .title = "decompositions of the key, points",
       .note = dense_note,
       .trials = {{decompositions, {.probes = {"2^24"}, .uniformity = {"0"}}}}},
      {.name = "rx/9",
       .title = "decompositions of the key, ranges",
       .note = "lookups that span more than 16 rows are searched",
       .trials = {{decompositions, {.probes = {"2^20"}, .range_hits = {"2^6"}}, {"sum"}}}},
      {.name = "rx/10a",
       .title = "points by their number",
       .trials = {{all_methods, {.probes = probe_counts}}}},
      {.name = "rx/10b",
       .title = "points by the number of keys",
       .trials = {{all_methods, {.keys = sizes}}}},
      {.name = "rx/10c",
       .title = "build time and bytes by the number of keys, sorted or not (with table 6)",
       .trials = {{all_methods, {.keys = sizes, .insert_order = orders}}}},
      {.name = "rx/11",
       .title = "points by the multiplicity of keys",
       .note = "2^20 lookups",
       .trials = {{all_methods, {.probes = {"2^20"}, .multiplicity = multiplicities}, {"sum"}}}},
      {.name = "rx/12",
       .title = "the order of keys and lookups",
       .trials = {{all_methods, {.insert_order = orders, .probe_order = orders}}}},
      {.name = "rx/13",
       .title = "lookups in batches",
       .trials = {{all_methods,
                   {.batches = {"2^0", "2^2", "2^4", "2^6", "2^8", "2^10"},
                    .probe_order = orders}}}},
      {.name = "rx/14",
       .title = "the share of hits",
       .trials = {{all_methods,
                   {.probe_order = orders,
                    .hit_rate = {"100", "90", "70", "50", "30", "10", "0"}}}}},
      {.name = "rx/15",
       .title = "keys of 32 and 64 bits",
       .trials = {{all_methods, {.key_bits = {"32", "64"}}}}},
      {.name = "rx/16",
       .title = "skewed lookups",
       .trials = {{all_methods, {.probe_order = orders, .zipf = skews}}}},
      {.name = "rx/17",
       .title = "ranges by the number of hits",
       .note = "2^20 lookups",
       .trials = {{range_methods, {.probes = {"2^20"}, .range_hits = hits_of_ranges}, {"sum"}}}},
      {.name = "rx/18",
       .title = "unsorted and sorted lookups, to be made on several cards",
       .trials = {{all_methods, {.probe_order = orders}}}},
      {.name = "thesis/5.5",
       .title = "ranges: all hits, or the first and a scan",
       .trials = {{each({"rx primitive=triangle parts=1 order=batch scale=0/0"},
                        {"hits=any,closest"}),
                   {.probes = {"2^20"}, .range_hits = hits_of_ranges},
                   {"sum"}}}},
      {.name = "thesis/5.6",
       .title = "equal keys: all hits, the first and a scan, or one primitive (with 5.10 and 5.11)",
       .trials = {{each({"rx primitive=triangle parts=1 order=batch scale=0/0"},
                        {"duplicates=keep hits=any,closest", "duplicates=compress hits=closest"}),
                   {.probes = {"2^20"}, .multiplicity = multiplicities},
                   {"sum"}}}},
      {.name = "thesis/5.7",
       .title = "parts of the scene: lookups, build and bytes (with 5.8 and 5.9)",
       .trials = {{each({"rx primitive=triangle order=batch,sorted scale=0/0"},
                        {"parts=1,4,16,64,256"})}}},
      {.name = "thesis/5.12",
       .title = "lookups sorted first, points",
       .trials = {{each({"rx"}, {"order=batch,tiles,sorted"}), {.probes = probe_counts}}}},
      {.name = "thesis/5.13",
       .title = "lookups sorted first, ranges",
       .trials = {{each({"rx"}, {"order=batch,tiles,sorted"}),
                   {.probes = {"2^13", "2^15", "2^17", "2^19", "2^21", "2^23"},
                    .range_hits = {"2^4"}},
                   {"sum"}}}},
      {.name = "thesis/5.14",
       .title = "the scene over the keys, or over the lookups while keys are traced",
       .trials = {{inverses, {.keys = {"2^21"}, .probes = {"2^23"}}},
                  {inverses, {.keys = {"2^23"}, .probes = {"2^21"}}}}},
      {.name = "thesis/5.15",
       .title = "lookups sorted first or not, by the number of keys",
       .note = "the default rx sorts its lookups itself, in either case",
       .trials = {{thesis_methods, in_thesis({.keys = thesis_sizes, .probe_order = orders})}}},
      {.name = "thesis/5.16",
       .title = "keys sorted first or not: lookups, build and bytes (with 5.17 and 5.18)",
       .note = sorted_note,
       .trials = {{thesis_methods, in_thesis({.keys = thesis_sizes, .insert_order = orders})}}},
      {.name = "thesis/5.19",
       .title = "points by their number",
       .note = sorted_note,
       .trials = {{thesis_methods, in_thesis({.probes = thesis_probe_counts})}}},
      {.name = "thesis/5.20",
       .title = "points by the multiplicity of keys",
       .note = sorted_note,
       .trials = {{thesis_methods, in_thesis({.multiplicity = multiplicities}), {"sum"}}}},
      {.name = "thesis/5.21",
       .title = "points by the uniformity of keys",
       .note = sorted_note,
       .trials = {{thesis_methods, in_thesis({.uniformity = {"0", "1", "5", "20", "60", "100"}})}}},
      {.name = "thesis/5.22",
       .title = "the share of hits, misses inside the range of keys or outside",
       .note = sorted_note,
       .trials = {{thesis_methods, in_thesis({.value_bits = {"31"},
                                              .hit_rate = {"100", "90", "50", "10", "0"},
                                              .miss = {"inside", "outside"}})}}},
      {.name = "thesis/5.23",
       .title = "skewed lookups",
       .note = sorted_note,
       .trials = {{thesis_methods, in_thesis({.zipf = {"0", "0.75", "1", "1.5", "2", "5"}})}}},
      {.name = "thesis/5.24",
       .title = "ranges by their number",
       .note = sorted_note,
       .trials = {{thesis_range_methods,
                   in_thesis({.probes = thesis_probe_counts, .range_hits = {"2^10"}}),
                   {"sum"}}}},
      {.name = "thesis/5.25",
       .title = "ranges by the number of hits",
       .note = sorted_note,
       .trials = {{thesis_range_methods, in_thesis({.range_hits = hits_of_ranges}), {"sum"}}}},
      {.name = "thesis/join-14",
       .title = "joins: the scene over either table (with 5.14)",
       .note = join_note,
       .trials = {{inverses, {.keys = {"2^21"}, .probes = {"2^23"}}, {"pairs"}},
                  {inverses, {.keys = {"2^23"}, .probes = {"2^21"}}, {"pairs"}}}},
      {.name = "thesis/join-15",
       .title = "joins by the size of the build side (with 5.15)",
       .note = join_note,
       .trials = {{thesis_methods, in_thesis({.keys = thesis_sizes}), {"pairs"}}}},
      {.name = "thesis/join-19",
       .title = "joins by the number of probes (with 5.19)",
       .note = join_note,
       .trials = {{thesis_methods, in_thesis({.probes = thesis_probe_counts}), {"pairs"}}}},
      {.name = "thesis/join-20",
       .title = "joins by the multiplicity of keys (with 5.20)",
       .note = "2^20 lookups; " + std::string(join_note),
       .trials = {{thesis_methods,
                   in_thesis({.probes = {"2^20"}, .multiplicity = multiplicities}),
                   {"pairs"}}}},
      {.name = "thesis/join-22",
       .title = "joins by the share of hits (with 5.22)",
       .note = join_note,
       .trials = {{thesis_methods,
                   in_thesis({.value_bits = {"31"}, .hit_rate = {"100", "90", "50", "10", "0"}}),
                   {"pairs"}}}},
      {.name = "thesis/join-23",
       .title = "joins of skewed lookups (with 5.23)",
       .note = join_note,
       .trials = {{thesis_methods,
                   in_thesis({.zipf = {"0", "0.75", "1", "1.5", "2", "5"}}),
                   {"pairs"}}}},
  };
}

}  // namespace raydex::bench::papers
