// SPDX-License-Identifier: Apache-2.0
// Builds, asks, times and checks structures for minima.
#include "lab/minima/measure.hpp"

#include <memory>

#include "files/wall_clock.hpp"
#include "lab/machine/median.hpp"
#include "raydex/repairs.hpp"

namespace raydex::bench {

rmq_measurement measure(machine& here, const rmq_generated& data, rmq_result asked,
                        const std::string& structure, const option_map& options, int repetitions) {
  const session& on = here.on();
  const rmq_workload& what = data.description();
  std::unique_ptr<rmq> built;
  rmq_measurement found;
  found.build_ms = median_of(repetitions, [&] {
    built.reset();
    return io::wall_milliseconds(
        on, [&] { built = build_rmq(structure, on.where(), on, data.array(), options); });
  });
  found.info = built->info();
  const probes ranges = data.ranges();
  if (what.changes != 0) {
    column changed = ranges.lower;
    changed.size = what.changes;
    found.refresh_ms = median_of(repetitions, [&] {
      return io::wall_milliseconds(on, [&] { built->refresh(context(on).stream, changed); });
    });
  }

  const std::uint64_t width = asked == rmq_result::argmin ? 8 : what.value.width;
  buffer<std::byte> answers(on, what.probes * width);
  here.poison(answers.data(), answers.bytes());
  found.lookup_ms = median_of(repetitions, [&] {
    return here.milliseconds([&] {
      if (asked == rmq_result::argmin) {
        built->position(on, ranges,
                        {reinterpret_cast<std::uint64_t*>(answers.data()), what.probes});
      } else {
        built->minimum(on, ranges, {what.value, answers.data(), what.probes});
      }
    });
  });
  found.repairs = repairs(*built, context(on).stream);
  found.wrong = here.count_wrong(data.reference(), {.asked = asked,
                                                    .position_bits = what.position_bits,
                                                    .size = what.probes,
                                                    .ends = ranges.lower.data,
                                                    .answers = answers.data()});
  return found;
}

}  // namespace raydex::bench
