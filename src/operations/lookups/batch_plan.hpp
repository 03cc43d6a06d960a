// SPDX-License-Identifier: Apache-2.0
// A batch_schedule with every choice made.
#pragma once

#include "raydex/schedule.hpp"
#include "src/interface/internal.hpp"

namespace raydex {

struct batch_plan {
  scheduling schedule = scheduling::dynamic;
  unsigned threads = 512;
  unsigned lookups = 1;
  pinning pin = pinning::none;
  reordering reorder = reordering::none;
  grouping group = grouping::power;
  scanning scan = scanning::multi;
  bool share_buckets = true;  // whether neighbouring threads read buckets together
  bool asked = false;  // whether any of it was: then nothing is done otherwise, however few probes
};

// Refuses what only blocks that sort their probes, or groups of threads, can do.
void check_plain_schedule(const batch_schedule& options, const char* structure);

// What was asked for, and for the rest the structure's best.
RAYDEX_INTERNAL batch_plan plan_of(const batch_schedule& options, const batch_plan& best);

}  // namespace raydex
