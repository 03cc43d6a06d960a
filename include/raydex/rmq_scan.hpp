// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_scan`: reads all values of a range.
#pragma once

#include <memory>

#include "raydex/rmq.hpp"

namespace raydex {

/// Options of `rmq_scan`; by name as `options_of` and `raydex structures rmq_scan` list them.
struct rmq_scan_options {
  rmq_ties ties = rmq_ties::leftmost;          ///< of equal values, whose position counts
  rmq_extreme extreme = rmq_extreme::minimum;  ///< which value of a range counts
};

/// A full scan: a thread reads all values of a range (GPU-RMQ paper, section 5.2). What the others
/// are measured against, and the fastest where ranges are a few values long.
///
/// *Cost* of a range of m values: m / 4 reads of 16 bytes (m / 2 for 64-bit values). *Memory*: none
/// beside the array. The build does nothing and does not synchronise; `refresh` has nothing to do.
RAYDEX_EXPORT std::unique_ptr<rmq> build_rmq_scan(backend where, const context& on,
                                                  const column& values,
                                                  const rmq_scan_options& options = {});

}  // namespace raydex
