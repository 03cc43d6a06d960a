// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups: threads that do one thing together. A group has
/// - `lane()`, the number of this thread, and `lanes()`, how many there are;
/// - `sync()`, after which all of it see what any of it wrote;
/// - `count_before(flag, total)`: how many threads before this one have the flag, and in all.
///
/// A backend brings groups of its own; all threads of a group call these together.
#pragma once

#include "raydex/core/config.hpp"

namespace raydex::core {

/// A group of one.
struct group_of_one {
  /// The only thread.
  RAYDEX_HD static unsigned lane() { return 0; }
  /// One.
  RAYDEX_HD static unsigned lanes() { return 1; }
  /// It sees what it wrote.
  RAYDEX_HD static void sync() {}
  /// None is before it.
  RAYDEX_HD static unsigned count_before(bool flag, unsigned& total) {
    total = flag ? 1 : 0;
    return 0;
  }
};

}  // namespace raydex::core
