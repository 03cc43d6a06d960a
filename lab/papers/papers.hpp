// SPDX-License-Identifier: Apache-2.0
/// @file
/// The papers, a file each, and what these share. An axis that an experiment does not name is as in
/// any workload: 2^26 keys and 2^27 lookups, or 2^26 values and as many ranges.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"

namespace raydex::bench::papers {

/// @name The experiments of a paper
/// @{
std::vector<experiment> lightweight();
std::vector<experiment> rx();
std::vector<experiment> cgrx();
std::vector<experiment> gpu_rmq();
/// @}

using texts = std::vector<std::string>;

inline texts each(texts all) {
  return all;
}

/// Every combination of one text out of each list, joined by spaces.
template <class... More>
texts each(const texts& first, const texts& second, const More&... more) {
  texts pairs;
  for (const std::string& a : first) {
    for (const std::string& b : second)
      pairs.push_back(fmt::format("{} {}", a, b));
  }
  return each(std::move(pairs), more...);
}

/// One list after the other.
template <class... Lists>
texts joined(texts all, const Lists&... lists) {
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

/// RX as its paper has it, which looks at all hits of a ray, keeps equal keys apart, and traces
/// probes as they come; cgRX is compared with it as well.
inline const std::string paper_rx_modes =
    "rx primitive=triangle parts=1 hits=any duplicates=keep order=batch";
inline const std::string paper_rx = paper_rx_modes + " scale=0/0";
/// The same with primitives in the order of rows, all that they meet gathered by rays, and no
/// sorted column, as the paper describes it; it cannot do joins.
inline const std::string described_rx =
    "rx primitives=rows primitive=triangle parts=1 compact=on scale=0/0";
/// What the ray papers compare with: SA, B+ and HT (WarpCore, filled to 80 %), and our own tree.
/// @{
inline const texts ordered_baselines{"sorted_array", "pivot_tree", "btree"};
inline const texts baselines = joined(ordered_baselines, texts{"hash_open load=80"});
/// @}
inline const texts hits_of_ranges{"2^0", "2^2", "2^4", "2^6", "2^8", "2^10"};

}  // namespace raydex::bench::papers
