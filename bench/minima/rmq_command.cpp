// SPDX-License-Identifier: Apache-2.0
// The loop over workloads on minima, structures and results.
#include "bench/minima/rmq_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/minima/rmq_measure.hpp"
#include "bench/minima/rmq_report.hpp"
#include "bench/minima/rmq_sweep.hpp"
#include "bench/workloads/minima/rmq_generated.hpp"
#include "raydex/error.hpp"
#include "raydex/rmq.hpp"

namespace raydex::bench {
namespace {

std::string command_of(const rmq_row& row, const candidate& who, int repetitions) {
  std::string text =
      fmt::format("raydex bench --structure {} --backend {} --result {} {}", who.structure,
                  to_string(row.measured.info.where), to_string(row.asked), to_options(row.what));
  for (const auto& [name, value] : who.options)
    text += fmt::format(" --option {}={}", name, value);
  return text + fmt::format(" --repetitions {}", repetitions);
}

}  // namespace

void check_able(const std::vector<rmq_scene>& scenes, backend where) {
  const std::vector<rmq_capability> structures = rmq_capabilities();
  for (const rmq_scene& here : scenes) {
    for (const auto& [asked, who, wanted_by] : here.tasks) {
      const auto ties = who.options.find("ties");
      if (ties != who.options.end() && ties->second != "leftmost") {
        throw unsupported(fmt::format(
            "--option ties={}: positions are checked as the leftmost ones", ties->second));
      }
      for (const rmq_capability& able : structures) {
        if (able.structure != who.structure || able.where != where) continue;
        if (std::ranges::find(able.values, here.what.value.type) == able.values.end()) {
          throw unsupported(fmt::format("{} does not take values of {}; rmq_scan does",
                                        who.structure, to_string(here.what.value)));
        }
        if (here.what.changes != 0 && !able.updates) {
          throw unsupported(
              fmt::format("--changes: {} takes no changed values; rmq_cover and rmq_hierarchy do",
                          who.structure));
        }
      }
    }
  }
}

void measure_all(const std::vector<rmq_scene>& scenes, machine& where, floors& all_floors,
                 const device_info& device, int repetitions, recorder& record) {
  if (!scenes.empty()) record.print(rmq_table_head());
  for (const auto& [what, tasks] : scenes) {
    record.say(fmt::format("generating {}", describe(what)));
    const rmq_generated data(what, where);
    record.say(fmt::format("measuring the floors of {}", describe(what)));
    const lookup_floor floor = all_floors.minima(what.keys * what.value.width, what.probes);
    for (const auto& [asked, who, wanted_by] : tasks) {
      record.measuring(
          fmt::format("{} {}: {}", who.structure, to_text(who.options), describe(what)));
      rmq_row row{.measured = measure(where, data, asked, who.structure, who.options, repetitions),
                  .what = what,
                  .asked = asked,
                  .floor = floor,
                  .device = device,
                  .experiment = {},
                  .options = to_text(who.options),
                  .command = {}};
      row.command = command_of(row, who, repetitions);
      record.add(row, wanted_by);
    }
  }
}

}  // namespace raydex::bench
