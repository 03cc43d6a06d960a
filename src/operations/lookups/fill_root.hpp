// SPDX-License-Identifier: Apache-2.0
// How the roots of trees are written.
#pragma once

#include "raydex/memory.hpp"

namespace raydex {

// Writes the pivots and the table of a root, whose scale is written.
template <class Executor, class Fill>
void fill_root(const context& on, const Fill& fill) {
  if constexpr (Executor::hides_latency_by_threads) {
    Executor::for_each(on, fill, fill.items());
  } else {
    Executor::for_each(on, fill, fill.pivots);
    fill.write_table();
  }
}

}  // namespace raydex
