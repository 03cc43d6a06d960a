// SPDX-License-Identifier: Apache-2.0
// The table of axes, and what follows from it alone.
#include "lab/workloads/axes.hpp"

#include <algorithm>

namespace raydex::bench {
namespace {

constexpr const char* number = "N[,N...]";

constexpr axis_option options[] = {
    {"--keys", &axes::keys, axis_of::all,
     "rows of the column, or values of the array, such as 1000 or 2^20 [2^26]", number},
    {"--probes", &axes::probes, axis_of::all, "points or ranges in all [2^27; minima: 2^26]",
     number},
    {"--batches", &axes::batches, axis_of::keys, "calls that the probes are split into [1]",
     number},
    {"--key-bits", &axes::key_bits, axis_of::keys, "32 or 64 [32]", number},
    {"--uniformity", &axes::uniformity, axis_of::keys,
     "per cent of the keys drawn from the value range, the rest dense from 0 [100; ranges: 0]",
     number},
    {"--distribution", &axes::distribution, axis_of::keys,
     "how drawn keys lie: uniform, clumped, skewed, lognormal or steps [uniform]", "D[,D...]"},
    {"--stride", &axes::stride, axis_of::keys, "all keys are multiples of it [1]", number},
    {"--value-bits", &axes::value_bits, axis_of::keys,
     "keys lie below 2 to this power [the key bits]", number},
    {"--multiplicity", &axes::multiplicity, axis_of::keys, "how often every key comes [1]", number},
    {"--heavy-key", &axes::heavy_key, axis_of::keys,
     "per cent of the rows that one key has, which one probe is sure to ask for [0]", number},
    {"--insert-order", &axes::insert_order, axis_of::keys, "unsorted or sorted rows [unsorted]",
     "ORDER[,...]"},
    {"--probe-order", &axes::probe_order, axis_of::keys, "unsorted or sorted probes [unsorted]",
     "ORDER[,...]"},
    {"--hit-rate", &axes::hit_rate, axis_of::keys, "per cent of the points that match [100]",
     number},
    {"--miss", &axes::miss, axis_of::keys,
     "other points: inside or outside the value range [inside]", "PLACE[,...]"},
    {"--zipf", &axes::zipf, axis_of::keys, "skew of the popularity of keys [0]", number},
    {"--range-hits", &axes::range_hits, axis_of::keys,
     "probe with ranges of so many rows, on average [0: points]", number},
    {"--range-lengths", &axes::range_lengths, axis_of::keys,
     "even, or zipf: the r-th longest range is an r-th of the longest [even]", "L[,L...]"},
    {"--giant-range", &axes::giant_range, axis_of::keys,
     "per cent of the keys that one range among the others covers [0]", number},
    {"--aggregate", &axes::aggregate, axis_of::keys,
     "1: an aggregate over row ids, built before, answers first, count and sum [0: the index]",
     number},
    {"--threads", &axes::threads, axis_of::keys,
     "so many threads make the calls, each with a stream, timed by the wall [0: one stream]",
     number},
    {"--waves", &axes::waves, axis_of::keys,
     "insert keys in so many waves, erase them in as many, and measure after each [0]", number},
    {"--growth", &axes::growth, axis_of::keys,
     "how many times as many keys the waves lead to [2.2]", number},
    {"--array", &axes::array, axis_of::minima,
     "minima: how values lie: random, distinct, ascending, descending, sawtooth, constant, few, "
     "mountain or lcp [random]",
     "A[,A...]"},
    {"--array-file", &axes::array_file, axis_of::minima,
     "minima: the values, or the first of them, out of a file", "FILE.npy[,...]"},
    {"--period", &axes::period, axis_of::minima, "minima: of a sawtooth [1024]", number},
    {"--values", &axes::values, axis_of::minima,
     "minima: float, double, int32, uint32, int64 or uint64 [float]", "TYPE[,...]"},
    {"--ranges", &axes::ranges, axis_of::minima, "minima: large, medium, small or mixed [mixed]",
     "R[,R...]"},
    {"--position-bits", &axes::position_bits, axis_of::minima,
     "minima: of the ends of ranges, 32 or 64 [32 below 2^31 values]", number},
    {"--changes", &axes::changes, axis_of::minima,
     "minima: so many positions, where the first ranges begin, are said to have changed after the "
     "build [0]",
     number},
    {"--seed", &axes::seed, axis_of::all, "of all that is random [1]", number},
};
static_assert(std::size(options) == sizeof(axes) / sizeof(std::vector<std::string>));

}  // namespace

std::span<const axis_option> axis_options() {
  return options;
}

const char* option_of(axis which) {
  return std::ranges::find(options, which, &axis_option::values)->name;
}

void replace(axes& all, const axes& swept) {
  for (const axis_option& option : options) {
    if (!(swept.*option.values).empty()) all.*option.values = swept.*option.values;
  }
}

void refuse(const axes& swept, axis_of others, const char* instead) {
  for (const axis_option& option : options) {
    if (option.whose == others) refuse(swept, option.values, instead);
  }
}

void refuse(const axes& swept, axis which, const char* instead) {
  if (!(swept.*which).empty()) {
    throw invalid_argument(fmt::format("{}: {}", option_of(which), instead));
  }
}

}  // namespace raydex::bench
