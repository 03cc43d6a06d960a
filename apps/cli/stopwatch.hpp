// SPDX-License-Identifier: Apache-2.0
// Time that work of a session takes.
#pragma once

#include <chrono>
#include <utility>

#include "raydex/session.hpp"

namespace raydex::cli {

// Milliseconds that `work` takes, with all that it queues on the session's stream.
template <class Work>
double milliseconds(const session& where, Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  std::forward<Work>(work)();
  where.synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace raydex::cli
