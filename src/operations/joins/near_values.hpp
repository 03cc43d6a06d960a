// SPDX-License-Identifier: Apache-2.0
// Where the values near each probe lie in an order.
#pragma once

#include <cstdint>

#include "src/interface/dispatch.hpp"
#include "src/operations/joins/key_ranges.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/joins/value_order.hpp"

namespace raydex {

// Writes how many rows come before those of each probe's key that are near it, and before what
// follows these: the range may be reversed where there are none.
template <executor Executor>
void rank_near(const context& on, const value_order<Executor>& order, const core::key_numbers& keys,
               const column& probes, const key_reach& before, const key_reach& after,
               std::uint64_t* begin, std::uint64_t* end) {
  dispatch_key(probes.format, [&]<class Key>() {
    buffer<Key> lower(on, probes.size);
    buffer<Key> upper(on, probes.size);
    put_ranges<Executor>(on, probes, band_of<Key>(probes.format.type, before, after), lower, upper);
    // Codes are their own codes.
    order.rank(on, keys, column(lower, probes.validity), before.leaves_out_equal(), begin);
    order.rank(on, keys, column(upper, probes.validity), !after.leaves_out_equal(), end);
  });
}

}  // namespace raydex
