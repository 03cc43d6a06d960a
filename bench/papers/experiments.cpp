// SPDX-License-Identifier: Apache-2.0
// The table of experiments, and the way from it to measurements.
#include "bench/papers/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "bench/minima/rmq_sweep.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

using texts = std::vector<std::string>;

texts each(texts all) {
  return all;
}

// Every combination of one text out of each list, joined by spaces.
template <class... More>
texts each(const texts& first, const texts& second, const More&... more) {
  texts pairs;
  for (const std::string& a : first) {
    for (const std::string& b : second)
      pairs.push_back(fmt::format("{} {}", a, b));
  }
  return each(std::move(pairs), more...);
}

template <class... Lists>
texts joined(texts all, const Lists&... lists) {
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

// "Is Binary Search Really All You Need? Supercharging Lightweight Database Indexing on GPUs". Its
// words for the structures: AO+BS is sorted_array, EO+BS is eytzinger k=2, EO+KS is eytzinger with
// a larger k, AO+PB+BS and AO+PB+KS are pivot_tree search=groups, likewise. SoA is layout=column,
// AoS layout=row. Plain `pivot_tree` is our own search beyond the paper. Baselines that are not
// here yet belong into `references`.
namespace lightweight {

const texts references{"sorted_array"};

// Threads per block and lookups per thread, 1024 or 2048 lookups per block.
const texts blocks{"threads=1024 lookups=1", "threads=512 lookups=2",  "threads=256 lookups=4",
                   "threads=128 lookups=8",  "threads=1024 lookups=2", "threads=512 lookups=4",
                   "threads=256 lookups=8",  "threads=128 lookups=16"};

const texts tunings{"pin=none reorder=none",   "pin=steps reorder=none",  "pin=full reorder=none",
                    "pin=none reorder=single", "pin=none reorder=double", "pin=full reorder=single",
                    "pin=full reorder=double"};
const texts few_tunings{"pin=none reorder=none", "pin=steps reorder=none", "pin=full reorder=none",
                        "pin=none reorder=double", "pin=full reorder=double"};
const char* const few_tunings_note =
    "pin and reorder: five of the nine combinations, none with reorder=single";
const char* const tunings_note =
    "pin and reorder: seven of the nine combinations, pin=steps only by itself";

const texts k_searches{"k=3,5,9,17,33 layout=row,column group=exact",
                       "k=8,16 layout=row,column group=exact,power"};

// What section 5 finds best for points. The pivot tree leaves 16 keys to the sorted array at 2^28.
const texts tuned = joined(
    {"sorted_array layout=column schedule=static threads=128 lookups=16 pin=full reorder=double"},
    each({"eytzinger k=2 layout=column", "pivot_tree search=groups k=2 levels=24 layout=row"},
         {"schedule=dynamic threads=128 lookups=16 pin=none reorder=double"}),
    each({"eytzinger k=9 layout=row", "pivot_tree search=groups k=9 layout=row"},
         {"schedule=dynamic threads=1024 lookups=1 pin=none reorder=none"}));

// And for ranges.
const texts tuned_for_ranges{"sorted_array layout=row scan=multi",
                             "eytzinger k=2 layout=row scan=multi",
                             "pivot_tree search=groups k=2 levels=24 layout=row scan=multi",
                             "eytzinger k=9 layout=row", "pivot_tree search=groups k=9 layout=row"};

const texts ours{"pivot_tree"};

const texts sizes{"2^16", "2^18", "2^20", "2^22", "2^24", "2^26", "2^28"};
const axes points{.keys = {"2^28"}, .probes = {"2^27"}};
const axes scaled_points{.keys = sizes, .probes = {"2^27"}};

std::vector<experiment> all() {
  return {
      {.name = "lightweight/1a",
       .title = "lookups by the number of keys",
       .trials = {{.candidates = references, .workloads = scaled_points}}},
      {.name = "lightweight/1b",
       .title = "unsorted and sorted lookups",
       .trials = {{.candidates = references,
                   .workloads = {.keys = {"2^28"},
                                 .probes = {"2^27"},
                                 .probe_order = {"unsorted", "sorted"}}}}},
      {.name = "lightweight/14a",
       .title = "AO+BS, static schedule: threads, lookups per thread, pinning, reordering",
       .note = tunings_note,
       .trials = {{.candidates = joined(references, each({"sorted_array layout=column "
                                                          "schedule=static"},
                                                         blocks, tunings)),
                   .workloads = points}}},
      {.name = "lightweight/14b",
       .title = "AO+BS, dynamic schedule: threads, lookups per thread, pinning, reordering",
       .note = tunings_note,
       .trials = {{.candidates = joined(references, each({"sorted_array layout=column "
                                                          "schedule=dynamic"},
                                                         blocks, tunings)),
                   .workloads = points}}},
      {.name = "lightweight/14c",
       .title = "AO+BS: schedule and layout, 128 threads of 16 lookups",
       .note = tunings_note,
       .trials = {{.candidates = joined(
                       references,
                       each({"sorted_array layout=column,row schedule=static,dynamic threads=128 "
                             "lookups=16"},
                            tunings)),
                   .workloads = points}}},
      {.name = "lightweight/15",
       .title = "EO+BS: threads, lookups per thread, pinning, reordering",
       .note = tunings_note,
       .trials = {{.candidates = joined(references, each({"eytzinger k=2 layout=column "
                                                          "schedule=dynamic"},
                                                         blocks, tunings)),
                   .workloads = points}}},
      {.name = "lightweight/16",
       .title = "AO+PB+BS: levels of pivots, layout, pinning, reordering",
       .note = few_tunings_note,
       .trials = {{.candidates = joined(
                       references,
                       each({"pivot_tree search=groups k=2 levels=10,20,24,all layout=row,column "
                             "schedule=dynamic threads=128 lookups=16"},
                            few_tunings)),
                   .workloads = points}}},
      {.name = "lightweight/17a",
       .title = "EO+KS, K = 9: threads, lookups per thread, pinning, reordering",
       .note = few_tunings_note,
       .trials = {{.candidates = joined(references, each({"eytzinger k=9 layout=row "
                                                          "schedule=dynamic"},
                                                         blocks, few_tunings)),
                   .workloads = points}}},
      {.name = "lightweight/17b",
       .title = "EO+KS: K, layout, threads per lookup",
       .note = "group=power beyond the paper, where K - 1 is no power of two",
       .trials = {{.candidates = joined(references, each({"eytzinger schedule=dynamic threads=1024 "
                                                          "lookups=1 pin=none reorder=none"},
                                                         k_searches)),
                   .workloads = points}}},
      {.name = "lightweight/18a",
       .title = "AO+PB+KS, K = 9: threads, lookups per thread, pinning, reordering",
       .note = few_tunings_note,
       .trials = {{.candidates = joined(references, each({"pivot_tree search=groups k=9 layout=row "
                                                          "schedule=dynamic"},
                                                         blocks, few_tunings)),
                   .workloads = points}}},
      {.name = "lightweight/18b",
       .title = "AO+PB+KS: K, layout, threads per lookup, pinning",
       .note = "group=power beyond the paper, where K - 1 is no power of two",
       .trials = {{.candidates = joined(references, each({"pivot_tree search=groups "
                                                          "schedule=dynamic threads=1024 lookups=1 "
                                                          "pin=none,full reorder=none"},
                                                         k_searches)),
                   .workloads = points}}},
      {.name = "lightweight/19",
       .title = "ranges: scans by one thread or several, layout",
       .trials =
           {{.candidates = joined(
                 each({"sorted_array", "eytzinger k=2", "pivot_tree search=groups k=2 levels=24"},
                      {"layout=column,row scan=single,multi"}),
                 each({"eytzinger k=9", "pivot_tree search=groups k=9"},
                      {"layout=column,row scan=multi"})),
             .workloads = {.keys = {"2^28"}, .probes = {"2^16"}, .range_hits = {"2^6", "2^14"}},
             .results = {"sum"}}}},
      {.name = "lightweight/20",
       .title = "points by the number of keys: rate, and rate per byte",
       .note = "figures 20a and 20b; every second power of two",
       .trials = {{.candidates = joined(references, tuned, ours), .workloads = scaled_points}}},
      {.name = "lightweight/21",
       .title = "build time and bytes by the number of keys",
       .note = "the measurements of figure 20",
       .trials = {{.candidates = joined(references, tuned, ours), .workloads = scaled_points}}},
      {.name = "lightweight/22",
       .title = "ranges by the number of hits and of keys",
       .note = "three numbers of keys, six of hits",
       .trials = {{.candidates = joined(tuned_for_ranges, ours),
                   .workloads = {.keys = {"2^20", "2^24", "2^28"},
                                 .probes = {"2^16"},
                                 .range_hits = {"2^0", "2^2", "2^4", "2^6", "2^10", "2^14"}},
                   .results = {"sum"}}}},
  };
}

}  // namespace lightweight

// "RTIndeX" and the thesis that goes on from it. `rx` is measured on the backend optix, the
// baselines on cuda: a run names one of them and the structures that it offers. The paper's RX
// looks at all hits of a ray, keeps equal keys apart, and traces probes as they come.
namespace rx {

const std::string paper_modes =
    "rx primitive=triangle parts=1 hits=any duplicates=keep order=batch";
const std::string paper = paper_modes + " scale=0/0";
const texts ours{"rx"};
const texts baselines{"sorted_array", "pivot_tree"};
const texts all_methods = joined({paper}, ours, baselines);
// The thesis's RX is given sorted lookups.
const std::string thesis = "rx primitive=triangle parts=16 top=instances scale=0/0";
const texts thesis_methods = joined({thesis + " order=batch"}, ours, baselines);
const texts inverses = each({thesis}, {"inverse=off,on,auto"});

const texts sizes{"2^16", "2^18", "2^20", "2^22", "2^24", "2^26"};
const texts hits{"2^0", "2^2", "2^4", "2^6", "2^8", "2^10"};
const texts multiplicities{"2^0", "2^2", "2^4", "2^6", "2^8", "2^10"};
const texts probe_counts{"2^13", "2^15", "2^17", "2^19", "2^21", "2^23", "2^25", "2^27"};
const texts skews{"0", "0.5", "1", "1.5", "2"};
const texts thesis_sizes{"2^15", "2^17", "2^19", "2^21", "2^23"};
const texts thesis_probe_counts{"2^17", "2^19", "2^21", "2^23", "2^25"};
// Of dense keys below 2^26.
const texts decompositions = each(
    {paper}, {"bits=23/3/0,20/6/0,16/10/0,13/13/0,10/16/0,6/20/0,3/23/0,23/0/3,13/0/13,3/0/23"});

const char* const dense_note = "dense keys";
const char* const counters_note = "the counters come from a profiler, see docs/results";
const char* const sorted_note = "lookups come sorted, but the default rx sorts them again";

// The thesis's keys and lookups, but for what is given.
axes in_thesis(const axes& given) {
  axes all{.keys = {"2^23"}, .probes = {"2^25"}, .probe_order = {"sorted"}};
  replace(all, given);
  return all;
}

std::vector<experiment> all() {
  return {
      {.name = "rx/3a",
       .title = "key modes by the number of keys",
       .note = "up to 2^20 keys and lookups: beyond, extended mode may take minutes",
       .trials = {{.candidates = each({paper_modes}, {"mode=naive,extended", "mode=3d scale=0/0"}),
                   .workloads = {.keys = {"2^12", "2^14", "2^16", "2^18", "2^20"},
                                 .probes = {"2^20"},
                                 .uniformity = {"0"}}}}},
      {.name = "rx/3b",
       .title = "key modes by the stride of keys",
       .note = "2^16 keys",
       .trials = {{.candidates = each({paper_modes}, {"mode=extended", "mode=3d scale=0/0"}),
                   .workloads = {.keys = {"2^16"},
                                 .probes = {"2^20"},
                                 .uniformity = {"0"},
                                 .stride = {"1", "2", "4", "8", "16", "32", "64", "128", "256",
                                            "512"}}}}},
      {.name = "rx/6",
       .title = "rays of points by the number of keys",
       .note = "rays from zero meet most boxes of their row: fewer lookups",
       .trials = {{.candidates = each({paper}, {"points=perpendicular,offset,zero"}),
                   .workloads = {.keys = {"2^16", "2^18", "2^20", "2^22"},
                                 .probes = {"2^20"},
                                 .uniformity = {"0"}}}}},
      {.name = "rx/t3",
       .title = "rays of ranges by the number of hits (table 3)",
       .note = "2^22 keys, a row",
       .trials = {{.candidates = each({paper}, {"ranges=offset,zero"}),
                   .workloads = {.keys = {"2^22"}, .probes = {"2^20"}, .range_hits = hits},
                   .results = {"sum"}}}},
      {.name = "rx/t4",
       .title = "updates: refit or rebuilt (table 4)",
       .note = "all keys replaced: the paper swaps positions or neighbours, which move nothing in "
               "a scene in key order",
       .trials = {{.candidates = each({paper, "rx"}, {"update=rebuild,refit"}),
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .updated_from = {"uniform", "skewed"}}}}},
      {.name = "rx/t5",
       .title = "points by their number, for active warps and memory bandwidth (table 5)",
       .note = counters_note,
       .trials = {{.candidates = {paper},
                   .workloads = {.keys = {"2^26"}, .probes = probe_counts}}}},
      {.name = "rx/t7",
       .title = "skewed lookups, for cache hits, bytes read and instructions (table 7)",
       .note = counters_note,
       .trials = {{.candidates = joined({paper}, baselines),
                   .workloads = {.keys = {"2^26"}, .probes = {"2^27"}, .zipf = skews}}}},
      {.name = "rx/7",
       .title = "primitives: lookups, build and bytes (figure 7)",
       .trials = {{.candidates = each({"rx parts=1 hits=any duplicates=keep order=batch scale=0/0"},
                                      {"primitive=triangle,sphere,box compact=on,off"}),
                   .workloads = {.keys = {"2^26"}, .probes = {"2^27"}}}}},
      {.name = "rx/8",
       .title = "decompositions of the key, points",
       .note = dense_note,
       .trials = {{.candidates = decompositions,
                   .workloads = {.keys = {"2^26"}, .probes = {"2^24"}, .uniformity = {"0"}}}}},
      {.name = "rx/9",
       .title = "decompositions of the key, ranges",
       .note = "lookups that span more than 16 rows are searched",
       .trials = {{.candidates = decompositions,
                   .workloads = {.keys = {"2^26"}, .probes = {"2^20"}, .range_hits = {"2^6"}},
                   .results = {"sum"}}}},
      {.name = "rx/10a",
       .title = "points by their number",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"}, .probes = probe_counts}}}},
      {.name = "rx/10b",
       .title = "points by the number of keys",
       .trials = {{.candidates = all_methods, .workloads = {.keys = sizes, .probes = {"2^27"}}}}},
      {.name = "rx/10c",
       .title = "build time and bytes by the number of keys (with table 6)",
       .note = "the measurements of figure 10b",
       .trials = {{.candidates = all_methods, .workloads = {.keys = sizes, .probes = {"2^27"}}}}},
      {.name = "rx/11",
       .title = "points by the multiplicity of keys",
       .note = "2^20 lookups",
       .trials =
           {{.candidates = all_methods,
             .workloads = {.keys = {"2^26"}, .probes = {"2^20"}, .multiplicity = multiplicities},
             .results = {"sum"}}}},
      {.name = "rx/12",
       .title = "the order of keys and lookups",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .insert_order = {"unsorted", "sorted"},
                                 .probe_order = {"unsorted", "sorted"}}}}},
      {.name = "rx/13",
       .title = "lookups in batches",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .batches = {"2^0", "2^2", "2^4", "2^6", "2^8", "2^10"}}}}},
      {.name = "rx/14",
       .title = "the share of hits",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .hit_rate = {"100", "90", "70", "50", "30", "10", "0"}}}}},
      {.name = "rx/15",
       .title = "keys of 32 and 64 bits",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"}, .probes = {"2^27"}, .key_bits = {"32", "64"}}}}},
      {.name = "rx/16",
       .title = "skewed lookups",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"}, .probes = {"2^27"}, .zipf = skews}}}},
      {.name = "rx/17",
       .title = "ranges by the number of hits",
       .note = "2^20 lookups",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"}, .probes = {"2^20"}, .range_hits = hits},
                   .results = {"sum"}}}},
      {.name = "rx/18",
       .title = "unsorted and sorted lookups, to be made on several cards",
       .trials = {{.candidates = all_methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .probe_order = {"unsorted", "sorted"}}}}},
      {.name = "thesis/5.5",
       .title = "ranges: all hits, or the first and a scan",
       .trials = {{.candidates = each({"rx primitive=triangle parts=1 order=batch scale=0/0"},
                                      {"hits=any,closest"}),
                   .workloads = {.keys = {"2^26"}, .probes = {"2^20"}, .range_hits = hits},
                   .results = {"sum"}}}},
      {.name = "thesis/5.6",
       .title = "equal keys: all hits, the first and a scan, or one primitive (with 5.10 and 5.11)",
       .trials =
           {{.candidates =
                 each({"rx primitive=triangle parts=1 order=batch scale=0/0"},
                      {"duplicates=keep hits=any,closest", "duplicates=compress hits=closest"}),
             .workloads = {.keys = {"2^26"}, .probes = {"2^20"}, .multiplicity = multiplicities},
             .results = {"sum"}}}},
      {.name = "thesis/5.7",
       .title = "parts of the scene: lookups, build and bytes (with 5.8 and 5.9)",
       .trials = {{.candidates =
                       each({"rx primitive=triangle top=instances order=batch scale=0/0",
                             "rx primitive=triangle top=table order=batch,sorted scale=0/0"},
                            {"parts=1,4,16,64,256"}),
                   .workloads = {.keys = {"2^26"}, .probes = {"2^27"}}}}},
      {.name = "thesis/5.12",
       .title = "lookups sorted first, points",
       .trials = {{.candidates = each({"rx"}, {"order=batch,tiles,sorted"}),
                   .workloads = {.keys = {"2^26"}, .probes = probe_counts}}}},
      {.name = "thesis/5.13",
       .title = "lookups sorted first, ranges",
       .trials = {{.candidates = each({"rx"}, {"order=batch,tiles,sorted"}),
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^13", "2^15", "2^17", "2^19", "2^21", "2^23"},
                                 .range_hits = {"2^4"}},
                   .results = {"sum"}}}},
      {.name = "thesis/5.14",
       .title = "the scene over the keys, or over the lookups while keys are traced",
       .trials = {{.candidates = inverses, .workloads = {.keys = {"2^21"}, .probes = {"2^23"}}},
                  {.candidates = inverses, .workloads = {.keys = {"2^23"}, .probes = {"2^21"}}}}},
      {.name = "thesis/5.15",
       .title = "lookups sorted first or not, by the number of keys",
       .note = "the default rx sorts its lookups itself, in either case",
       .trials = {{.candidates = thesis_methods,
                   .workloads =
                       in_thesis({.keys = thesis_sizes, .probe_order = {"unsorted", "sorted"}})}}},
      {.name = "thesis/5.16",
       .title = "keys sorted first or not: lookups, build and bytes (with 5.17 and 5.18)",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads =
                       in_thesis({.keys = thesis_sizes, .insert_order = {"unsorted", "sorted"}})}}},
      {.name = "thesis/5.19",
       .title = "points by their number",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.probes = thesis_probe_counts})}}},
      {.name = "thesis/5.20",
       .title = "points by the multiplicity of keys",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.multiplicity = multiplicities}),
                   .results = {"sum"}}}},
      {.name = "thesis/5.21",
       .title = "points by the uniformity of keys",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.uniformity = {"0", "1", "5", "20", "60", "100"}})}}},
      {.name = "thesis/5.22",
       .title = "the share of hits, misses inside the range of keys or outside",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.value_bits = {"31"},
                                           .hit_rate = {"100", "90", "50", "10", "0"},
                                           .miss = {"inside", "outside"}})}}},
      {.name = "thesis/5.23",
       .title = "skewed lookups",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.zipf = {"0", "0.75", "1", "1.5", "2", "5"}})}}},
      {.name = "thesis/5.24",
       .title = "ranges by their number",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.probes = thesis_probe_counts, .range_hits = {"2^10"}}),
                   .results = {"sum"}}}},
      {.name = "thesis/5.25",
       .title = "ranges by the number of hits",
       .note = sorted_note,
       .trials = {{.candidates = thesis_methods,
                   .workloads = in_thesis({.range_hits = hits}),
                   .results = {"sum"}}}},
  };
}

}  // namespace rx

// The cgRX paper's figures and table.
namespace cgrx {

const std::string paper = "cgrx mapping=bits order=batch";
const texts uniformities{"0", "50", "100"};
const texts methods = joined({"cgrx bucket=4,16,64,256", rx::paper}, rx::baselines);

std::vector<experiment> all() {
  const texts scenes = each({paper}, {"bucket=4,16,256,65536"});
  const axes keys_and_widths{
      .keys = {"2^26"}, .probes = {"2^24"}, .key_bits = {"32", "64"}, .uniformity = uniformities};
  return {
      {.name = "cgrx/8a",
       .title = "scenes over the bits of keys, without scales",
       .note = "2^24 lookups: rays through sparse rows are slow",
       .trials = {{.candidates = each(scenes, {"scene=naive,optimised scale=0/0"}),
                   .workloads = keys_and_widths}}},
      {.name = "cgrx/8b",
       .title = "scenes over the bits of keys, with scales, and places fitted to the keys",
       .note = "2^24 lookups",
       .trials = {{.candidates = joined(each(scenes, {"scene=naive,optimised"}),
                                        texts{"cgrx bucket=4,16,256,65536 order=batch"}),
                   .workloads = keys_and_widths}}},
      {.name = "cgrx/t1",
       .title = "search in buckets, and their layout (table 1)",
       .trials = {{.candidates = each({paper + " bucket=4,16,256 search=binary,linear",
                                       paper + " bucket=65536 search=binary"},
                                      {"layout=column,aligned,packed"}),
                   .workloads = {.keys = {"2^26"}, .probes = {"2^24"}, .key_bits = {"64"}}}}},
      {.name = "cgrx/10",
       .title = "bucket sizes: build, bytes and points",
       .trials = {{.candidates = {"cgrx bucket=2,4,8,16,32,64,256,1024,4096,16384,65536"},
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .key_bits = {"64"},
                                 .uniformity = uniformities}}}},
      {.name = "cgrx/11",
       .title = "bytes, points, and points per byte",
       .trials = {{.candidates = methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .uniformity = {"0", "20", "60", "100"}}}}},
      {.name = "cgrx/12",
       .title = "ranges by the number of hits",
       .note = "2^20 lookups; scan=single: each thread scans the matches of its own",
       .trials = {{.candidates = joined(methods, texts{"cgrx bucket=16 scan=single"}),
                   .workloads = {.keys = {"2^23"}, .probes = {"2^20"}, .range_hits = rx::hits},
                   .results = {"sum"}}}},
      {.name = "cgrx/13",
       .title = "the share of hits, misses inside the range of keys or outside",
       .trials = {{.candidates = methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .value_bits = {"31"},
                                 .hit_rate = {"100", "90", "50", "10", "0"},
                                 .miss = {"inside", "outside"}}}}},
      {.name = "cgrx/14",
       .title = "skewed lookups",
       .trials = {{.candidates = methods,
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .zipf = {"0", "0.25", "0.5", "1", "1.5", "2", "5"}}}}},
      {.name = "cgrx/15",
       .title = "waves of insertions and deletions: edited or built anew",
       .note = "edits that are merged into the column, and the paper's lists of nodes",
       .trials = {{.candidates = {"cgrx node=off,32"},
                   .workloads = {.keys = {"2^26"},
                                 .probes = {"2^27"},
                                 .key_bits = {"64"},
                                 .waves = {"8"}}}}},
  };
}

}  // namespace cgrx

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool matches(std::string_view wanted, std::string_view name) {
  return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1))
                               : name == wanted;
}

// The entry of a list that `same` holds for, made if there is none.
template <class Entry, class Same>
Entry& find_or_add(std::vector<Entry>& all, Entry entry, const Same& same) {
  const auto found = std::ranges::find_if(all, same);
  return found != all.end() ? *found : all.emplace_back(std::move(entry));
}

bool is_of_minima(const candidate& who) {
  return who.structure.starts_with("rmq_");
}

bool is_of_keys(const candidate& who) {
  return !is_of_minima(who);
}

// The measurements on those candidates that `is_wanted` holds for.
template <class Scene, class Wanted, class Sweep, class Parse>
std::vector<Scene> make_plan(const std::vector<experiment>& chosen, const Wanted& is_wanted,
                             const Sweep& sweep_axes, const char* usual, const Parse& parse) {
  std::vector<Scene> scenes;
  for (const experiment& e : chosen) {
    for (const trial& part : e.trials) {
      std::vector<candidate> candidates;
      for (const std::string& text : part.candidates)
        std::ranges::copy_if(parse_candidates(text), std::back_inserter(candidates), is_wanted);
      if (candidates.empty()) continue;
      const auto results = parse(part.results.empty() ? texts{usual} : part.results);
      for (const auto& what : sweep_axes(part.workloads)) {
        Scene& here =
            find_or_add(scenes, {what, {}}, [&](const Scene& s) { return s.what == what; });
        for (const auto asked : results) {
          for (const candidate& who : candidates) {
            auto& wanted = find_or_add(here.tasks, {asked, who, {}}, [&](const auto& t) {
              return t.asked == asked && t.who == who;
            });
            if (std::ranges::find(wanted.experiments, e.name) == wanted.experiments.end())
              wanted.experiments.push_back(e.name);
          }
        }
      }
    }
  }
  return scenes;
}

}  // namespace

const std::vector<experiment>& experiments() {
  static const std::vector<experiment> all = [] {
    std::vector<experiment> papers = lightweight::all();
    std::ranges::move(rx::all(), std::back_inserter(papers));
    std::ranges::move(cgrx::all(), std::back_inserter(papers));
    std::ranges::move(rmq_experiments(), std::back_inserter(papers));
    return papers;
  }();
  return all;
}

std::vector<experiment> find_experiments(const std::vector<std::string>& names) {
  std::vector<experiment> chosen;
  for (const std::string& wanted : names) {
    const std::size_t before = chosen.size();
    std::ranges::copy_if(experiments(), std::back_inserter(chosen),
                         [&](const experiment& e) { return matches(wanted, e.name); });
    if (chosen.size() == before) {
      throw invalid_argument(
          fmt::format("--experiment: there is no '{}'; --list-experiments shows all", wanted));
    }
  }
  return chosen;
}

std::vector<candidate> parse_candidates(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  std::vector<candidate> all{{.structure = std::string(words.front()), .options = {}}};
  for (const std::string_view word : std::span(words).subspan(1)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw invalid_argument(fmt::format("option '{}' is not of the form name=value", word));
    }
    std::vector<candidate> more;
    for (const candidate& base : all) {
      for (const std::string_view value : split(word.substr(equals + 1), ',')) {
        more.push_back(base);
        more.back().options[std::string(word.substr(0, equals))] = value;
      }
    }
    all = std::move(more);
  }
  return all;
}

std::string to_text(const option_map& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

std::vector<scene> plan(const std::vector<experiment>& chosen) {
  return make_plan<scene>(chosen, is_of_keys, sweep, "first", parse_results);
}

std::vector<rmq_scene> rmq_plan(const std::vector<experiment>& chosen) {
  return make_plan<rmq_scene>(chosen, is_of_minima, rmq_sweep, "min", parse_rmq_results);
}

}  // namespace raydex::bench
