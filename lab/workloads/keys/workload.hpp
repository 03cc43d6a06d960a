// SPDX-License-Identifier: Apache-2.0
/// @file
/// A workload's description: one point on every axis of the papers' inputs, and the functions that
/// generate it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/workloads/keys/key_set.hpp"
#include "lab/workloads/keys/probe_set.hpp"
#include "lab/workloads/names.hpp"
#include "lab/workloads/zipf.hpp"

namespace raydex::bench {

/// The order of keys or probes.
enum class order : std::uint8_t { unsorted, sorted };
constexpr auto names_of(order) {
  return std::array{"unsorted", "sorted"};
}

/// Where probes that match nothing lie.
enum class miss : std::uint8_t { inside, outside };
constexpr auto names_of(miss) {
  return std::array{"inside", "outside"};
}

/// How the keys that are drawn lie in the value range.
enum class distribution : std::uint8_t {
  uniform,
  clumped,    ///< runs of 64 consecutive values at random places
  skewed,     ///< 90 % of the keys in the lowest 1 % of the range, the others above
  lognormal,  ///< sigma 1; the range ends three sigma above the median
  steps       ///< equally many keys in each of a row of slices, each twice as wide as the last
};
constexpr auto names_of(distribution) {
  return std::array{"uniform", "clumped", "skewed", "lognormal", "steps"};
}

/// How many rows lie in the ranges of a batch.
enum class lengths : std::uint8_t {
  even,
  zipf  ///< the r-th longest is an r-th of the longest
};
constexpr auto names_of(lengths) {
  return std::array{"even", "zipf"};
}

/// The axes. Shares are in percent.
struct workload {
  std::uint64_t keys = std::uint64_t{1} << 26;    ///< rows of the column
  std::uint64_t probes = std::uint64_t{1} << 27;  ///< probes in all
  std::uint64_t batches = 1;                      ///< calls that they are split into
  int key_bits = 32;                              ///< 32 or 64
  double uniformity = 100;  ///< share of keys drawn from the value range, the rest dense from 0
  distribution shape = distribution::uniform;  ///< how the drawn keys lie
  std::uint64_t stride = 1;                    ///< all keys are multiples of it
  int value_bits = 0;                          ///< keys lie below 2 to this power; 0: `key_bits`
  std::uint64_t multiplicity = 1;              ///< how often every key comes
  double heavy_key = 0;  ///< share of the rows that one key has; one probe is sure to ask for it
  order insert_order = order::unsorted;   ///< sorted: rows ascend by key
  order probe_order = order::unsorted;    ///< sorted: probes ascend
  double hit_rate = 100;                  ///< share of probes that match
  miss misses = miss::inside;             ///< where the other probes lie
  double zipf = 0;                        ///< skew of the popularity of keys among the hits
  std::uint64_t range_hits = 0;           ///< rows in a range on average; 0: probes are points
  lengths range_lengths = lengths::even;  ///< how they differ from that
  double giant_range = 0;                 ///< share of the rows that one range has besides
  std::uint64_t aggregate = 0;            ///< 1: an aggregate over the index answers; 0: the index
  std::uint64_t threads = 0;  ///< that ask, each with a stream of its own; 0: one stream for all
  std::uint64_t waves = 0;    ///< of insertions, and then as many of deletions; 0: none
  double growth = 2.2;        ///< how many times as many keys the insertions lead to
  std::uint64_t seed = 1;     ///< of everything

  friend bool operator==(const workload&, const workload&) = default;
};

/// Keys and probes of a workload at most: more than any memory holds, and few enough that their
/// bytes can be counted.
inline constexpr std::uint64_t most_cells = std::uint64_t{1} << 48;

/// Throws `invalid_argument` where no such workload can be made; says why and what would be legal.
void check(const workload& spec);

/// How many keys are held after so many waves of `2 * waves`: insertions come first, equally many
/// keys each; deletions take them back.
std::uint64_t keys_after(const workload& spec, std::uint64_t wave);

/// The keys; `position` and `parts` are left null. Checks the part of the workload that it needs.
key_set make_key_set(const workload& spec);

/// The parts that the keys of `make_key_set(what)` are drawn from; none where they are drawn from
/// the whole range alike. Shapes are kept as far as the range allows: no part gives keys to more
/// than half of its values.
std::vector<key_part> make_key_parts(const workload& spec);

/// The skew table that the probes need; empty without skew.
zipf_table make_zipf_table(const workload& spec);

/// The probes over `keys`, with `zipf` a view of that table. Checks as `check` does.
probe_set make_probe_set(const workload& spec, const key_set& keys, const zipf_view& zipf);

/// A line for people: what differs from the defaults, after the sizes.
std::string describe(const workload& spec);

}  // namespace raydex::bench
