// SPDX-License-Identifier: Apache-2.0
// A batch_schedule with every choice made.
#pragma once

#include <string>

#include "raydex/error.hpp"
#include "raydex/options.hpp"

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
  bool chosen = false;  // whether the caller chose any: then all is done so, however few probes
};

// Refuses what only blocks that sort their probes, or groups of threads, can do.
inline void check_plain_schedule(const batch_schedule& options, const char* structure) {
  if (options.reorder.value_or(reordering::none) == reordering::none && !options.group) return;
  throw unsupported("options reorder, group: " + std::string(structure) +
                    " answers in the order of the batch, a thread a lookup; sorted_array takes "
                    "them");
}

// The caller's choices, and for the rest the structure's best.
inline batch_plan plan_of(const batch_schedule& options, const batch_plan& best) {
  return {.schedule = options.schedule.value_or(best.schedule),
          .threads = options.threads.value_or(best.threads),
          .lookups = options.lookups.value_or(best.lookups),
          .pin = options.pin.value_or(best.pin),
          .reorder = options.reorder.value_or(best.reorder),
          .group = options.group.value_or(best.group),
          .scan = options.scan.value_or(best.scan),
          .share_buckets = best.share_buckets,
          .chosen = options != batch_schedule{}};
}

}  // namespace raydex
