// SPDX-License-Identifier: Apache-2.0
#include "src/operations/lookups/batch_plan.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"

namespace raydex {

void check_plain_schedule(const batch_schedule& options, const char* structure) {
  if (options.reorder.value_or(reordering::none) == reordering::none && !options.group) return;
  throw unsupported(fmt::format(
      "options reorder, group: {} answers in the order of the batch, a thread a lookup; "
      "sorted_array takes them",
      structure));
}

batch_plan plan_of(const batch_schedule& options, const batch_plan& best) {
  return {.schedule = options.schedule.value_or(best.schedule),
          .threads = options.threads.value_or(best.threads),
          .lookups = options.lookups.value_or(best.lookups),
          .pin = options.pin.value_or(best.pin),
          .reorder = options.reorder.value_or(best.reorder),
          .group = options.group.value_or(best.group),
          .scan = options.scan.value_or(best.scan),
          .share_buckets = best.share_buckets,
          .asked = options != batch_schedule{}};
}

}  // namespace raydex
