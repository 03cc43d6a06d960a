// SPDX-License-Identifier: Apache-2.0
/// @file
/// The clock for what allocates or synchronises, such as builds.
#pragma once

#include <chrono>

#include "raydex/session.hpp"

namespace raydex::bench {

/// Milliseconds that `work` takes until the device is idle.
template <class Work>
double wall_milliseconds(const session& here, const Work& work) {
  here.synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  here.synchronize();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace raydex::bench
