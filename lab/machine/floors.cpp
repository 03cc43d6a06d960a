// SPDX-License-Identifier: Apache-2.0
// Floors out of a machine's raw operations.
#include "lab/machine/floors.hpp"

#include <algorithm>

#include "lab/machine/median.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {
namespace {

std::uint64_t key_bytes(const workload& spec) {
  return static_cast<std::uint64_t>(spec.key_bits / 8);
}

row_id_type row_ids_of(const workload& spec) {
  return spec.keys < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
}

double per_second(std::uint64_t items, double ms) {
  return static_cast<double>(items) / ms * 1e3;
}

// Bytes of row ids that are read and written for all probes together, apart from the gather. Equal
// keys may stand in the order of their rows, so that the first of them is the answer.
std::uint64_t moved_bytes(const workload& spec, std::uint64_t matches, result kind) {
  const std::uint64_t row_bytes = row_ids_of(spec) == row_id_type::uint32 ? 4 : 8;
  const bool reads_all =
      kind == result::sum || has_lists(kind) || (kind == result::first && spec.range_hits != 0);
  const std::uint64_t read = reads_all && matches > spec.probes ? row_bytes : 0;
  if (kind == result::pairs) return matches * (2 * row_bytes + read);
  return matches * (kind == result::rows ? 2 * read : read);
}

}  // namespace

double join_floor_ms(const reference_times& references, const lookup_floor& of_probes,
                     std::uint64_t probes) {
  return references.sort_ms +
         (probes == 0 ? 0 : static_cast<double>(probes) / of_probes.per_s * 1e3);
}

double floors::copy_bytes_per_s() {
  if (copy_bytes_per_s_ == 0) {
    // Beyond all caches, yet no burden on a small machine.
    const bool host = machine_->on().where() == backend::cpu;
    const std::uint64_t bytes =
        std::clamp<std::uint64_t>(machine_->on().device().free_bytes / 8, std::uint64_t{1} << 20,
                                  std::uint64_t{1} << (host ? 28 : 30));
    const buffer<std::byte> from(machine_->on(), bytes);
    buffer<std::byte> to(machine_->on(), bytes);
    const double ms = median_of(repetitions_, [&] {
      return machine_->milliseconds([&] { machine_->copy(to.data(), from.data(), bytes); });
    });
    copy_bytes_per_s_ = per_second(2 * bytes, ms);
  }
  return copy_bytes_per_s_;
}

double floors::gather_per_s(std::uint64_t table_bytes, std::uint64_t probes, bool sorted) {
  const std::uint64_t slots = std::max<std::uint64_t>(table_bytes / 8, 1);
  const std::uint64_t size = (probes + 3) / 4 * 4;
  if (size == 0) return 0;
  double& known = gathers_[{slots, probes, sorted}];
  if (known == 0) {
    const context on = machine_->on();
    buffer<std::uint64_t> table(on, slots);
    buffer<std::uint32_t> positions(on, size);
    buffer<std::uint32_t> out(on, size);
    machine_->poison(table.data(), table.bytes());
    machine_->fill_random(1, positions.data(), size);
    if (sorted) machine_->sort({positions.data(), size, 32});
    const double ms = median_call_of(repetitions_, [&] {
      return machine_->milliseconds(
          [&] { machine_->gather(table.data(), slots, positions.data(), out.data(), size); });
    });
    known = per_second(probes, ms);
  }
  return known;
}

lookup_floor floors::lookups(const workload& spec, std::uint64_t matches, result kind) {
  const bool ordered = spec.probe_order == order::sorted;
  const std::uint64_t row_bytes = row_ids_of(spec) == row_id_type::uint32 ? 4 : 8;

  lookup_floor found;
  found.name = ordered ? "streamed gather, sorted" : "streamed gather";
  found.copy_bytes_per_s = copy_bytes_per_s();
  found.per_s = gather_per_s(spec.keys * (key_bytes(spec) + row_bytes), spec.probes, ordered);

  const std::uint64_t moved = moved_bytes(spec, matches, kind);
  if (moved != 0 && found.per_s != 0) {
    const double moved_each = static_cast<double>(moved) / static_cast<double>(spec.probes);
    found.name += " and copy";
    found.per_s = 1 / (1 / found.per_s + moved_each / found.copy_bytes_per_s);
  }
  return found;
}

minima_references floors::minima(std::uint64_t array_bytes, std::uint64_t ranges) {
  return {.copy_bytes_per_s = copy_bytes_per_s(),
          .gather_per_s = gather_per_s(array_bytes, ranges, false)};
}

reference_times floors::references(const generated& data) {
  const workload& spec = data.description();
  reference_times found;
  found.sort_ms = machine_->sort_pairs_ms(data.keys(), row_ids_of(spec), repetitions_);
  if (spec.probe_order == order::sorted) {
    buffer<std::byte> memory(machine_->on(), spec.probes * key_bytes(spec));
    const key_span unsorted{memory.data(), spec.probes, spec.key_bits};
    data.draw_lower(*machine_, unsorted);
    found.sort_probes_ms = machine_->sort_pairs_ms(unsorted, row_id_type::uint32, repetitions_);
  }
  if (spec.range_hits == 0) {
    found.lower_bound_ms = machine_->lower_bound_ms(data.keys(), data.lower(), repetitions_);
  }
  return found;
}

}  // namespace raydex::bench
