// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_rx`: minima found by rays that meet the triangles of the array's values.
#pragma once

#include <memory>
#include <optional>

#include "raydex/rmq.hpp"
#include "raydex/rx.hpp"

namespace raydex {

/// Options of `rmq_rx`; by name as `options_of` and `raydex structures rmq_rx` list them.
struct rmq_rx_options {
  rmq_ties ties = rmq_ties::leftmost;          ///< of equal values, whose position counts
  rmq_extreme extreme = rmq_extreme::minimum;  ///< which value of a range counts
  unsigned block = 1024;  ///< values, or minima of blocks, that one ray chooses from: a power of 2
                          ///< from 32 to 4096
  std::optional<bool> compact = {};  ///< as for `rx`
  rx_build build = rx_build::fast;   ///< as for `rx`
};

/// A triangle for each value and for the minimum of each block, of those minima again in blocks,
/// and so on (RTXRMQ, "Accelerating range minimum queries with ray tracing cores", with its block
/// matrix, as GPU-RMQ is compared to it in sections 3.2 and 5). Traced by OptiX on `optix` and by
/// Embree on `cpu`.
///
/// Exact for all values: where triangles are follows from which values are greater than which, not
/// from the values themselves, and all coordinates are floats without rounding. A hit beside the
/// range is not taken; the block is scanned then.
///
/// *Cost*: build: about 2 ln(block) reads a value on random arrays, on any array at most
/// 128 + block / 16; and what the engine does with the triangles. A range: at each of
/// log(n) / log(block) levels a ray for either end that is within a block; 3 rays up to block^2
/// values. *Memory*: large: about 112 bytes a value on `optix` without RT cores, and 130 on `cpu`;
/// on `optix` the build holds 36 bytes and the engine's scratch for each of up to 2^22 triangles
/// besides. Any number of values for which there is memory: triangles are divided into parts of
/// 2^22. *Stream*: the build synchronises only to compact; queries do not. `minimum` takes 8 bytes
/// of scratch a range, for up to 2^26 ranges. Throws `optix_error` if the driver fails.
RAYDEX_EXPORT std::unique_ptr<rmq> build_rmq_rx(backend where, const context& on,
                                                const column& values,
                                                const rmq_rx_options& options = {});

}  // namespace raydex
