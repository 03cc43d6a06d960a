// SPDX-License-Identifier: Apache-2.0
// Builds, asks, times and checks structures for minima.
#include "lab/minima/measure.hpp"

#include <memory>

#include "io/wall_clock.hpp"
#include "lab/machine/median.hpp"
#include "raydex/repairs.hpp"

namespace raydex::bench {

rmq_measurement measure(machine& target, const rmq_generated& data, rmq_result kind,
                        const std::string& structure, const option_map& options, int repetitions) {
  const session& on = target.on();
  const rmq_workload& spec = data.description();
  std::unique_ptr<rmq> built;
  rmq_measurement found;
  found.build_ms = median_of(repetitions, [&] {
    built.reset();
    return io::wall_milliseconds(
        on, [&] { built = build_rmq(structure, on.where(), on, data.array(), options); });
  });
  found.info = built->info();
  const probes ranges = data.ranges();
  if (spec.changes != 0) {
    column changed = ranges.lower;
    changed.size = spec.changes;
    found.refresh_ms = median_of(repetitions, [&] {
      return io::wall_milliseconds(on, [&] { built->refresh(context(on).stream, changed); });
    });
  }

  const std::uint64_t width = kind == rmq_result::argmin ? 8 : spec.value.width;
  buffer<std::byte> answers(on, spec.probes * width);
  target.poison(answers.data(), answers.bytes());
  found.lookup_ms = median_of(repetitions, [&] {
    return target.milliseconds([&] {
      if (kind == rmq_result::argmin) {
        built->position(on, ranges,
                        {reinterpret_cast<std::uint64_t*>(answers.data()), spec.probes});
      } else {
        built->minimum(on, ranges, {spec.value, answers.data(), spec.probes});
      }
    });
  });
  found.repairs = repairs(*built, context(on).stream);
  found.wrong = target.count_wrong(data.reference(), {.kind = kind,
                                                      .position_bits = spec.position_bits,
                                                      .size = spec.probes,
                                                      .ends = ranges.lower.data,
                                                      .answers = answers.data()});
  return found;
}

}  // namespace raydex::bench
