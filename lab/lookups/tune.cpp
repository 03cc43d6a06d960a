// SPDX-License-Identifier: Apache-2.0
// The measurements that `advise` decides by.
#include "lab/lookups/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/lookups/measure.hpp"
#include "lab/machine/machine.hpp"
#include "lab/workloads/keys/generated.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

using steady_clock = std::chrono::steady_clock;

// A structure with its options.
struct contender {
  capability able;
  option_map options;
};

// The structures that the built-in table compares on a backend, as they are by default, with the
// table's options, and with each option worth a try. Those that it leaves out are never the fastest
// and may take minutes.
std::vector<contender> find_contenders(backend where) {
  std::vector<contender> all;
  const auto& rivals = speed_table::built_in().rows();
  for (const capability& able : capabilities()) {
    if (able.where != where) continue;
    const auto is_of = [&](const measured_speed& row) {
      return row.where == where && row.structure == able.structure;
    };
    if (std::ranges::none_of(rivals, is_of)) continue;
    std::vector<option_map> choices{{}};
    const auto add = [&](const option_map& options) {
      if (std::ranges::find(choices, options) == choices.end()) choices.push_back(options);
    };
    for (const measured_speed& row : rivals) {
      if (is_of(row)) add(row.options);
    }
    for (const option_info& option : options_of(able.structure)) {
      if (!option.worth_trying.empty()) add({{option.name, option.worth_trying}});
    }
    for (option_map& options : choices)
      all.push_back({able, std::move(options)});
  }
  return all;
}

bool can_answer(const contender& one, const workload& spec) {
  const key_type key = spec.key_bits == 32 ? key_type::uint32 : key_type::uint64;
  return (spec.range_hits == 0 ? one.able.points : one.able.ranges) &&
         std::ranges::find(one.able.keys, key) != one.able.keys.end();
}

// What is asked at each size, with a share of the probes such that all take similarly long.
struct kind {
  int key_bits;
  std::uint64_t range_hits;
  order probe_order;
  std::uint64_t share;
};

constexpr std::array kinds{
    kind{32, 0, order::unsorted, 1},  kind{32, 0, order::sorted, 1},
    kind{32, 16, order::unsorted, 4}, kind{32, 1024, order::unsorted, 64},
    kind{64, 0, order::unsorted, 1},  kind{64, 0, order::sorted, 1},
    kind{64, 16, order::unsorted, 4}, kind{64, 1024, order::unsorted, 64},
};

// How much is measured.
struct extent {
  std::vector<int> log2_sizes;  // ascending
  std::uint64_t probes;
  int repetitions;
  double seconds;  // no workload is begun that would end later
};

extent extent_of(backend where, bool quick) {
  const bool cpu = where == backend::cpu;
  const std::uint64_t many = std::uint64_t{1} << (cpu ? 20 : 24);
  if (quick) return {{16, 20}, many / 4, 1, 10};
  if (cpu) return {{12, 16, 20, 22, 24, 26}, many, 3, 100};
  return {{16, 20, 22, 24, 26, 28}, many, 3, 100};
}

workload workload_of(const kind& one, int log2_size, std::uint64_t probes) {
  workload spec;
  spec.keys = std::uint64_t{1} << log2_size;
  spec.probes = probes / one.share;
  spec.key_bits = one.key_bits;
  spec.uniformity = one.range_hits == 0 ? 100 : 0;
  spec.probe_order = one.probe_order;
  spec.range_hits = one.range_hits;
  return spec;
}

// The column, probes with answers, and the widest of builds: entries, their copy, and scratch.
std::uint64_t bytes_of(const workload& spec) {
  const auto key_bytes = static_cast<std::uint64_t>(spec.key_bits / 8);
  return spec.keys * (key_bytes + 4 * (key_bytes + 4)) + spec.probes * (2 * key_bytes + 8);
}

std::string name(const contender& one) {
  return fmt::format("{}{}{}", one.able.structure, one.options.empty() ? "" : " ",
                     to_text(one.options));
}

measured_speed measure_one(machine& target, const generated& data, const contender& one,
                           const std::string& device, int repetitions) {
  const workload& spec = data.description();
  const measurement found =
      measure(target, data, spec.range_hits == 0 ? result::first : result::sum, one.able.structure,
              one.options, repetitions);
  if (found.wrong != 0) {
    throw error(fmt::format("tune: {} answers of {} were wrong: {}", found.wrong,
                            one.able.structure, describe(spec)));
  }
  // A clock may be too coarse for the fastest of them.
  const double seconds = std::max(found.lookup_ms, 1e-6) / 1e3;
  return {.structure = one.able.structure,
          .options = one.options,
          .where = one.able.where,
          .device = device,
          .key_bits = spec.key_bits,
          .n = spec.keys,
          .range_hits = spec.range_hits,
          .sorted_probes = spec.probe_order == order::sorted,
          .lookups_per_s = static_cast<double>(spec.probes) / seconds,
          .bytes_per_key =
              static_cast<double>(found.info.resident_bytes) / static_cast<double>(spec.keys)};
}

// All who can answer a workload, those that take dense keys alone on such; `step` is what is under
// way.
std::vector<measured_speed> measure_all(machine& target, const workload& spec,
                                        const std::vector<contender>& contenders,
                                        const std::string& device, int repetitions,
                                        std::string& step) try {
  std::vector<measured_speed> measured;
  for (const bool sparse : {true, false}) {
    workload varied = spec;
    if (!sparse) varied.uniformity = 0;
    std::vector<contender> able;
    std::ranges::copy_if(contenders, std::back_inserter(able), [&](const contender& one) {
      return one.able.sparse == sparse && can_answer(one, varied);
    });
    if (able.empty()) continue;
    step = "its data";
    const generated data(varied, target);
    for (const contender& one : able) {
      step = name(one);
      measured.push_back(measure_one(target, data, one, device, repetitions));
    }
  }
  return measured;
} catch (...) {
  rethrow_as_error();
}

}  // namespace

tuning tune(const session& on, bool quick, const std::function<void(std::uint64_t)>& advance) {
  const std::vector<contender> contenders = find_contenders(on.where());
  const extent all = extent_of(on.where(), quick);
  const device_info device = on.device();
  const std::unique_ptr<machine> target = make_machine(on);
  const steady_clock::time_point begin = steady_clock::now();
  const auto seconds_since = [](steady_clock::time_point then) {
    return std::chrono::duration<double>(steady_clock::now() - then).count();
  };
  const std::uint64_t steps = all.log2_sizes.size() * kinds.size();

  tuning found;
  // What each kind took per row the last time: at least that, times the rows, it takes again.
  std::array<double, kinds.size()> seconds_per_row{};
  for (const int log2_size : all.log2_sizes) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const workload spec = workload_of(kinds.at(i), log2_size, all.probes);
      const auto rows = static_cast<double>(spec.keys);
      advance(steps);
      if (bytes_of(spec) > device.total_bytes / 4 ||
          seconds_since(begin) + seconds_per_row.at(i) * rows > all.seconds) {
        ++found.left_out;
        continue;
      }
      const steady_clock::time_point then = steady_clock::now();
      std::string step;
      try {
        for (measured_speed& row :
             measure_all(*target, spec, contenders, device.name, all.repetitions, step))
          found.table.add(std::move(row));
      } catch (const out_of_memory& e) {
        found.shortages.push_back(fmt::format("{}: {}: {}", describe(spec), step, e.what()));
        continue;
      }
      seconds_per_row.at(i) = seconds_since(then) / rows;
    }
  }
  return found;
}

}  // namespace raydex::bench
