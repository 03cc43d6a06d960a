// SPDX-License-Identifier: Apache-2.0
#include "src/operations/lookups/batch_plan.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"

namespace raydex {

void check_plain_schedule(const batch_schedule& asked, const char* structure) {
  if (asked.reorder.value_or(reordering::none) == reordering::none && !asked.group) return;
  throw unsupported(fmt::format(
      "options reorder, group: {} answers in the order of the batch, a thread a lookup; "
      "sorted_array takes them",
      structure));
}

batch_plan plan_of(const batch_schedule& asked, const batch_plan& best) {
  return {.schedule = asked.schedule.value_or(best.schedule),
          .threads = asked.threads.value_or(best.threads),
          .lookups = asked.lookups.value_or(best.lookups),
          .pin = asked.pin.value_or(best.pin),
          .reorder = asked.reorder.value_or(best.reorder),
          .group = asked.group.value_or(best.group),
          .scan = asked.scan.value_or(best.scan),
          .share_buckets = best.share_buckets,
          .asked = asked != batch_schedule{}};
}

}  // namespace raydex
