// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which structure to build, from what it is needed for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/speed_table.hpp"

namespace raydex {

/// What an index is needed for.
struct use_case {
  std::uint64_t n = 0;           ///< rows of the column; equal keys are allowed for
  key_format key = {};           ///< what its keys are
  backend where = backend::cpu;  ///< who does the work; need not be on this machine
  bool ordered = false;          ///< whether ranges, or rows in the order of their keys, are needed
  std::uint64_t range_hits = 0;  ///< rows that a typical range matches, which makes it `ordered`;
                                 ///< 0: most probes are points
  bool sorted_probes = false;    ///< whether probes come in ascending order
  bool updates = false;          ///< whether keys are inserted or deleted after the build
  std::uint64_t memory_limit = 0;  ///< bytes that the index may hold; 0: no limit
  std::uint64_t span = 0;  ///< of integers: places from the smallest to the largest key, both
                           ///< included; 0: not known
};

/// The structure for a use case.
struct advice {
  std::string structure;             ///< its name, as `build` takes it
  option_map options;                ///< its options, as `build` takes them
  std::string reason;                ///< why, in one sentence
  double lookups_per_s = 0;          ///< the speed to expect of a device as it was measured on;
                                     ///< 0 where the structure was not measured
  std::uint64_t resident_bytes = 0;  ///< bytes that the index will hold, about; 0 likewise
};

/// Names the structure for a use case: of those that can do what is needed and fit the memory limit
/// the fastest one, as measured; of several within 5 % of it the one that holds the fewest bytes.
///
/// Structures for dense keys alone, `direct`, are among them where the span of integers is known,
/// is at most 4 times `n` (the usual `limit` of `direct`), and stays so, as there are no updates.
/// The `auto` of `build` takes none of them: an index may be edited later.
///
/// The rules of thumb of the lightweight paper (section 6.1) are the outcome of that, not its
/// method; `lightweight_advice` goes by them.
///
/// @param use the use case
/// @param measured the measurements to decide by; a structure without any is advised only where it
///        is the only one that can do what is needed, and no memory limit asks for its size. Where
///        a structure was not measured with keys of that width, or with sorted probes, the other
///        width or unsorted probes stand in; where none was with ranges, points do.
/// @param offered what may be advised: by default, all that this build of raydex offers
///
/// The result depends on the arguments only. Cost: microseconds, as it is done for each build of
/// `auto`. Throws `unsupported` where nothing offered does what is needed, naming what is missing,
/// or where nothing that does it was measured; `invalid_argument` where the memory limit is too
/// small, naming the fewest bytes needed.
RAYDEX_EXPORT advice advise(const use_case& use,
                            const speed_table& measured = speed_table::built_in(),
                            const std::vector<capability>& offered = capabilities());

/// Names the structure by the decision tree of the lightweight paper (section 6.1), as it stands
/// there, with the options that its section 5 found best on an RTX 4090; nothing is measured, so
/// speed and bytes are 0. It is there to compare with: on an H200 plain `sorted_array` was faster
/// than with these options, and pivots in cache lines, which `advise` knows and the paper does not,
/// were ahead of all (`lightweight-20-21.csv` in docs/results: 2^16 to 2^28 keys).
///
/// - Eytzinger's order, unless something asks for the ascending one: K = 2 while keys and row ids
///   fit the L2, beyond it K = 9 by groups of threads.
/// - Ascending order where `ordered` is set; without a memory limit also where there are ranges, or
///   updates, which want a quick build. It is searched by binary search while all fits the L2 or
///   memory is limited, else below pivots with K = 9.
/// - Keys and row ids side by side (AoS) where there are ranges. No pivots with binary search.
///
/// Any `memory_limit` but 0 asks for the least memory; how much it is does not count. The paper
/// gives no number of hits up to which ranges are small; all count as small here.
///
/// @param use the use case; `where`, `sorted_probes` and `span` do not count: the tree is of
///        GPUs, any probes and any keys
/// @param l2_bytes the L2 of the GPU, in bytes
///
/// Cost: none to speak of. Throws `invalid_argument` where the format of the keys is none.
RAYDEX_EXPORT advice lightweight_advice(const use_case& use, std::uint64_t l2_bytes);

}  // namespace raydex
