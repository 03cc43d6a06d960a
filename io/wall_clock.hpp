// SPDX-License-Identifier: Apache-2.0
/// @file
/// The time that work of a session takes, as on a clock on the wall.
#pragma once

#include <chrono>

#include "raydex/session.hpp"

namespace raydex::io {

/// Milliseconds that `work` takes, with all that it queues, until the device is idle.
template <class Work>
double wall_milliseconds(const session& on, const Work& work) {
  on.synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  on.synchronize();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(end - start).count();
}

}  // namespace raydex::io
