// SPDX-License-Identifier: Apache-2.0
#include "src/lookups/batch_plan.hpp"

#include <fmt/format.h>

#include <array>

#include "raydex/error.hpp"
#include "src/options/choice_name.hpp"

namespace raydex {

batch_plan plan_of(const batch_schedule& asked, const batch_plan& best) {
  const unsigned threads = asked.threads.value_or(best.threads);
  if (threads != 128 && threads != 256 && threads != 512 && threads != 1024) {
    throw invalid_argument(
        fmt::format("option threads: {} is not one of 128, 256, 512, 1024", threads));
  }
  const unsigned lookups = asked.lookups.value_or(best.lookups);
  if (lookups < 1 || lookups > 16) {
    throw invalid_argument(fmt::format("option lookups: {} is not from 1 to 16", lookups));
  }
  return {.blocks = asked.blocks.value_or(best.blocks),
          .threads = threads,
          .lookups = lookups,
          .pin = asked.pin.value_or(best.pin),
          .reorder = asked.reorder.value_or(best.reorder),
          .group = asked.group.value_or(best.group),
          .cooperative_scan = asked.cooperative_scan.value_or(best.cooperative_scan)};
}

std::string describe(const batch_schedule& asked) {
  std::string text;
  const auto add = [&](const char* name, const auto& choice, const auto& words) {
    if (choice) text += fmt::format(" {}={}", name, choice_name(name, *choice, words));
  };
  add("schedule", asked.blocks, std::array{"dynamic", "static"});
  if (asked.threads) text += fmt::format(" threads={}", *asked.threads);
  if (asked.lookups) text += fmt::format(" lookups={}", *asked.lookups);
  add("pin", asked.pin, std::array{"none", "steps", "full"});
  add("reorder", asked.reorder, std::array{"none", "single", "double"});
  add("group", asked.group, std::array{"exact", "power"});
  add("scan", asked.cooperative_scan, std::array{"single", "multi"});
  return text;
}

}  // namespace raydex
