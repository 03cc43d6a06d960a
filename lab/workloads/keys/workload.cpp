// SPDX-License-Identifier: Apache-2.0
// From the axes of a workload to its generating functions; what cannot be made is refused here.
#include "lab/workloads/keys/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/sizes.hpp"
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
std::uint64_t keys_per_probe(const workload& spec) {
  return spec.range_hits == 0 ? 1 : spec.range_hits / spec.multiplicity;
}

// At least one row where there is a share, and never all.
std::uint64_t heavy_rows(const workload& spec) {
  if (spec.heavy_key == 0 || spec.keys < 2) return 0;
  const double rows = static_cast<double>(spec.keys) * spec.heavy_key / 100;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(rows), 1, spec.keys - 1);
}

std::uint64_t distinct_keys(const workload& spec) {
  const std::uint64_t light = spec.keys - heavy_rows(spec);
  return light / spec.multiplicity + (light % spec.multiplicity != 0 ? 1 : 0);
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
void check_waves(const workload& spec) {
  require(spec.waves <= 1024, "{} waves: must be at most 1024", spec.waves);
  require(spec.growth > 1 && spec.growth <= 1024, "growth {}: must be above 1 and at most 1024",
          spec.growth);
  require(spec.multiplicity == 1, "waves of keys that come {} times each: must be once",
          spec.multiplicity);
  require(spec.heavy_key == 0, "waves of keys, one with {} % of the rows: must be 0",
          spec.heavy_key);
  require(spec.uniformity == 0 || spec.uniformity == 100,
          "waves on keys of uniformity {} %: must be 0 or 100", spec.uniformity);
  require(spec.shape == distribution::uniform || spec.shape == distribution::clumped,
          "waves on {} keys: must be uniform or clumped", to_string(spec.shape));
  require(static_cast<double>(spec.keys) * spec.growth < 0x1p62,
          "growth {} of {} keys: there must be fewer than 2^62", spec.growth, spec.keys);
  workload most = spec;
  most.keys = keys_after(spec, spec.waves);
  most.waves = 0;
  require(most.keys - spec.keys >= spec.waves,
          "{} waves that insert {} keys in all: must be at most one for each", spec.waves,
          most.keys - spec.keys);
  // Those that an index begins with, it must go on with; `edit` keeps one in reserve.
  require(most.keys < not_found<std::uint32_t> - 1 || spec.keys >= not_found<std::uint32_t>,
          "growth {} of {} keys: too many for row ids of 32 bits", spec.growth, spec.keys);
  check(most);
}

}  // namespace

std::uint64_t keys_after(const workload& spec, std::uint64_t wave) {
  if (spec.waves == 0) return spec.keys;
  const auto more =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(spec.keys) * (spec.growth - 1)));
  const std::uint64_t step = wave <= spec.waves ? wave : 2 * spec.waves - wave;
  return spec.keys + more / spec.waves * step + more % spec.waves * step / spec.waves;
}

key_set make_key_set(const workload& spec) {
  require(spec.key_bits == 32 || spec.key_bits == 64, "key bits {}: must be 32 or 64",
          spec.key_bits);
  const int value_bits = spec.value_bits == 0 ? spec.key_bits : spec.value_bits;
  require(value_bits >= 1 && value_bits <= spec.key_bits, "value bits {}: must be 1 to {}",
          value_bits, spec.key_bits);
  require(spec.stride >= 1 && spec.stride <= last_of_bits(value_bits),
          "stride {}: must be 1 to 2^{} - 1, as keys have {} value bits", spec.stride, value_bits,
          value_bits);
  require(spec.multiplicity >= 1, "multiplicity 0: must be at least 1");
  require(spec.uniformity >= 0 && spec.uniformity <= 100, "uniformity {} %: must be 0 to 100",
          spec.uniformity);
  require(spec.heavy_key >= 0 && spec.heavy_key <= 100, "heavy key of {} %: must be 0 to 100",
          spec.heavy_key);

  key_set set;
  set.n = spec.keys;
  set.heavy = heavy_rows(spec);
  set.distinct = distinct_keys(spec);
  set.heavy_index = set.distinct / 2;
  set.stride = spec.stride;
  set.last_value = (last_of_bits(value_bits) - (spec.stride - 1)) / spec.stride;
  require(
      set.distinct == 0 || set.distinct - 1 <= set.last_value,
      "{} different keys at stride {} do not fit into {} value bits: use fewer keys, more value "
      "bits or a higher multiplicity",
      set.distinct, spec.stride, value_bits);
  if (spec.shape != distribution::uniform) {
    require(spec.uniformity == 100,
            "{} keys of uniformity {} %: must be 100; ranges need dense keys",
            to_string(spec.shape), spec.uniformity);
    if (spec.shape == distribution::clumped) {
      constexpr std::uint64_t last_of_clump = 63;
      set.clump_bits = 6;
      require(set.last_value >= last_of_clump, "clumped keys: a range of {} values holds no clump",
              set.last_value + 1);
      set.last_value = (set.last_value - last_of_clump) | last_of_clump;  // whole clumps
    }
    require(set.distinct <= set.last_value / 4,
            "{} different {} keys at stride {}: a quarter of {} value bits holds at most {}",
            set.distinct, to_string(spec.shape), spec.stride, value_bits, set.last_value / 4);
  }
  const auto drawn = static_cast<std::uint64_t>(
      std::llround(static_cast<double>(set.distinct) * spec.uniformity / 100));
  set.dense = set.distinct - std::min(drawn, set.distinct);
  if (!set.is_dense()) {
    set.values = bijection((set.last_value - set.dense) >> set.clump_bits,
                           stream_key(spec.seed, stream::values));
  }
  set.built = set.n;
  if (set.n != 0) set.shuffle = bijection(set.n - 1, stream_key(spec.seed, stream::shuffle));
  return set;
}

std::vector<key_part> make_key_parts(const workload& spec) {
  const key_set set = make_key_set(spec);
  if (set.distinct == 0) return {};
  switch (spec.shape) {
    case distribution::skewed:
      return fill_parts(skewed_slices(set.distinct, set.last_value), set, spec.seed);
    case distribution::lognormal:
      return fill_parts(lognormal_slices(set.last_value), set, spec.seed);
    case distribution::steps:
      return fill_parts(step_slices(set.distinct, set.last_value), set, spec.seed);
    default:
      return {};
  }
}

zipf_table make_zipf_table(const workload& spec) {
  const std::uint64_t distinct = distinct_keys(spec);
  const std::uint64_t taken = keys_per_probe(spec);
  return make_zipf_table(distinct < taken ? 0 : distinct - taken + 1, spec.zipf);
}

probe_set make_probe_set(const workload& spec, const key_set& keys, const zipf_view& zipf) {
  require(spec.aggregate <= 1, "aggregate {}: must be 0 or 1", spec.aggregate);
  require(spec.threads <= 1024, "{} threads: must be at most 1024", spec.threads);
  require(spec.batches >= 1 && spec.batches <= std::max<std::uint64_t>(spec.probes, 1),
          "{} batches: must be 1 to the number of probes, {}", spec.batches, spec.probes);
  require(spec.hit_rate >= 0 && spec.hit_rate <= 100, "hit rate {} %: must be 0 to 100",
          spec.hit_rate);
  require(spec.zipf >= 0 && spec.zipf <= 64, "zipf coefficient {}: must be 0 to 64", spec.zipf);
  const bool hits = spec.probes != 0 && spec.hit_rate > 0;
  const bool misses = spec.probes != 0 && spec.hit_rate < 100;
  require(!hits || keys.n != 0, "hit rate {} %: without keys it must be 0", spec.hit_rate);

  probe_set set;
  set.keys = keys;
  set.seed = spec.seed;
  set.zipf = zipf;
  set.hits_in_2_32 = static_cast<std::uint64_t>(std::llround(spec.hit_rate / 100 * 0x1p32));
  set.misses_inside = spec.misses == miss::inside;
  require(spec.range_hits != 0 || spec.range_lengths == lengths::even,
          "{} lengths without ranges: give range hits", to_string(spec.range_lengths));
  require(spec.range_hits != 0 || spec.giant_range == 0,
          "a giant range of {} % without ranges: give range hits", spec.giant_range);
  require(spec.giant_range >= 0 && spec.giant_range <= 100, "giant range of {} %: must be 0 to 100",
          spec.giant_range);
  if ((keys.heavy != 0 && hits) || spec.giant_range != 0) {
    set.chosen = scale(random(spec.seed, stream::length, 0), spec.probes);
  }
  if (spec.range_hits != 0) {
    require(keys.is_dense(), "ranges on keys of uniformity {} %: expected hits need uniformity 0",
            spec.uniformity);
    require(spec.range_hits % spec.multiplicity == 0,
            "{} range hits: must be a multiple of the multiplicity, {}", spec.range_hits,
            spec.multiplicity);
    const std::uint64_t taken = keys_per_probe(spec);
    require(taken <= keys.distinct, "{} range hits: must be at most the number of keys, {}",
            spec.range_hits, keys.n);
    require(!misses, "hit rate {} % with ranges: must be 100", spec.hit_rate);
    set.taken = taken;
    const bool even = spec.range_lengths == lengths::even && spec.giant_range == 0;
    require(even || spec.probe_order == order::unsorted,
            "sorted ranges of different lengths: must be unsorted");
    if (spec.range_lengths == lengths::zipf && spec.probes != 0) {
      set.longest = find_longest(set, spec.probes);
      set.rank = bijection(spec.probes - 1, stream_key(spec.seed, stream::length));
    }
    if (spec.giant_range != 0) {
      set.giant = set.cut(
          static_cast<std::uint64_t>(static_cast<double>(keys.distinct) * spec.giant_range / 100));
    }
  }
  if (keys.distinct >= set.taken) {
    set.popularity =
        bijection(keys.distinct - set.taken, stream_key(spec.seed, stream::popularity));
  }
  if (!misses) return set;

  if (spec.misses == miss::inside) {
    require(keys.n != 0, "misses inside the value range: without keys there is none; use outside");
    require(keys.stride > 1 || !keys.is_dense(),
            "misses inside the value range: dense keys of stride 1 leave no gaps; use a uniformity "
            "above 0, a stride above 1, or misses outside");
    require(keys.stride > 1 || keys.distinct <= keys.last_value,
            "misses inside the value range: the keys fill it; use more value bits or fewer keys");
  } else {
    const std::uint64_t largest = last_of_bits(spec.key_bits);
    set.outside_last = largest;
    if (keys.n != 0) {
      const std::uint64_t last = keys.is_dense() ? keys.distinct - 1 : keys.last_value;
      const std::uint64_t end = last * keys.stride + (keys.stride - 1);
      require(end < largest,
              "misses outside the value range: it covers all {}-bit keys; use fewer value bits",
              spec.key_bits);
      set.outside_first = end + 1;
    }
  }
  return set;
}

void check(const workload& spec) {
  require(spec.keys <= most_cells, "{} keys: must be at most 2^48", spec.keys);
  require(spec.probes <= most_cells, "{} probes: must be at most 2^48", spec.probes);
  make_probe_set(spec, make_key_set(spec), {});
  if (spec.waves != 0) check_waves(spec);
}

std::string describe(const workload& spec) {
  using io::size_text;
  const workload usual;
  std::string text = spec.range_hits == 0 ? fmt::format("{} points", size_text(spec.probes))
                                          : fmt::format("{} ranges of {} rows",
                                                        size_text(spec.probes), spec.range_hits);
  text += fmt::format(" on {} {}-bit keys", size_text(spec.keys), spec.key_bits);
  const auto add = [&text](bool differs, const std::string& part) {
    if (differs) text += ", " + part;
  };
  add(spec.uniformity != usual.uniformity,
      spec.uniformity == 0 ? "dense" : fmt::format("uniformity {} %", spec.uniformity));
  add(spec.shape != usual.shape, to_string(spec.shape));
  add(spec.stride != usual.stride, fmt::format("stride {}", spec.stride));
  add(spec.value_bits != usual.value_bits, fmt::format("value bits {}", spec.value_bits));
  add(spec.multiplicity != usual.multiplicity, fmt::format("each {} times", spec.multiplicity));
  add(spec.heavy_key != usual.heavy_key, fmt::format("one has {} % of the rows", spec.heavy_key));
  add(spec.insert_order != usual.insert_order, "inserts sorted");
  add(spec.probe_order != usual.probe_order, "probes sorted");
  add(spec.hit_rate != usual.hit_rate,
      fmt::format("hits {} %, misses {}", spec.hit_rate, to_string(spec.misses)));
  add(spec.zipf != usual.zipf, fmt::format("zipf {}", spec.zipf));
  add(spec.range_lengths != usual.range_lengths,
      fmt::format("{} lengths", to_string(spec.range_lengths)));
  add(spec.giant_range != usual.giant_range,
      fmt::format("one range of {} % of the rows", spec.giant_range));
  add(spec.batches != usual.batches, fmt::format("{} batches", size_text(spec.batches)));
  add(spec.aggregate != usual.aggregate, "by an aggregate");
  add(spec.threads != usual.threads,
      fmt::format("{} thread{}", spec.threads, spec.threads == 1 ? "" : "s"));
  add(spec.waves != usual.waves,
      fmt::format("{} waves to {} times as many and back", spec.waves, spec.growth));
  return text;
}

}  // namespace raydex::bench
