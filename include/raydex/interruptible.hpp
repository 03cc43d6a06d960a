// SPDX-License-Identifier: Apache-2.0
/// @file
/// Long calls that can be ended, and that tell how far they are.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "raydex/error.hpp"
#include "raydex/export.hpp"

namespace raydex {

/// A call was ended since an `interruptible` said so.
class RAYDEX_EXPORT interrupted : public error {
 public:
  /// Of whichever call.
  interrupted();
  ~interrupted() override;
};

/// How far a call is.
struct progress {
  const char* stage = "";   ///< what it does now; empty where that has no name
  std::uint64_t step = 0;   ///< the step of the stage, from 1
  std::uint64_t steps = 0;  ///< how many steps the stage has; 0: not known
};

/// As long as it lives, builds and queries of its thread ask now and then whether they are to stop;
/// then they throw `interrupted`, and leave everything as it was but their outputs. Edits and
/// refreshes do not ask: half done they would be of no use.
///
/// They ask in its thread, `pause` after it was made or asked last, or a little later: on `cpu`
/// 100 ms or so, more where some probes match so many rows that they take that long, and before
/// Embree builds a tree, since it touches its memory in one go: 30 to 80 ns a key of `rx` on two
/// cores. On `cuda` and `optix` they ask when they launch the next kernel, and waiting for what is
/// queued is not ended. A thread may have one within another; then the inner one counts.
class RAYDEX_EXPORT interruptible {
 public:
  /// `stop`: whether to stop; must not throw. It is not called again once it has said so.
  explicit interruptible(std::function<bool(const progress&)> stop,
                         std::chrono::milliseconds pause = std::chrono::milliseconds(50));
  ~interruptible();
  interruptible(const interruptible&) = delete;
  interruptible& operator=(const interruptible&) = delete;

 private:
  friend class watch;
  std::function<bool(const progress&)> stop_;
  std::chrono::milliseconds pause_;
  std::chrono::steady_clock::time_point next_;
  progress at_;
  bool stopped_ = false;
  interruptible* outer_;
};

}  // namespace raydex
