// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many bytes an index, an aggregate or a structure for minima takes, before there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raydex/aggregate.hpp"
#include "raydex/capability.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"

namespace raydex {

/// What is known of a column before an index is built over it. What is not said is taken at its
/// worst, so that bytes are a bound then.
struct column_facts {
  std::uint64_t n = 0;                        ///< rows that have a key, up to 2^48
  key_format key = {};                        ///< what keys are
  row_id_type row_ids = row_id_type::uint32;  ///< 64 bits in any case from 2^32 - 1 rows on
  bool ascending = false;       ///< whether the keys ascend, as equal ones do by their row ids
  std::uint64_t different = 0;  ///< how many keys differ, which hash tables, `direct` and `rx`
                                ///< need; 0: not known
  std::uint64_t span = 0;       ///< of integers: places from the smallest to the largest key, both
                                ///< included, which `direct` needs; 0: not known
};

/// Bytes that calls of an index allocate for each probe at most, beside the arrays that they write
/// to. They are of points; `first` of ranges may take what `sum` does. On a GPU a call takes up to
/// 4 MB more. What is not answered takes none.
struct probe_bytes {
  std::uint64_t first = 0;     ///< `index::first`, of row ids as wide as the index's own
  std::uint64_t contains = 4;  ///< `index::contains`
  std::uint64_t count = 0;     ///< `index::count`, and `index::offsets`
  std::uint64_t sum = 0;       ///< `index::sum`
  std::uint64_t rank = 0;      ///< `index::rank` and `index::rank_right`
  std::uint64_t closest = 8;   ///< `index::predecessor` and `index::successor`
  std::uint64_t rows = 8;      ///< `index::rows` without offsets: 8 bytes are for these
  std::uint64_t match = 4;     ///< `index::rows` likewise: for each match, not for each probe
};

/// Bytes of an index.
struct memory_estimate {
  std::string structure;               ///< the structure's name
  std::uint64_t resident_bytes = 0;    ///< as `index_info` has them once it is built
  std::uint64_t build_peak_bytes = 0;  ///< likewise
  probe_bytes per_probe = {};          ///< what its calls take
};

/// Says how many bytes an index over a column will take, by arithmetic: nothing is allocated, and
/// the backend need not be on this machine.
///
/// @param structure as for `build`, with `auto`
/// @param where the backend: `cpu` or `cuda`
/// @param keys what is known of the column
/// @param options structure options by name
///
/// The figures are those of `index_info` to 1 % or 1 MB, where what they need is known. Otherwise
/// an index takes them at most: a `pivot_tree` with `nodes=auto`, whose pivots may be such that no
/// level rounds, holds up to 9 % less; and a scene, which Embree lays out, down to half. On `cuda`
/// a build that has missing keys to leave out takes 4 bytes a row for their numbers first.
///
/// `build` on `cpu` goes by it, too: with the memory of a session, or of a `host_memory_resource`,
/// it throws `out_of_memory` before it begins if it takes more, for certain, than the system and
/// the control groups of the process have left. The message names what would fit.
///
/// Cost: microseconds. Throws `invalid_argument` for facts that contradict each other, and as
/// `build` does for a bad structure or option; `unsupported` on `optix`, where the driver decides,
/// and for an `rx` with `primitives=rows` or `inverse`.
RAYDEX_EXPORT memory_estimate estimate(std::string_view structure, backend where,
                                       const column_facts& keys, const option_map& options = {});

/// Bytes that calls of a structure for minima allocate for each range, beside the arrays that they
/// write to.
struct rmq_probe_bytes {
  std::uint64_t extreme = 0;   ///< `rmq::minimum`, or `rmq::maximum`
  std::uint64_t position = 0;  ///< `rmq::position`
};

/// Bytes of a structure for minima, beside its array.
struct rmq_estimate {
  std::string structure;               ///< the structure's name
  std::uint64_t resident_bytes = 0;    ///< as `rmq_info` has them once it is built
  std::uint64_t build_peak_bytes = 0;  ///< likewise
  rmq_probe_bytes per_probe = {};      ///< what its calls take
};

/// Says how many bytes a structure for minima or maxima will take beside its array, as `estimate`
/// does for keys.
///
/// @param structure as for `build_rmq`, with `auto`
/// @param where the backend: `cpu` or `cuda`
/// @param n values of the array, up to 2^45
/// @param value what they are
/// @param options structure options by name
///
/// The figures are those of `rmq_info` to 1 % or 1 MB, for an array that begins at a multiple of 16
/// bytes. Those of rays (`rmq_rx`, and `rmq_hierarchy` with `top=rays`) are a bound: Embree lays
/// out their scene.
///
/// Cost: microseconds. Throws `invalid_argument` and `unsupported` as `build_rmq` does for a bad
/// structure, option or value; and `unsupported` on `optix`, where the driver decides.
RAYDEX_EXPORT rmq_estimate estimate_rmq(std::string_view structure, backend where, std::uint64_t n,
                                        key_format value, const option_map& options = {});

/// What is known of values before an aggregate of them is built. What is not said is taken at its
/// worst, so that bytes are a bound then.
struct value_facts {
  key_format format = {};  ///< what they are
  bool missing = true;     ///< whether some may be missing, as `column::validity` tells
  bool finite = false;     ///< of floating values: whether none is infinite or NaN
};

/// Bytes that calls of an aggregate allocate for each of up to 2^23 probes at a time, beside the
/// arrays that they write to. Where an index is of rays or has row ids of 64 bits, what it takes
/// for `first` or `count`, the larger one, comes on top. `aggregate::count` takes what
/// `index::count` does.
struct aggregate_probe_bytes {
  std::uint64_t count_values = 0;  ///< `aggregate::count_values`
  std::uint64_t sum = 0;           ///< `aggregate::sum` and `aggregate::mean`
  std::uint64_t extreme = 0;       ///< `aggregate::minimum` and `aggregate::maximum`
  std::uint64_t first = 0;         ///< `aggregate::first`, of row ids as wide as the index's own
};

/// Bytes of an aggregate, beside its index.
struct aggregate_estimate {
  std::uint64_t resident_bytes = 0;      ///< as `aggregate_info` has them once it is built
  std::uint64_t build_peak_bytes = 0;    ///< likewise
  aggregate_probe_bytes per_probe = {};  ///< what its calls take
};

/// Says how many bytes an aggregate will take beside its index, as `estimate` does for the index.
///
/// @param where the backend, `cpu`, `cuda` or `optix`
/// @param keys what is known of the entries of the index; `n` and `row_ids` count, `n` up to 2^45
/// @param values what is known of the values, if there will be any
/// @param options which aggregates
///
/// The figures are those of `aggregate_info` to 1 % or 1 MB, where what they need is known.
/// Otherwise an aggregate takes them at most.
///
/// Cost: microseconds. Throws `invalid_argument` as `build_aggregate` does for values that are no
/// numbers.
RAYDEX_EXPORT aggregate_estimate estimate_aggregate(
    backend where, const column_facts& keys,
    const std::optional<value_facts>& values = std::nullopt, const aggregate_options& options = {});

}  // namespace raydex
