// SPDX-License-Identifier: Apache-2.0
// Fills a backend's memory with a workload.
#include "lab/workloads/keys/generated.hpp"

#include <span>
#include <vector>

namespace raydex::bench {
namespace {

key_span allocate(buffer<std::byte>& memory, const context& on, std::uint64_t size, int bits) {
  memory = buffer<std::byte>(on, size * static_cast<std::uint64_t>(bits / 8));
  return {memory.data(), size, bits};
}

column part(const key_span& keys, std::uint64_t begin, std::uint64_t count) {
  column cells = keys.as_column();
  if (begin != 0) cells.data = static_cast<const std::byte*>(cells.data) + begin * cells.step();
  cells.size = count;
  return cells;
}

// Refuses what cannot be made before any work.
const workload& checked(const workload& spec) {
  check(spec);
  return spec;
}

}  // namespace

generated_keys::generated_keys(const workload& spec, machine& target) : set_(make_key_set(spec)) {
  const std::vector<key_part> parts = make_key_parts(spec);
  const context memory = target.on();
  parts_ = target.on().upload(std::span(parts));
  set_.parts = parts_.data();
  set_.part_count = parts.size();
  const std::uint64_t most = keys_after(spec, spec.waves);
  column_ = allocate(memory_, memory, most, spec.key_bits);
  if (spec.insert_order == order::sorted && spec.keys != 0) {
    positions_ = buffer<std::uint64_t>(memory, spec.keys);
    target.fill_positions(set_, spec.key_bits, positions_.data());
    set_.position = positions_.data();
  }
  target.fill_keys(spec.waves == 0 ? set_ : set_.resized(most), column_);
  column_.size = spec.keys;
  target.on().synchronize();
}

void generated_keys::hold(std::uint64_t keys) {
  set_ = set_.resized(keys);
  column_.size = keys;
}

generated::generated(const workload& spec, machine& target)
    : workload_(checked(spec)), keys_(spec, target) {
  const context memory = target.on();
  lower_ = allocate(lower_memory_, memory, spec.probes, spec.key_bits);
  upper_ = lower_;
  if (spec.range_hits != 0) {
    upper_ = allocate(upper_memory_, memory, spec.probes, spec.key_bits);
  }
  draw_probes(target);
}

void generated::draw_probes(machine& target) {
  workload held = workload_;
  held.keys = set().n;
  const zipf_table table = make_zipf_table(held);
  cumulative_ = target.on().upload(std::span(table.cumulative));
  first_rank_ = target.on().upload(std::span(table.first));
  draw_ = make_probe_set(held, set(), {cumulative_.data(), first_rank_.data(), cumulative_.size()});
  draw_lower(target, lower_);
  if (held.probe_order == order::sorted) target.sort(lower_);
  if (held.range_hits != 0) target.fill_upper(draw_, lower_, upper_.data);
  matches_ = target.count_matches(set(), lower_, upper_);
}

void generated::advance(machine& target, std::uint64_t wave) {
  keys_.hold(keys_after(workload_, wave));
  draw_probes(target);
}

column generated::rows(std::uint64_t begin, std::uint64_t count) const {
  return part(keys(), begin, count);
}

probes generated::batch(std::uint64_t begin, std::uint64_t count) const {
  const column lower = part(lower_, begin, count);
  return workload_.range_hits == 0 ? points(lower) : ranges(lower, part(upper_, begin, count));
}

}  // namespace raydex::bench
