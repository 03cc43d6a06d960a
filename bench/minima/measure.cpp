// SPDX-License-Identifier: Apache-2.0
// Builds, asks, times and checks structures for minima.
#include "bench/minima/measure.hpp"

#include <memory>

#include "bench/machine/median.hpp"
#include "files/wall_clock.hpp"

namespace raydex::bench {

rmq_measurement measure(machine& where, const rmq_generated& data, rmq_result asked,
                        const std::string& structure, const option_map& options, int repetitions) {
  const session& here = where.where();
  const rmq_workload& what = data.description();
  std::unique_ptr<rmq> built;
  rmq_measurement found;
  found.build_ms = median_of(repetitions, [&] {
    built.reset();
    return io::wall_milliseconds(
        here, [&] { built = build_rmq(structure, here.where(), here, data.array(), options); });
  });
  found.info = built->info();
  const probes ranges = data.ranges();
  if (what.changes != 0) {
    column changed = ranges.lower;
    changed.size = what.changes;
    found.refresh_ms = median_of(repetitions, [&] {
      return io::wall_milliseconds(here, [&] { built->refresh(context(here).stream, changed); });
    });
  }

  const std::uint64_t width = asked == rmq_result::argmin ? 8 : what.value.width;
  buffer<std::byte> answers(here, what.probes * width);
  where.poison(answers.data(), answers.bytes());
  found.lookup_ms = median_of(repetitions, [&] {
    return where.milliseconds([&] {
      if (asked == rmq_result::argmin) {
        built->position(here, ranges,
                        {reinterpret_cast<std::uint64_t*>(answers.data()), what.probes});
      } else {
        built->minimum(here, ranges, {what.value, answers.data(), what.probes});
      }
    });
  });
  found.repairs = built->repairs(context(here).stream);
  found.wrong = where.count_wrong(data.reference(), {.asked = asked,
                                                     .position_bits = what.position_bits,
                                                     .size = what.probes,
                                                     .ends = ranges.lower.data,
                                                     .answers = answers.data()});
  return found;
}

}  // namespace raydex::bench
