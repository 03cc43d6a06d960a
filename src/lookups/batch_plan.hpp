// SPDX-License-Identifier: Apache-2.0
// A batch_schedule with every choice made.
#pragma once

#include <string>

#include "raydex/schedule.hpp"

namespace raydex {

struct batch_plan {
  scheduling blocks = scheduling::dynamic;
  unsigned threads = 512;
  unsigned lookups = 1;
  pinning pin = pinning::none;
  reordering reorder = reordering::none;
  grouping group = grouping::power;
  bool cooperative_scan = true;
};

// What was asked for, and for the rest the structure's best. Throws invalid_argument where a number
// is not legal.
batch_plan plan_of(const batch_schedule& asked, const batch_plan& best);

// The choices that were made, as ` name=value` each.
std::string describe(const batch_schedule& asked);

}  // namespace raydex
