// SPDX-License-Identifier: Apache-2.0
// "Is Binary Search Really All You Need? Supercharging Lightweight Database Indexing on GPUs". Its
// words for the structures: AO+BS is sorted_array, EO+BS is eytzinger k=2, EO+KS is eytzinger with
// a larger k, AO+PB+BS and AO+PB+KS are pivot_tree search=groups, likewise. SoA is layout=column,
// AoS layout=row. HT (open) is hash_open, HT (buckets) hash_bucket, B+ btree. Plain `pivot_tree` is
// our own search beyond the paper.
#include "lab/papers/papers.hpp"

namespace raydex::bench::papers {
namespace {

const texts trees{"btree fill=50,100"};
const texts baselines_of_points =
    joined({"hash_open load=50,80", "hash_bucket occupancy=100,150"}, trees);
// The lines that the figures of section 5 show: of each baseline the faster variant. Of the tree
// that is a guess; of the hash tables hash.csv and buckets.csv of docs/results say so.
const texts references{"sorted_array", "hash_open load=50", "hash_bucket occupancy=100",
                       "btree fill=100"};
const texts naive{"sorted_array"};

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

// What section 5 finds best for points on the paper's card. The pivot tree leaves 16 keys to the
// sorted array at 2^28.
const texts tuned_by_paper = joined(
    {"sorted_array layout=column schedule=one threads=128 lookups=16 pin=full reorder=double"},
    each({"eytzinger k=2 layout=column", "pivot_tree search=groups k=2 levels=24 layout=row"},
         {"schedule=dynamic threads=128 lookups=16 pin=none reorder=double"}),
    each({"eytzinger k=9 layout=row", "pivot_tree search=groups k=9 layout=row"},
         {"schedule=dynamic threads=1024 lookups=1 pin=none reorder=none"}));
// What figures 14 to 18 say of an H100. Builds and bytes are those of the rows above.
const texts tuned_for_h100 =
    joined({"sorted_array layout=column schedule=one threads=512 lookups=2 pin=steps reorder=none",
            "eytzinger k=2 layout=column schedule=dynamic threads=1024 lookups=2 pin=none "
            "reorder=double"},
           each({"pivot_tree search=groups k=2 levels=24 layout=row", "eytzinger k=9 layout=row",
                 "pivot_tree search=groups k=9 layout=row"},
                {"schedule=dynamic threads=128 lookups=16 pin=none reorder=none"}));

// And for ranges: the paper prefers rows; figure 19 says columns on an H100.
const texts tuned_for_ranges = each({"sorted_array scan=multi", "eytzinger k=2 scan=multi",
                                     "pivot_tree search=groups k=2 levels=24 scan=multi",
                                     "eytzinger k=9", "pivot_tree search=groups k=9"},
                                    {"layout=row,column"});

const texts ours{"pivot_tree"};

const texts sizes{"2^16", "2^18", "2^20", "2^22", "2^24", "2^26", "2^28"};
const axes points{.keys = {"2^28"}};
const axes scaled_points{.keys = sizes};

}  // namespace

std::vector<experiment> lightweight() {
  return {
      {.name = "lightweight/1a",
       .title = "lookups by the number of keys",
       .trials = {{joined(naive, baselines_of_points), scaled_points}}},
      {.name = "lightweight/1b",
       .title = "unsorted and sorted lookups",
       .trials = {{references, {.keys = {"2^28"}, .probe_order = {"unsorted", "sorted"}}}}},
      {.name = "lightweight/14a",
       .title = "AO+BS, static schedule: threads, lookups per thread, pinning, reordering",
       .note = tunings_note,
       .trials = {{joined(references,
                          each({"sorted_array layout=column schedule=one"}, blocks, tunings)),
                   points}}},
      {.name = "lightweight/14b",
       .title = "AO+BS, dynamic schedule: threads, lookups per thread, pinning, reordering",
       .note = tunings_note,
       .trials = {{joined(references,
                          each({"sorted_array layout=column schedule=dynamic"}, blocks, tunings)),
                   points}}},
      {.name = "lightweight/14c",
       .title = "AO+BS: schedule and layout, 128 threads of 16 lookups",
       .note =
           std::string(tunings_note) + "; static beyond the paper: as many blocks as run at once",
       .trials = {{joined(references, each({"sorted_array layout=column,row "
                                            "schedule=one,static,dynamic threads=128 lookups=16"},
                                           tunings)),
                   points}}},
      {.name = "lightweight/15",
       .title = "EO+BS: threads, lookups per thread, pinning, reordering",
       .note = tunings_note,
       .trials = {{joined(references,
                          each({"eytzinger k=2 layout=column schedule=dynamic"}, blocks, tunings)),
                   points}}},
      {.name = "lightweight/16",
       .title = "AO+PB+BS: levels of pivots, layout, pinning, reordering",
       .note = few_tunings_note,
       .trials = {{joined(references,
                          each({"pivot_tree search=groups k=2 levels=10,20,24,all "
                                "layout=row,column schedule=dynamic threads=128 lookups=16"},
                               few_tunings)),
                   points}}},
      {.name = "lightweight/17a",
       .title = "EO+KS, K = 9: threads, lookups per thread, pinning, reordering",
       .note = few_tunings_note,
       .trials = {{joined(references,
                          each({"eytzinger k=9 layout=row schedule=dynamic"}, blocks, few_tunings)),
                   points}}},
      {.name = "lightweight/17b",
       .title = "EO+KS: K, layout, threads per lookup",
       .note = "group=power beyond the paper, where K - 1 is no power of two",
       .trials =
           {{joined(
                 references,
                 each({"eytzinger schedule=dynamic threads=1024 lookups=1 pin=none reorder=none"},
                      k_searches)),
             points}}},
      {.name = "lightweight/18a",
       .title = "AO+PB+KS, K = 9: threads, lookups per thread, pinning, reordering",
       .note = few_tunings_note,
       .trials = {{joined(references,
                          each({"pivot_tree search=groups k=9 layout=row schedule=dynamic"}, blocks,
                               few_tunings)),
                   points}}},
      {.name = "lightweight/18b",
       .title = "AO+PB+KS: K, layout, threads per lookup, pinning",
       .note = "group=power beyond the paper, where K - 1 is no power of two",
       .trials = {{joined(references, each({"pivot_tree search=groups schedule=dynamic "
                                            "threads=1024 lookups=1 pin=none,full reorder=none"},
                                           k_searches)),
                   points}}},
      {.name = "lightweight/19",
       .title = "ranges: scans by one thread or several, layout",
       .trials = {{joined(each({"sorted_array", "eytzinger k=2",
                                "pivot_tree search=groups k=2 levels=24"},
                               {"layout=column,row scan=single,multi"}),
                          each({"eytzinger k=9", "pivot_tree search=groups k=9"},
                               {"layout=column,row scan=multi"})),
                   {.keys = {"2^28"}, .probes = {"2^16"}, .range_hits = {"2^6", "2^14"}},
                   {"sum"}}}},
      {.name = "lightweight/20",
       .title = "points by the number of keys: rate, and rate per byte",
       .note = "figures 20a and 20b; every second power of two; each method as the paper tuned it, "
               "and as figures 14 to 18 say for an H100",
       .trials = {{joined(naive, tuned_by_paper, tuned_for_h100, ours, baselines_of_points),
                   scaled_points}}},
      {.name = "lightweight/21",
       .title = "build time and bytes by the number of keys",
       .note = "the measurements of figure 20, each method as the paper tuned it",
       .trials = {{joined(naive, tuned_by_paper, ours, baselines_of_points), scaled_points}}},
      {.name = "lightweight/22",
       .title = "ranges by the number of hits and of keys",
       .note = "three numbers of keys, six of hits; both layouts; the paper's is row",
       .trials = {{joined(tuned_for_ranges, ours, trees),
                   {.keys = {"2^20", "2^24", "2^28"},
                    .probes = {"2^16"},
                    .range_hits = {"2^0", "2^2", "2^4", "2^6", "2^10", "2^14"}},
                   {"sum"}}}},
  };
}

}  // namespace raydex::bench::papers
