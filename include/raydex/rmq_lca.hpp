// SPDX-License-Identifier: Apache-2.0
/// @file
/// `rmq_lca`: lowest common ancestors in the array's Cartesian tree.
#pragma once

#include <memory>

#include "raydex/rmq.hpp"

namespace raydex {

/// Options of `rmq_lca`; by name as `options_of` and `raydex structures rmq_lca` list them.
struct rmq_lca_options {
  rmq_ties ties = rmq_ties::leftmost;          ///< of equal values, whose position counts
  rmq_extreme extreme = rmq_extreme::minimum;  ///< which value of a range counts
};

/// Lowest common ancestors in the Cartesian tree of the array, in constant time by the in-label
/// numbers of Schieber and Vishkin (On finding lowest common ancestors, 1988). The GPU-RMQ paper's
/// LCA (section 3.2) is the implementation by Polak, Siwiec and Stobierski (Euler meets GPU, 2021).
/// Nodes are numbered in order, not along an Euler tour, which makes the numbers the positions
/// themselves, and 12 bytes a value enough.
///
/// *Cost* of a range of any size, in any array: 2 random reads of a position's width, then 2 of a
/// value and its position; those of a short range are near each other. *Memory*: 12 bytes a value;
/// 20 for 64-bit values, 24 where also positions need 64 bits (beyond 2^32 - 2^23 values). The
/// build needs no more. It does O(n) reads for random arrays and O(n log n) for any, in 2 log2(n) +
/// 2 steps that are parallel each, and does not synchronise. There is no `refresh`: one changed
/// value may change the tree as a whole.
RAYDEX_EXPORT std::unique_ptr<rmq> build_rmq_lca(backend where, const context& on,
                                                 const column& values,
                                                 const rmq_lca_options& options = {});

}  // namespace raydex
