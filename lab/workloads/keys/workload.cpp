// SPDX-License-Identifier: Apache-2.0
// From the axes of a workload to its generating functions; what cannot be made is refused here.
#include "lab/workloads/keys/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "files/sizes.hpp"
#include "lab/workloads/keys/key_parts.hpp"
#include "lab/workloads/require.hpp"
#include "raydex/error.hpp"
#include "raydex/index.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {
namespace {

std::uint64_t last_of_bits(int bits) {
  return ~std::uint64_t{0} >> (64 - bits);
}

// Points start at any key, ranges where enough keys follow.
std::uint64_t keys_per_probe(const workload& what) {
  return what.range_hits == 0 ? 1 : what.range_hits / what.multiplicity;
}

// At least one row where there is a share, and never all.
std::uint64_t heavy_rows(const workload& what) {
  if (what.heavy_key == 0 || what.keys < 2) return 0;
  const double rows = static_cast<double>(what.keys) * what.heavy_key / 100;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rows), 1, what.keys - 1);
}

std::uint64_t distinct_keys(const workload& what) {
  const std::uint64_t light = what.keys - heavy_rows(what);
  return light / what.multiplicity + (light % what.multiplicity != 0 ? 1 : 0);
}

// Whether `probes` ranges have at most `wanted` keys in all if the r-th longest has an r-th of
// `longest`. Equal lengths are counted at once.
bool are_at_most(double wanted, const probe_set& set, std::uint64_t longest, std::uint64_t probes) {
  double sum = 0;
  for (std::uint64_t r = 1; r <= probes && sum <= wanted;) {
    const std::uint64_t length = longest / r;
    const std::uint64_t last = length == 0 ? probes : std::min(longest / length, probes);
    sum += static_cast<double>(set.cut(length)) * static_cast<double>(last - r + 1);
    r = last + 1;
  }
  return sum <= wanted;
}

// The longest with which the ranges have so many keys on average, or the last below.
std::uint64_t find_longest(const probe_set& set, std::uint64_t probes) {
  const double wanted = static_cast<double>(set.taken) * static_cast<double>(probes);
  std::uint64_t begin = 1;
  std::uint64_t end = saturated_product(set.keys.distinct, probes);
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin + 1) / 2;
    if (are_at_most(wanted, set, middle, probes)) {
      begin = middle;
    } else {
      end = middle - 1;
    }
  }
  return begin;
}

// Of such keys the first so many are a set as if drawn by themselves.
void check_waves(const workload& what) {
  require(what.waves <= 1024, "{} waves: must be at most 1024", what.waves);
  require(what.growth > 1 && what.growth <= 1024, "growth {}: must be above 1 and at most 1024",
          what.growth);
  require(what.multiplicity == 1, "waves of keys that come {} times each: must be once",
          what.multiplicity);
  require(what.heavy_key == 0, "waves of keys of which one has {} % of the rows: must be 0",
          what.heavy_key);
  require(what.uniformity == 0 || what.uniformity == 100,
          "waves on keys of uniformity {} %: must be 0 or 100", what.uniformity);
  require(what.shape == distribution::uniform || what.shape == distribution::clumped,
          "waves on {} keys: must be uniform or clumped", to_string(what.shape));
  require(static_cast<double>(what.keys) * what.growth < 0x1p62,
          "growth {} of {} keys: there must be fewer than 2^62", what.growth, what.keys);
  workload most = what;
  most.keys = keys_after(what, what.waves);
  most.waves = 0;
  require(most.keys - what.keys >= what.waves,
          "{} waves that insert {} keys in all: must be at most one for each", what.waves,
          most.keys - what.keys);
  // Those that an index begins with, it must go on with; `edit` keeps one in reserve.
  require(most.keys < not_found<std::uint32_t> - 1 || what.keys >= not_found<std::uint32_t>,
          "growth {} of {} keys: too many for row ids of 32 bits", what.growth, what.keys);
  check(most);
}

}  // namespace

std::uint64_t keys_after(const workload& what, std::uint64_t wave) {
  if (what.waves == 0) return what.keys;
  const auto more =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(what.keys) * (what.growth - 1)));
  const std::uint64_t there = wave <= what.waves ? wave : 2 * what.waves - wave;
  return what.keys + more / what.waves * there + more % what.waves * there / what.waves;
}

key_set make_key_set(const workload& what) {
  require(what.key_bits == 32 || what.key_bits == 64, "key bits {}: must be 32 or 64",
          what.key_bits);
  const int value_bits = what.value_bits == 0 ? what.key_bits : what.value_bits;
  require(value_bits >= 1 && value_bits <= what.key_bits, "value bits {}: must be 1 to {}",
          value_bits, what.key_bits);
  require(what.stride >= 1 && what.stride <= last_of_bits(value_bits),
          "stride {}: must be 1 to 2^{} - 1, as keys have {} value bits", what.stride, value_bits,
          value_bits);
  require(what.multiplicity >= 1, "multiplicity 0: must be at least 1");
  require(what.uniformity >= 0 && what.uniformity <= 100, "uniformity {} %: must be 0 to 100",
          what.uniformity);
  require(what.heavy_key >= 0 && what.heavy_key <= 100, "heavy key of {} %: must be 0 to 100",
          what.heavy_key);

  key_set set;
  set.n = what.keys;
  set.heavy = heavy_rows(what);
  set.distinct = distinct_keys(what);
  set.heavy_index = set.distinct / 2;
  set.stride = what.stride;
  set.last_value = (last_of_bits(value_bits) - (what.stride - 1)) / what.stride;
  require(
      set.distinct == 0 || set.distinct - 1 <= set.last_value,
      "{} different keys at stride {} do not fit into {} value bits: use fewer keys, more value "
      "bits or a higher multiplicity",
      set.distinct, what.stride, value_bits);
  if (what.shape != distribution::uniform) {
    require(what.uniformity == 100,
            "{} keys of uniformity {} %: must be 100; ranges need dense keys",
            to_string(what.shape), what.uniformity);
    if (what.shape == distribution::clumped) {
      constexpr std::uint64_t last_of_clump = 63;
      set.clump_bits = 6;
      require(set.last_value >= last_of_clump, "clumped keys: a range of {} values holds no clump",
              set.last_value + 1);
      set.last_value = (set.last_value - last_of_clump) | last_of_clump;  // whole clumps
    }
    require(set.distinct <= set.last_value / 4,
            "{} different {} keys at stride {}: a quarter of {} value bits holds at most {}",
            set.distinct, to_string(what.shape), what.stride, value_bits, set.last_value / 4);
  }
  const auto drawn = static_cast<std::uint64_t>(
      std::llround(static_cast<double>(set.distinct) * what.uniformity / 100));
  set.dense = set.distinct - std::min(drawn, set.distinct);
  if (!set.is_dense()) {
    set.values = bijection((set.last_value - set.dense) >> set.clump_bits,
                           stream_key(what.seed, stream::values));
  }
  set.built = set.n;
  if (set.n != 0) set.shuffle = bijection(set.n - 1, stream_key(what.seed, stream::shuffle));
  return set;
}

std::vector<key_part> make_key_parts(const workload& what) {
  const key_set set = make_key_set(what);
  if (set.distinct == 0) return {};
  switch (what.shape) {
    case distribution::skewed:
      return fill_parts(skewed_stretches(set.distinct, set.last_value), set, what.seed);
    case distribution::lognormal:
      return fill_parts(lognormal_stretches(set.last_value), set, what.seed);
    case distribution::steps:
      return fill_parts(step_stretches(set.distinct, set.last_value), set, what.seed);
    default:
      return {};
  }
}

zipf_table make_zipf_table(const workload& what) {
  const std::uint64_t distinct = distinct_keys(what);
  const std::uint64_t taken = keys_per_probe(what);
  return make_zipf_table(distinct < taken ? 0 : distinct - taken + 1, what.zipf);
}

probe_set make_probe_set(const workload& what, const key_set& keys, const zipf_view& zipf) {
  require(what.aggregate <= 1, "aggregate {}: must be 0 or 1", what.aggregate);
  require(what.threads <= 1024, "{} threads: must be at most 1024", what.threads);
  require(what.batches >= 1 && what.batches <= std::max<std::uint64_t>(what.probes, 1),
          "{} batches: must be 1 to the number of probes, {}", what.batches, what.probes);
  require(what.hit_rate >= 0 && what.hit_rate <= 100, "hit rate {} %: must be 0 to 100",
          what.hit_rate);
  require(what.zipf >= 0 && what.zipf <= 64, "zipf coefficient {}: must be 0 to 64", what.zipf);
  const bool hits = what.probes != 0 && what.hit_rate > 0;
  const bool misses = what.probes != 0 && what.hit_rate < 100;
  require(!hits || keys.n != 0, "hit rate {} %: without keys it must be 0", what.hit_rate);

  probe_set set;
  set.keys = keys;
  set.seed = what.seed;
  set.zipf = zipf;
  set.hits_in_2_32 = static_cast<std::uint64_t>(std::llround(what.hit_rate / 100 * 0x1p32));
  set.misses_inside = what.misses == miss::inside;
  require(what.range_hits != 0 || what.range_lengths == lengths::even,
          "{} lengths without ranges: give range hits", to_string(what.range_lengths));
  require(what.range_hits != 0 || what.giant_range == 0,
          "a giant range of {} % without ranges: give range hits", what.giant_range);
  require(what.giant_range >= 0 && what.giant_range <= 100, "giant range of {} %: must be 0 to 100",
          what.giant_range);
  if ((keys.heavy != 0 && hits) || what.giant_range != 0) {
    set.chosen = scale(random(what.seed, stream::length, 0), what.probes);
  }
  if (what.range_hits != 0) {
    require(keys.is_dense(), "ranges on keys of uniformity {} %: expected hits need uniformity 0",
            what.uniformity);
    require(what.range_hits % what.multiplicity == 0,
            "{} range hits: must be a multiple of the multiplicity, {}", what.range_hits,
            what.multiplicity);
    const std::uint64_t taken = keys_per_probe(what);
    require(taken <= keys.distinct, "{} range hits: must be at most the number of keys, {}",
            what.range_hits, keys.n);
    require(!misses, "hit rate {} % with ranges: must be 100", what.hit_rate);
    set.taken = taken;
    const bool even = what.range_lengths == lengths::even && what.giant_range == 0;
    require(even || what.probe_order == order::unsorted,
            "sorted ranges of different lengths: must be unsorted");
    if (what.range_lengths == lengths::zipf && what.probes != 0) {
      set.longest = find_longest(set, what.probes);
      set.rank = bijection(what.probes - 1, stream_key(what.seed, stream::length));
    }
    if (what.giant_range != 0) {
      set.giant = set.cut(
          static_cast<std::uint64_t>(static_cast<double>(keys.distinct) * what.giant_range / 100));
    }
  }
  if (keys.distinct >= set.taken) {
    set.popularity =
        bijection(keys.distinct - set.taken, stream_key(what.seed, stream::popularity));
  }
  if (!misses) return set;

  if (what.misses == miss::inside) {
    require(keys.n != 0, "misses inside the value range: without keys there is none; use outside");
    require(keys.stride > 1 || !keys.is_dense(),
            "misses inside the value range: dense keys of stride 1 leave no gaps; use a uniformity "
            "above 0, a stride above 1, or misses outside");
    require(keys.stride > 1 || keys.distinct <= keys.last_value,
            "misses inside the value range: the keys fill it; use more value bits or fewer keys");
  } else {
    const std::uint64_t largest = last_of_bits(what.key_bits);
    set.outside_last = largest;
    if (keys.n != 0) {
      const std::uint64_t last = keys.is_dense() ? keys.distinct - 1 : keys.last_value;
      const std::uint64_t end = last * keys.stride + (keys.stride - 1);
      require(end < largest,
              "misses outside the value range: it covers all {}-bit keys; use fewer value bits",
              what.key_bits);
      set.outside_first = end + 1;
    }
  }
  return set;
}

void check(const workload& what) {
  require(what.keys <= most_cells, "{} keys: must be at most 2^48", what.keys);
  require(what.probes <= most_cells, "{} probes: must be at most 2^48", what.probes);
  make_probe_set(what, make_key_set(what), {});
  if (what.waves != 0) check_waves(what);
}

std::string describe(const workload& what) {
  using io::size_text;
  const workload usual;
  std::string text = what.range_hits == 0 ? fmt::format("{} points", size_text(what.probes))
                                          : fmt::format("{} ranges of {} rows",
                                                        size_text(what.probes), what.range_hits);
  text += fmt::format(" on {} {}-bit keys", size_text(what.keys), what.key_bits);
  const auto add = [&text](bool differs, const std::string& part) {
    if (differs) text += ", " + part;
  };
  add(what.uniformity != usual.uniformity,
      what.uniformity == 0 ? "dense" : fmt::format("uniformity {} %", what.uniformity));
  add(what.shape != usual.shape, to_string(what.shape));
  add(what.stride != usual.stride, fmt::format("stride {}", what.stride));
  add(what.value_bits != usual.value_bits, fmt::format("value bits {}", what.value_bits));
  add(what.multiplicity != usual.multiplicity, fmt::format("each {} times", what.multiplicity));
  add(what.heavy_key != usual.heavy_key, fmt::format("one has {} % of the rows", what.heavy_key));
  add(what.insert_order != usual.insert_order, "inserts sorted");
  add(what.probe_order != usual.probe_order, "probes sorted");
  add(what.hit_rate != usual.hit_rate,
      fmt::format("hits {} %, misses {}", what.hit_rate, to_string(what.misses)));
  add(what.zipf != usual.zipf, fmt::format("zipf {}", what.zipf));
  add(what.range_lengths != usual.range_lengths,
      fmt::format("{} lengths", to_string(what.range_lengths)));
  add(what.giant_range != usual.giant_range,
      fmt::format("one range of {} % of the rows", what.giant_range));
  add(what.batches != usual.batches, fmt::format("{} batches", size_text(what.batches)));
  add(what.aggregate != usual.aggregate, "by an aggregate");
  add(what.threads != usual.threads,
      fmt::format("{} thread{}", what.threads, what.threads == 1 ? "" : "s"));
  add(what.waves != usual.waves,
      fmt::format("{} waves to {} times as many and back", what.waves, what.growth));
  return text;
}

}  // namespace raydex::bench
