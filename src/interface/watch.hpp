// SPDX-License-Identifier: Apache-2.0
// What looks whether a call is to stop, see `interruptible`. Without one of the thread, a look is a
// read of a variable.
#pragma once

#include <cstdint>

#include "raydex/export.hpp"

namespace raydex {

class interruptible;

class watch {
 public:
  // Whom this thread's calls ask; null: nobody.
  RAYDEX_INTERNAL static interruptible* of_this_thread() noexcept;
  // Whether a call is to stop; asks if it is time to.
  RAYDEX_INTERNAL static bool is_to_stop(interruptible& work);
  // Throws `interrupted` if this thread's call is to stop.
  static void look() {
    interruptible* const work = of_this_thread();
    if (work != nullptr && is_to_stop(*work)) stop();
  }
  [[noreturn]] RAYDEX_INTERNAL static void stop();
  // Tells what comes now.
  RAYDEX_INTERNAL static void tell(const char* stage, std::uint64_t step, std::uint64_t steps);
};

// As long as it lives, this thread's calls ask nobody: for changes that have no way back.
class unwatched {
 public:
  RAYDEX_INTERNAL unwatched() noexcept;
  RAYDEX_INTERNAL ~unwatched();
  unwatched(const unwatched&) = delete;
  unwatched& operator=(const unwatched&) = delete;

 private:
  interruptible* watched_;
};

}  // namespace raydex
