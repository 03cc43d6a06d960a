// SPDX-License-Identifier: Apache-2.0
#include "batch_plan.hpp"

#include <fmt/format.h>

#include <array>

#include "raydex/error.hpp"

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
  const auto word = [&](const char* name, const auto& choice, const auto& words) {
    if (choice) text += fmt::format(" {}={}", name, words[static_cast<std::size_t>(*choice)]);
  };
  using names = std::array<const char*, 3>;
  word("schedule", asked.blocks, names{"dynamic", "static"});
  if (asked.threads) text += fmt::format(" threads={}", *asked.threads);
  if (asked.lookups) text += fmt::format(" lookups={}", *asked.lookups);
  word("pin", asked.pin, names{"none", "steps", "full"});
  word("reorder", asked.reorder, names{"none", "single", "double"});
  word("group", asked.group, names{"exact", "power"});
  word("scan", asked.cooperative_scan, names{"single", "multi"});
  return text;
}

}  // namespace raydex
