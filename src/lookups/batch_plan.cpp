// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/batch_plan.hpp"

namespace raydex {

batch_plan plan_of(const batch_schedule& asked, const batch_plan& best) {
  return {.blocks = asked.blocks.value_or(best.blocks),
          .threads = asked.threads.value_or(best.threads),
          .lookups = asked.lookups.value_or(best.lookups),
          .pin = asked.pin.value_or(best.pin),
          .reorder = asked.reorder.value_or(best.reorder),
          .group = asked.group.value_or(best.group),
          .cooperative_scan = asked.cooperative_scan.value_or(best.cooperative_scan)};
}

}  // namespace raydex
